"""Retrieval metrics, equal to trec_eval's for chunk ids, and in the same words for spans.

Every value lies in [0, 1], an empty retrieval scores 0, and of the first k hits a repeated chunk
keeps its first place: the repetition counts for nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from math import log2

import msgspec

from ragtrace.evaluation.spans import Span, intersect, total, unite


class RankingScores(msgspec.Struct, frozen=True, kw_only=True):
    """Hold how well a ranking does within its first k hits."""

    recall: float
    hit: float
    precision: float
    reciprocal_rank: float
    ndcg: float


class TextScores(msgspec.Struct, frozen=True, kw_only=True):
    """Hold how much gold text the hits hold, in characters: Chroma's three measures."""

    recall: float
    precision: float
    iou: float


def score_ids(
    retrieved: Sequence[str], relevant: Mapping[str, int] | Collection[str], k: int
) -> RankingScores:
    """Score retrieved chunk ids against the relevant ones; a mapping gives their grades.

    >>> score_ids(["a", "a", "b"], ["b", "c"], k=3).recall
    0.5
    """
    check_k(k)
    grades = dict(relevant) if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)
    names = [name for name, grade in grades.items() if grade > 0]
    places = {name: place for place, name in enumerate(names)}
    seen: set[str] = set()
    matches: list[set[int]] = []
    for name in retrieved[:k]:
        matches.append({places[name]} if name in places and name not in seen else set())
        seen.add(name)
    return score_matches(matches, [grades[name] for name in names], k)


def score_matches(
    matches: Sequence[Collection[int]], grades: Sequence[int], k: int
) -> RankingScores:
    """Score a ranking whose hit at each rank matches certain labels, named by their places.

    A label gives its gain to the first hit that matches it. Recall is of labels matched.
    """
    check_k(k)
    if not grades:
        raise ValueError("no label: a question without labels cannot be scored")
    seen: set[int] = set()
    gain = 0.0
    first = 0
    useful = 0
    for rank, matched in enumerate(matches[:k], 1):
        if not matched:
            continue
        useful += 1
        first = first or rank
        fresh = [grades[label] for label in matched if label not in seen]
        if fresh:
            gain += max(fresh) / log2(rank + 1)
            seen.update(matched)
    ideal = sum(
        grade / log2(rank + 1) for rank, grade in enumerate(sorted(grades, reverse=True)[:k], 1)
    )
    return RankingScores(
        recall=len(seen) / len(grades),
        hit=float(first > 0),
        precision=useful / k,
        reciprocal_rank=1 / first if first else 0.0,
        ndcg=min(1.0, gain / ideal),
    )


def score_text(hits: Sequence[tuple[str, Span]], gold: Sequence[tuple[str, Span]]) -> TextScores:
    """Score the spans of hits against gold spans, each with its document id.

    Gold text counts once. What hits repeat counts each time in precision and IoU: the reader of the
    context pays for it.

    >>> score_text([("d", (0, 100))], [("d", (50, 150))]).recall
    0.5
    """
    documents = {doc_id for doc_id, _ in gold}
    shared = wanted = 0
    for document in documents:
        spans = unite(span for doc_id, span in gold if doc_id == document)
        wanted += total(spans)
        shared += total(intersect(spans, (span for doc_id, span in hits if doc_id == document)))
    if not wanted:
        raise ValueError("no gold span: a question without one cannot be scored")
    retrieved = total(span for _, span in hits)
    return TextScores(
        recall=shared / wanted,
        precision=shared / retrieved if retrieved else 0.0,
        iou=shared / (retrieved + wanted - shared),
    )


def check_k(k: int) -> None:
    """Refuse a k that counts no hits."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
