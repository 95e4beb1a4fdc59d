"""How often the validator is wrong: false alarms at true ends, planted cuts that it misses.

Run `python -m benchmarks.boundary [--examples N]`. Three parts.

False alarms: chunks cut at the ends of gold sentences (EWT) and at the ends of the blocks that
markdown-it-py, an independent parser, finds in Markdown documents; every chunk with a structural
issue is a false alarm. Ends that the text itself marks (a stop, a line break) are also shown alone:
a tenth of EWT's ends were line breaks that its makers took out, and no reader could tell them.

Planted cuts: one cut a document, at a random place inside a sentence, fence, table, list or pair of
brackets; found when a chunk on either side of the cut is reported. Sentences are cut at a random
character and, harder, at a random space.

Speed: one pass over chunks of 2,000 characters without documents; memory for up to a million.
"""

import argparse
import gc
import json
import random
import re
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from benchmarks.corpora import DATA, load_markdown_docs, load_prose, read
from ragtrace.boundary import BoundaryReport, validate
from ragtrace.chunking import Chunk

SEED = 7
CHUNK = 2000  # characters
REACH = 3000  # characters around a planted cut that are given where the document is not
KNOWN = ("document", "offsets", "texts")


class Planted(NamedTuple):
    """A document cut in two where it should not be, and the first place at which it may start."""

    doc_id: str
    text: str
    cut: int


class Block(NamedTuple):
    """A block that the independent parser found."""

    kind: str
    start: int
    end: int


def chunks_of(doc_id: str, text: str, cuts: list[int]) -> list[Chunk]:
    """Cut a text at these places; white space around a chunk is left out, as splitters do."""
    chunks: list[Chunk] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        piece = text[start:end]
        body = piece.strip()
        if body:
            at = start + len(piece) - len(piece.lstrip())
            chunks.append(Chunk(doc_id, len(chunks), at, at + len(body), body))
    return chunks


def texts_of(chunks: list[Chunk]) -> list[dict[str, object]]:
    """Return the chunks as a store without offsets has them."""
    return [{"text": c.text, "chunk_id": c.chunk_id, "chunk_index": c.index} for c in chunks]


def load_ewt() -> list[tuple[str, str, list[tuple[int, int]]]]:
    lines = read(DATA / "ud_english_ewt" / "sentences.jsonl").splitlines()
    items = [json.loads(line) for line in lines]
    return [
        (f"ewt-{number}", item["text"], [(start, end) for start, end in item["sentences"]])
        for number, item in enumerate(items)
    ]


def markdown_blocks(text: str) -> list[Block]:
    """Return the top-level blocks that markdown-it-py finds, as spans of whole lines."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    blocks = []
    for token in parser.parse(text):
        if token.level == 0 and token.map and token.nesting >= 0:
            first, last = token.map
            blocks.append(Block(token.type.removesuffix("_open"), starts[first], starts[last]))
    return blocks


def is_marked(text: str, cut: int) -> bool:
    """Tell whether the text itself marks the end at a cut: a stop, or a line break."""
    gap = text[cut : len(text) - len(text[cut:].lstrip())]
    return "\n" in gap or re.search(r"[.!?…][\"')\]”’»*_]*$", text[:cut]) is not None


def ewt_true_chunks(*, marked: bool) -> Iterator[list[Chunk]]:
    for doc_id, text, sentences in load_ewt():
        cuts = [end for _, end in sentences[:-1]]
        if marked:
            cuts = [cut for cut in cuts if is_marked(text, cut)]
        yield chunks_of(doc_id, text, cuts)


def markdown_true_chunks(size: int) -> Iterator[list[Chunk]]:
    """Fill chunks with whole blocks, a heading always with the block after it."""
    for doc_id, text in load_markdown_docs().items():
        cuts: list[int] = []
        reached = 0
        blocks = markdown_blocks(text)
        for block, following in pairwise(blocks):
            # A lead-in stays with what it introduces; headings and rules with what follows.
            if block.kind in ("heading", "hr") or text[: block.end].rstrip().endswith(":"):
                continue
            if following.end - reached > size:
                cuts.append(block.end)
                reached = block.end
        yield chunks_of(doc_id, text, cuts)


def plant_in_sentences(*, at_spaces: bool) -> Iterator[Planted]:
    random.seed(SEED)
    for doc_id, text, sentences in load_ewt():
        for start, end in sentences:
            if at_spaces:
                places = [start + m.start() for m in re.finditer(r"(?<=\S)\s", text[start:end])]
            else:
                places = [p for p in range(start + 1, end) if not text[p].isspace()]
            if places:
                yield Planted(doc_id, text, random.choice(places))


def plant_in_prose() -> Iterator[Planted]:
    """Cut fiction at random spaces that no stop precedes and no capital follows."""
    random.seed(SEED)
    for doc_id, text in load_prose().items():
        places = [m.start() + 1 for m in re.finditer(r"[a-z](?=\s[a-z])", text)]
        for place in random.sample(places, 100):
            start = text.rfind("\n\n", 0, max(0, place - 1000)) + 2
            stop = text.find("\n\n", place + 1000)
            yield Planted(f"{doc_id}@{place}", text[start:stop], place - start)


def plant_in_blocks(kinds: tuple[str, ...]) -> Iterator[Planted]:
    """Cut every block of these kinds at two random places, not at its first or last character."""
    random.seed(SEED)
    for doc_id, text in load_markdown_docs().items():
        for block in markdown_blocks(text):
            body = text[block.start : block.end].rstrip()
            if block.kind in kinds and len(body) > 20:
                for _ in range(2):
                    place = block.start + random.randrange(2, len(body) - 2)
                    if is_boundary(text, place):
                        continue
                    yield Planted(doc_id, text, place)


def is_boundary(text: str, place: int) -> bool:
    """Tell whether a place chosen at random happens to be a good one: after a stop, or in a gap."""
    if text[place].isspace() and text[place - 1].isspace():
        return True
    return (
        re.search(r"[.!?:][\"')\]*_`]*\s+$|[.!?:][\"')\]*_`]*$", text[place - 6 : place])
        is not None
    )


def plant_in_brackets() -> Iterator[Planted]:
    random.seed(SEED)
    for doc_id, text in load_markdown_docs().items():
        for block in markdown_blocks(text):
            if block.kind != "paragraph":
                continue
            body = text[block.start : block.end]
            for match in re.finditer(r"(?<=\s)\([^()\[\]{}`]{10,200}\)", body):
                place = block.start + match.start() + random.randrange(2, len(match[0]) - 1)
                yield Planted(doc_id, text, place)


def is_found(planted: Planted, known: str) -> bool:
    """Tell whether a chunk beside the cut is reported for it, and not for its other end."""
    start = max(0, planted.text.rfind("\n\n", 0, max(0, planted.cut - REACH)))
    end = min(len(planted.text), planted.cut + REACH)
    if known == "document":
        chunks = chunks_of(planted.doc_id, planted.text, [planted.cut])
        report = validate(chunks, documents={planted.doc_id: planted.text})
        return any(issue.start <= planted.cut <= issue.end for issue in report.issues)
    first, second = chunks_of(planted.doc_id, planted.text[start:end], [planted.cut - start])
    report = validate([first, second] if known == "offsets" else texts_of([first, second]))
    return any(
        issue.end == len(first.text) if issue.chunk_id == first.chunk_id else issue.start == 0
        for issue in report.issues
    )


def measure_false_alarms(
    name: str, documents: list[list[Chunk]], texts: dict[str, str], examples: int
) -> None:
    total = len([chunk for chunks in documents for chunk in chunks])
    for label, report in (
        ("document", validate((c for cs in documents for c in cs), documents=texts)),
        ("offsets", validate(c for cs in documents for c in cs)),
        ("texts", validate(c for cs in documents for c in texts_of(cs))),
    ):
        print(
            f"{name:<34} {label:<9} {total:>6} chunks   {report.issue_rate:>6.2%} false alarms"
            f"   {describe(report)}"
        )
        for issue in [i for i in report.issues if i.kind not in ("duplicate", "fragment")][
            :examples
        ]:
            print(f"    {issue.kind}: {issue.excerpt!r} ({issue.message})")


def describe(report: BoundaryReport) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in report.kinds.items() if count)


def measure_planted(name: str, plant: Callable[[], Iterator[Planted]], examples: int) -> None:
    planted = list(plant())
    random.seed(SEED)
    if len(planted) > 1500:
        planted = random.sample(planted, 1500)
    for label in KNOWN:
        missed = [p for p in planted if not is_found(p, label)]
        share = 1 - len(missed) / len(planted)
        print(f"{name:<34} {label:<9} {len(planted):>6} cuts     {share:>6.2%} found")
        for p in missed[:examples]:
            before, after = p.text[max(0, p.cut - 60) : p.cut], p.text[p.cut : p.cut + 50]
            print(f"    {p.doc_id}@{p.cut}: {before!r} ‖ {after!r}")


def measure_speed() -> None:
    documents = load_markdown_docs()
    chunks = [
        {"text": text[at : at + CHUNK], "doc_id": doc_id, "chunk_index": number}
        for doc_id, text in documents.items()
        for number, at in enumerate(range(0, len(text), CHUNK))
    ]
    size = sum(len(str(c["text"]).encode()) for c in chunks)
    times = []
    for _ in range(3):
        started = time.process_time()
        validate(chunks, keep=1000)
        times.append(time.process_time() - started)
    print(f"speed without documents: {size / min(times) / 1e6:.1f} MB/s of processor time")
    for count in (100_000, 1_000_000):
        gc.collect()
        tracemalloc.start()
        report = validate((f"Sentence number {n} is here." for n in range(count)), keep=1000)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"memory for {report.chunks:,} chunks: {peak:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=0, help="wrong answers to show for each")
    parser.add_argument("--only", default="", help="run the lines whose name contains this")
    options = parser.parse_args()
    examples = options.examples
    ewt = {doc_id: text for doc_id, text, _ in load_ewt()}
    markdown = load_markdown_docs()
    for name, documents, texts in (
        ("EWT, ends that the text marks", lambda: ewt_true_chunks(marked=True), ewt),
        ("EWT, all gold ends", lambda: ewt_true_chunks(marked=False), ewt),
        ("Markdown, blocks to 2,000", lambda: markdown_true_chunks(CHUNK), markdown),
        ("Markdown, every block", lambda: markdown_true_chunks(0), markdown),
    ):
        if options.only in name:
            measure_false_alarms(name, list(documents()), texts, examples)
    for name, plant in (
        ("sentences (EWT), any character", lambda: plant_in_sentences(at_spaces=False)),
        ("sentences (EWT), at spaces", lambda: plant_in_sentences(at_spaces=True)),
        ("sentences (fiction), at spaces", plant_in_prose),
        ("fences", lambda: plant_in_blocks(("fence",))),
        ("tables", lambda: plant_in_blocks(("table",))),
        ("lists", lambda: plant_in_blocks(("bullet_list", "ordered_list"))),
        ("paragraphs", lambda: plant_in_blocks(("paragraph",))),
        ("brackets", plant_in_brackets),
    ):
        if options.only in name:
            measure_planted(name, plant, examples)
    if options.only in "speed":
        measure_speed()


if __name__ == "__main__":
    main()
