"""Let a hit that repeats an earlier one give up its place."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ragtrace.postprocessing.pieces import place, span_of
from ragtrace.postprocessing.shingles import numbers_of, shingles_of, words_of
from ragtrace.tracing.hit import Hit

AnyHit = TypeVar("AnyHit", bound=Hit)

Span = tuple[int, int]


class Reading(msgspec.Struct, frozen=True):
    """Hold what one hit says and where it says it from."""

    document: tuple[str | None, str | None]
    span: Span | None
    shingles: frozenset[tuple[str, ...]]
    numbers: frozenset[str]


def drop_near_duplicates(
    hits: Sequence[AnyHit], *, threshold: float = 0.85, k: int | None = None
) -> list[AnyHit]:
    """Keep the hits, in the order given, that say something the ones before them do not.

    A hit is dropped when earlier hits of its document cover at least `threshold` of its span, or
    when one earlier hit holds at least that share of its runs of four words, and all its numbers:
    a text that differs in a figure is no repetition. `k` is how many to return; give more hits
    than that and the freed places are filled from further ranks.

    Raises `ValueError` for a threshold outside 0 to 1 or a `k` below 1.

    >>> texts = ["Keys rotate once a month.", "Keys rotate once a month!", "Logs are kept."]
    >>> hits = [Hit(chunk_id=str(at), text=text) for at, text in enumerate(texts)]
    >>> [hit.chunk_id for hit in drop_near_duplicates(hits, k=2)]
    ['0', '2']
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, not {threshold}")
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    kept: list[AnyHit] = []
    readings: list[Reading] = []
    for hit in hits:
        if len(kept) == k:
            break
        reading = read(hit)
        if not repeats(reading, readings, threshold):
            kept.append(hit)
            readings.append(reading)
    return kept


def read(hit: Hit) -> Reading:
    """Read a hit's words and its place."""
    words = words_of(hit.text)
    return Reading(
        document=(hit.doc_id, hit.doc_version),
        span=None if hit.doc_id is None else span_of(*place(hit, None)),
        shingles=shingles_of(words),
        numbers=numbers_of(words),
    )


def repeats(hit: Reading, earlier: list[Reading], threshold: float) -> bool:
    """Say whether the hits before it leave it nothing to say."""
    if hit.span is not None and hit.span[1] > hit.span[0]:
        spans = [e.span for e in earlier if e.document == hit.document and e.span is not None]
        if covered(hit.span, spans) >= threshold * (hit.span[1] - hit.span[0]):
            return True
    if not hit.shingles:
        return False
    return any(
        hit.numbers <= other.numbers
        and len(hit.shingles & other.shingles) >= threshold * len(hit.shingles)
        for other in earlier
    )


def covered(span: Span, others: list[Span]) -> int:
    """Count the code points of a span that lie in one of the others.

    >>> covered((0, 10), [(8, 20), (-5, 2), (1, 3)])
    5
    """
    total, at = 0, span[0]
    for start, end in sorted(others):
        start, end = max(start, at), min(end, span[1])
        if end > start:
            total += end - start
            at = end
    return total
