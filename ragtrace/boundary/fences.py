"""Fences that a chunk opens and does not close, or closes and did not open."""

from collections.abc import Iterator
from typing import NamedTuple

from ragtrace.boundary import shapes
from ragtrace.boundary.piece import Piece


class FenceCut(NamedTuple):
    """A fence cut by the start or by the end of a chunk: which part of the chunk lies in it."""

    at_start: bool
    start: int
    end: int
    message: str


def find_cut_fences(piece: Piece, inside: str) -> Iterator[FenceCut]:
    """Yield the fences that a chunk cuts; `inside` is the fence that the chunk before left open.

    A fence that decoration reopens and closes is whole where the chunk is read.
    """
    text = piece.text
    end = len(text)
    if "```" not in text and "~~~" not in text and not piece.prefix:
        if inside:
            yield FenceCut(True, 0, end, "lies inside a fence: its opening line is further up")
        return
    if piece.prefix or piece.suffix:
        if not shapes.open_fence(piece.content):
            return
        inside = ""
    elif not inside and _starts_with_close(text):
        inside = "```"
    if inside:
        first = shapes.FENCE.search(text)
        size = first.start() if first else end
        yield FenceCut(True, 0, size, "starts inside a fence: its opening line is further up")
    opened, state = 0, inside
    for match in shapes.FENCE.finditer(text):
        was, state = state, shapes.open_fence(match[0], state)
        if state and not was:
            opened = match.start()
    if state and (opened or not inside):
        yield FenceCut(False, opened, end, f"leaves a fence ({state}) open")


def _starts_with_close(text: str) -> bool:
    """Tell whether the first fence mark closes a fence: it is bare, and the line before is code."""
    match = shapes.FENCE.search(text)
    if match is None or match["info"].strip():
        return False
    above = text[: match.start()].rstrip().rsplit("\n", 1)[-1]
    return bool(above) and shapes.is_code(above)
