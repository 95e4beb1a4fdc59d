"""Mark in a text what a reader should see: the answer, and where chunks begin and end."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from ragtrace.chunking import Chunk

AROUND = 160
"""Code points of the document shown on each side of an answer."""

LEAST = 4


class Part(msgspec.Struct, frozen=True):
    """Hold a stretch of text: answer or not, and whether a chunk boundary lies before it."""

    text: str
    marked: bool = False
    boundary: bool = False


def held_part(text: str, gold: str) -> str:
    """Return the longest beginning or end of the answer that the chunk holds.

    >>> held_part("The limit is five", "is five seconds.")
    'is five'
    """
    if gold in text:
        return gold
    # Fewer letters than a short word meet by chance.
    lengths = range(min(len(gold), len(text)), LEAST - 1, -1)
    head = next((gold[:n] for n in lengths if text.endswith(gold[:n])), "")
    tail = next((gold[-n:] for n in lengths if text.startswith(gold[-n:])), "")
    return max(head, tail, key=len)


def mark_answers(text: str, answers: Iterable[str]) -> list[Part]:
    """Mark what a chunk holds of the answers.

    >>> [(part.text, part.marked) for part in mark_answers("The limit is five", ["five seconds."])]
    [('The limit is ', False), ('five', True)]
    """
    spans = []
    for answer in answers:
        held = held_part(text, answer)
        if held:
            at = text.find(held)
            spans.append((at, at + len(held)))
    return cut_into_parts(text, spans, ())


def mark_boundaries(
    document: str, span: tuple[int, int], chunks: Iterable[Chunk]
) -> tuple[list[Part], list[Part], list[Part]]:
    """Return what stands before an answer, the answer, and what stands after it.

    Each is cut where one of the chunks begins or ends.
    """
    start, end = span
    first, last = max(0, start - AROUND), min(len(document), end + AROUND)
    cuts = {place for chunk in chunks for place in (chunk.start, chunk.end)}
    before, held, after = (
        cut_into_parts(
            document[low:high],
            [(0, high - low)] if low == start and high == end else [],
            [cut - low for cut in cuts if low <= cut < high],
        )
        for low, high in ((first, start), (start, end), (end, last))
    )
    return before, held, after


def cut_into_parts(
    text: str, marked: Sequence[tuple[int, int]], boundaries: Iterable[int]
) -> list[Part]:
    """Cut a text at the ends of marked spans and at boundaries; nothing of it is lost."""
    borders = {place for place in boundaries if 0 <= place < len(text)}
    edges = sorted({0, len(text), *borders, *(edge for span in marked for edge in span)})
    return [
        Part(
            text[low:high],
            any(start <= low and high <= end for start, end in marked),
            low in borders,
        )
        for low, high in pairwise(edges)
    ]
