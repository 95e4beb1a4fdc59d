"""How often the validator is wrong where the true ends are known; the benchmark has more."""

import re
from collections.abc import Iterator

from ragtrace.boundary import Issue, validate
from ragtrace.chunking import Chunk

SENTENCES = (
    "Dr. Amsel runs the water works of Lindau.",
    "The oldest pump (built in 1931) still turns, e.g. during the spring floods.",
    "“Nobody dares to switch it off,” she says.",
    "Is that wise?",
    "It costs 3.5 times as much as a new one, according to the audit of Sept. 2019!",
    "See https://works.example/pumps?id=4.2 for the figures.",
    "The file pump.config.yaml sets its speed, and v2.4.1 of the driver reads it.",
    "Two engineers, one fitter and a night watchman look after the machine house.",
    "They met at 7 a.m. on Monday.",
    "“It will outlive us all!”",
    "Marin et al. [2004] agree (see Fig. 3, pp. 44–61).",
    "The valve [no. 12] leaks...",
    "Its seal was changed twice; the third time nobody had the part.",
    "Rust is the enemy, says the manual.",
    "水泵停了。",
    "没有人知道为什么。",
    "The town council will vote on a new pump before the summer.",
)
BLOCKS = (
    "# The water works\n\nA short tour.",
    "- open the main valve\n- wait for the green lamp, then\n  close the bypass\n- note the time",
    "| pump | year | litres |\n|---|---|---|\n| A | 1931 | 1,200 |\n| B | 1987 | 900 |",
    "```python\nfor pump in pumps:\n    if pump.old:\n        pump.stop(1)\n\nprint('done')\n```",
    "1. Read the meter.\n2. Write the figure down.\n3. Sign the sheet.",
    "> Nobody dares to switch it off.\n> Nobody at all.",
    "[manual]: https://works.example/manual",
)
REPEAT = 6


def assemble() -> tuple[str, list[int], list[tuple[str, int, int]]]:
    """Return a document, its true ends, and the spans inside which a cut is wrong."""
    text = ""
    ends: list[int] = []
    spans: list[tuple[str, int, int]] = []
    for turn in range(REPEAT):
        order = SENTENCES[turn:] + SENTENCES[:turn]
        for number, sentence in enumerate(order):
            spans.append(("sentence", len(text), len(text) + len(sentence)))
            text += sentence
            ends.append(len(text))
            wrapped = "\n" if number % 5 == 2 else " "
            text += "\n\n" if number % 4 == 3 else wrapped
        text = text.rstrip() + "\n\n"
        for block in BLOCKS[turn % 2 :]:
            kind = {"-": "list", "|": "table", "`": "fence", "1": "list"}.get(block[0], "")
            if kind:
                spans.append((kind, len(text), len(text) + len(block)))
            text += block
            ends.append(len(text))
            text += "\n\n"
    return text, ends[:-1], spans


TEXT, ENDS, SPANS = assemble()


def chunks_at(*cuts: int) -> list[Chunk]:
    chunks: list[Chunk] = []
    for start, end in zip((0, *cuts), (*cuts, len(TEXT)), strict=True):
        body = TEXT[start:end].strip()
        at = start + TEXT[start:end].index(body)
        chunks.append(Chunk("works", len(chunks), at, at + len(body), body))
    return chunks


def structural(issues: tuple[Issue, ...]) -> list[Issue]:
    return [issue for issue in issues if issue.kind not in ("duplicate", "fragment")]


def planted() -> Iterator[tuple[str, int]]:
    """Yield every cut inside a span that no true end looks like: at words and in their middle."""
    for kind, start, end in SPANS:
        for match in re.finditer(r"(?<=[\w,|:])\s(?=[\w(|])|(?<=\w\w)(?=\w\w)", TEXT[start:end]):
            yield kind, start + match.start()


def share_found(*, with_document: bool) -> float:
    cuts = list(planted())[::7]
    assert len(cuts) > 300
    found = 0
    for _, cut in cuts:
        first, second = chunks_at(cut)
        documents = {"works": TEXT} if with_document else None
        issues = structural(validate([first, second], documents=documents).issues)
        found += bool(issues)
    return found / len(cuts)


def test_true_ends_raise_at_most_one_false_alarm_in_a_hundred_chunks() -> None:
    chunks = chunks_at(*ENDS)
    assert len(chunks) > 140
    for documents in ({"works": TEXT}, None):
        report = validate(chunks, documents=documents)
        assert report.issue_rate <= 0.01, structural(report.issues)


def test_planted_cuts_are_found_with_the_document() -> None:
    assert share_found(with_document=True) >= 0.99


def test_planted_cuts_are_found_without_the_document() -> None:
    assert share_found(with_document=False) >= 0.95
