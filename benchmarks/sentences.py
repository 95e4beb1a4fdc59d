"""Compare sentence segmenters: speed, golden rules, gold boundaries of web text, fiction.

`python -m benchmarks.sentences`. Speed is a multiple of tiktoken encoding the same novels in the
same run. F1 counts boundaries inside paragraphs, on the even and the odd documents (the rules were
written looking at the even ones). sentencex and nupunkt take part where they are installed.
"""

import json
import re
import time
import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import pairwise

from benchmarks.corpora import DATA, load_prose, read
from benchmarks.tokens import use_bundled_tables
from ragtrace.chunking import (
    NltkSegmenter,
    PysbdSegmenter,
    RuleSegmenter,
    Segmenter,
    SpacySegmenter,
)

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_WHITE = re.compile(r"\s*")
_SLOW = 300_000  # characters of fiction for segmenters below a megabyte per second


def load(name: str) -> list[dict]:
    return [json.loads(line) for line in read(DATA / name).splitlines()]


def inner_ends(text: str, ends: Iterable[int]) -> set[int]:
    """Return the sentence ends that are not the end of a paragraph."""
    gaps = {end: _WHITE.match(text, end) for end in ends}
    return {
        end
        for end, gap in gaps.items()
        if gap and gap.end() < len(text) and not _BLANK_LINE.search(gap[0])
    }


def score(segment: Segmenter, documents: list[dict]) -> float:
    right = wrong = missed = 0
    for document in documents:
        text = document["text"]
        gold = inner_ends(text, (end for _, end in document["sentences"]))
        found = inner_ends(text, (end for _, end in segment(text)))
        right += len(gold & found)
        wrong += len(found - gold)
        missed += len(gold - found)
    return 2 * right / (2 * right + wrong + missed)


def count_golden(segment: Segmenter, rules: list[dict]) -> int:
    return sum(
        [rule["text"][start:end] for start, end in segment(rule["text"])] == rule["sentences"]
        for rule in rules
    )


def wrap_share(text: str, spans: list[tuple[int, int]]) -> float:
    """Return the share of cuts that fall on a line wrap with no stop before it."""
    cuts = [(end, start) for (_, end), (start, _) in pairwise(spans)]
    wraps = sum(
        "\n" in text[end:start]
        and not _BLANK_LINE.search(text[end:start])
        and text[end - 1].isalnum()
        for end, start in cuts
    )
    return wraps / max(len(cuts), 1)


def trim(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Take the white space off spans that tile the text."""
    return [
        (end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip()))
        for start, end in spans
        if text[start:end].strip()
    ]


def candidates() -> dict[str, tuple[Callable[[], Segmenter], int | None]]:
    def nltk() -> Segmenter:
        from nltk.tokenize.punkt import PunktSentenceTokenizer

        # Trained on the novels themselves: its English model is not part of the package.
        return NltkSegmenter(PunktSentenceTokenizer("\n".join(load_prose().values())))

    def pysbd() -> Segmenter:
        import pysbd

        return PysbdSegmenter(pysbd.Segmenter(language="en", clean=False))

    def sentencex() -> Segmenter:
        from sentencex import get_sentence_boundaries

        return lambda text: trim(
            text,
            (
                (found["start_index"], found["end_index"])
                for found in get_sentence_boundaries("en", text)
            ),
        )

    def nupunkt() -> Segmenter:
        from nupunkt import sent_spans

        return lambda text: trim(text, sent_spans(text))

    found: dict[str, tuple[Callable[[], Segmenter], int | None]] = {
        "ragtrace rules": (RuleSegmenter, None),
        "spaCy sentencizer": (lambda: SpacySegmenter("en"), _SLOW),
        "NLTK punkt": (nltk, None),
        "pySBD": (pysbd, _SLOW),
    }
    if find_spec("sentencex"):
        found["sentencex"] = (sentencex, None)
    if find_spec("nupunkt"):
        found["nupunkt"] = (nupunkt, None)
    return found


def fastest(runs: list[Callable[[], object]], times: int) -> list[float]:
    """Time the runs in turn, so that a busy machine slows all alike; keep the best of each."""
    seconds = [float("inf")] * len(runs)
    for _ in range(times):
        for number, run in enumerate(runs):
            started = time.perf_counter()
            run()
            seconds[number] = min(seconds[number], time.perf_counter() - started)
    return seconds


def main() -> None:
    warnings.simplefilter("ignore")
    use_bundled_tables()
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    web, golden = load("ud_english_ewt/sentences.jsonl"), load("golden_rules/english.jsonl")
    novels = "\n\n".join(load_prose().values())
    print(
        "segmenter            x tiktoken   MB/s  golden/48  F1 even  F1 odd  F1 all"
        "  longest  at wraps %"
    )
    for name, (make, limit) in candidates().items():
        segment, text = make(), novels[:limit]
        spans = segment(text)
        seconds, encoded = fastest(
            [
                lambda segment=segment, text=text: segment(text),
                lambda text=text: encoding.encode(text, disallowed_special=()),
            ],
            times=1 if limit else 5,
        )
        longest = max(len(encoding.encode_ordinary(text[start:end])) for start, end in spans)
        print(
            f"{name:20} {encoded / seconds:10.2f} {len(text) / seconds / 1e6:6.2f}"
            f" {count_golden(segment, golden):10} {score(segment, web[::2]):8.3f}"
            f" {score(segment, web[1::2]):7.3f} {score(segment, web):7.3f} {longest:8}"
            f" {100 * wrap_share(text, spans):11.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
