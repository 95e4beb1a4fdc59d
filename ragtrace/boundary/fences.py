"""Fences that a chunk opens and does not close, or closes and did not open."""

import re
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
    fences = list(shapes.find_fences(text))
    if not fences and not piece.prefix:
        if inside:
            yield FenceCut(True, 0, end, "lies inside a fence: its opening line is further up")
        return
    if piece.prefix or piece.suffix:
        if not shapes.open_fence(piece.content):
            return
        inside = ""
    elif not inside and _closes(text, fences[0]):
        inside = fences[0]["run"]
    if inside:
        size = fences[0].start() if fences else end
        yield FenceCut(True, 0, size, "starts inside a fence: its opening line is further up")
    opened, state = 0, inside
    for match in fences:
        was, state = state, shapes.open_fence(match[0], state)
        if state and not was:
            opened = match.start()
    if state and (opened or not inside):
        yield FenceCut(False, opened, end, f"leaves a fence ({state}) open")


def _closes(text: str, fence: re.Match[str]) -> bool:
    """Tell whether a fence closes one: it is bare, and the line before it is code."""
    if fence["info"].strip():
        return False
    above = text[: fence.start()].rstrip().rsplit("\n", 1)[-1]
    return bool(above) and shapes.is_code(above)
