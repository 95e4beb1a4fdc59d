"""Arithmetic of half-open spans."""

from collections.abc import Iterable

Span = tuple[int, int]

EDGE_TOLERANCE = 2
"""Code points that may be missing at each end of a gold span that still counts as whole: quotes
are often marked with a stop or a quotation mark too many."""


def unite(spans: Iterable[Span]) -> list[Span]:
    """Join overlapping and touching spans.

    >>> unite([(4, 6), (0, 2), (1, 4)])
    [(0, 6)]
    """
    united: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return united


def total(spans: Iterable[Span]) -> int:
    """Sum the lengths; overlapping spans count twice."""
    return sum(max(0, end - start) for start, end in spans)


def intersect(first: Iterable[Span], second: Iterable[Span]) -> list[Span]:
    """Return what lies in both.

    >>> intersect([(0, 5), (8, 12)], [(3, 9)])
    [(3, 5), (8, 9)]
    """
    left, right = unite(first), unite(second)
    shared: list[Span] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            shared.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared


def tolerance(span: Span) -> int:
    """Return how much of each end of a gold span may be missing: less for very short ones."""
    return min(EDGE_TOLERANCE, (span[1] - span[0]) // 8)


def holds(outer: Span, gold: Span) -> bool:
    """Tell whether `outer` holds a gold span whole.

    >>> holds((0, 99), (10, 101)), holds((0, 90), (10, 101))
    (True, False)
    """
    slack = tolerance(gold)
    return outer[0] <= gold[0] + slack and gold[1] - slack <= outer[1]


def touches(outer: Span, gold: Span) -> bool:
    """Tell whether `outer` holds more of a gold span than the tolerated edge."""
    return min(outer[1], gold[1]) - max(outer[0], gold[0]) > tolerance(gold)


def covers(spans: Iterable[Span], gold: Span, text: str | None = None) -> bool:
    """Tell whether the spans together hold a gold span but for its edges.

    White space between them may be missing, as chunkers strip it; without the document's `text` a
    gap of up to four code points is taken for white space.

    >>> covers([(0, 20), (21, 60)], (5, 50)), covers([(0, 20), (30, 60)], (5, 50))
    (True, False)
    """
    slack = tolerance(gold)
    position, last = gold[0] + slack, gold[1] - slack
    for start, end in unite(spans):
        if end <= position:
            continue
        if start > position and not _is_blank(position, min(start, last), text):
            return False
        position = end
        if position >= last:
            return True
    return position >= last


def _is_blank(start: int, end: int, text: str | None) -> bool:
    return end - start <= 4 if text is None else not text[start:end].strip()
