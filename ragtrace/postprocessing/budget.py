"""Keep as many hits as a prompt has room for."""

from collections.abc import Sequence
from typing import TypeVar

from ragtrace.chunking.lengths import Length, length_function
from ragtrace.tracing.hit import Hit

AnyHit = TypeVar("AnyHit", bound=Hit)


def fit_budget(
    hits: Sequence[AnyHit],
    max_length: int,
    length: Length = "cl100k_base",
    *,
    separator: str = "\n\n",
) -> list[AnyHit]:
    """Keep the best hits that fit together, whole, in the order given.

    Best is the lowest rank, or the first where hits have none; one that does not fit leaves room
    for the next. The budget covers the texts and a `separator` between each two, in units of
    `length`.

    Raises `ValueError` for a `max_length` below 1.

    >>> hits = [Hit(chunk_id=text, text=text) for text in ("aaaa", "bbbbbbbb", "cc")]
    >>> [hit.text for hit in fit_budget(hits, 8, "characters")]
    ['aaaa', 'cc']
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, not {max_length}")
    count = length_function(length)
    order = list(range(len(hits)))
    if all(hit.rank > 0 for hit in hits):
        order.sort(key=lambda position: hits[position].rank)
    between = count(separator)
    room = max_length + between
    kept: set[int] = set()
    for position in order:
        needed = count(hits[position].text) + between
        if needed <= room:
            kept.add(position)
            room -= needed
    return [hit for position, hit in enumerate(hits) if position in kept]
