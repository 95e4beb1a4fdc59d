"""Find where chunks stand in their document, and check what they claim."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ragtrace.boundary.issue import Issue, excerpt_around
from ragtrace.boundary.piece import Piece


class Place(NamedTuple):
    """A chunk's span in its document, `None` where its text is not there, and what is wrong."""

    piece: Piece
    span: tuple[int, int] | None
    issue: Issue | None
    located: bool


class Squeezed:
    r"""A text without white space, with the way back: finds what a splitter has re-spaced.

    >>> Squeezed("One\n  two. Three").find("two. Three".split(), 0)
    (6, 16)
    """

    def __init__(self, text: str) -> None:
        places = [at for at, character in enumerate(text) if not character.isspace()]
        self._places = places
        self._text = "".join(text[at] for at in places)

    def find(self, words: Sequence[str], start: int) -> tuple[int, int] | None:
        """Return the first span from `start` on that holds these words and nothing else."""
        squeezed = "".join(words)
        if not squeezed:
            return None
        at = self._text.find(squeezed, bisect_left(self._places, start))
        if at < 0:
            return None
        return self._places[at], self._places[at + len(squeezed) - 1] + 1


def place_chunks(document: str, pieces: Sequence[Piece]) -> list[Place]:
    """Place the chunks of one document, in reading order.

    An offset is right when the slice equals the text and when it follows from the chunks before: a
    text that stands in the document twice must not be claimed at the same place twice. Chunks
    without offsets are searched for in order, as they are, then by their words.
    """
    if all(piece.index is not None for piece in pieces):
        pieces = sorted(pieces, key=lambda piece: piece.index or 0)
    elif all(piece.start is not None for piece in pieces):
        pieces = sorted(pieces, key=lambda piece: piece.start or 0)
    squeezed: Squeezed | None = None
    places: list[Place] = []
    next_start = 0  # chunks start strictly after one another
    for piece in pieces:
        claimed = piece.start is not None
        if claimed and document[piece.start : piece.end] == piece.text:
            start = piece.start or 0
            if start >= next_start:
                places.append(Place(piece, (start, start + len(piece.text)), None, located=False))
                next_start = start + 1
                continue
            again = document.find(piece.text, next_start) if piece.text.strip() else -1
            if again < 0:
                places.append(Place(piece, (start, start + len(piece.text)), None, located=False))
                continue
            span: tuple[int, int] | None = (again, again + len(piece.text))
            wrong = f"claims {start}, not after the chunk before; the same text stands at {again}"
        else:
            if squeezed is None and piece.text not in document:
                squeezed = Squeezed(document)
            span = _search(document, squeezed, piece.text, next_start)
            wrong = _say_wrong(piece, span)
        if span is not None:
            next_start = max(next_start, span[0] + 1)
        issue = None
        if claimed or span is None:
            issue = _wrong_offset(document, piece, span, wrong)
        places.append(Place(piece, span, issue, located=span is not None))
    return places


def find_gaps(document: str, doc_id: str, places: Sequence[Place]) -> list[Issue]:
    """Return the stretches of text that are in no chunk, each under the chunk before it."""
    placed = sorted(
        ((place.span, place.piece) for place in places if place.span is not None),
        key=lambda item: item[0],
    )
    gaps: list[Issue] = []
    reached = 0
    owner = placed[0][1] if placed else None
    for span, piece in [*placed, ((len(document), len(document)), None)]:
        if span[0] > reached:
            gap = _gap(document, doc_id, reached, span[0], owner)
            if gap is not None:
                gaps.append(gap)
        if span[1] > reached:
            reached, owner = span[1], piece
    return gaps


def _gap(document: str, doc_id: str, start: int, end: int, owner: Piece | None) -> Issue | None:
    text = document[start:end]
    lost = text.strip()
    # A converter's or stripper's single mark between two chunks (a comma, a quote mark) is text
    # too, but a byte order mark is not.
    if not lost.strip("\ufeff"):
        return None
    start += len(text) - len(text.lstrip())
    end = start + len(lost)
    shown = lost if len(lost) <= 120 else f"{lost[:60]} … {lost[-60:]}"
    return Issue(
        "gap",
        owner.chunk_id if owner else "",
        doc_id,
        start,
        end,
        len(lost),
        f"{len(lost)} characters are in no chunk"
        if owner
        else f"no chunk holds any of this document's {len(lost)} characters",
        shown.replace("\n", " "),
        exact=True,
    )


def _search(
    document: str, squeezed: Squeezed | None, text: str, start: int
) -> tuple[int, int] | None:
    if not text.strip():
        return None
    for first in (start, 0):
        at = document.find(text, first)
        if at >= 0:
            return at, at + len(text)
    if squeezed is not None:
        words = text.split()
        return squeezed.find(words, start) or squeezed.find(words, 0)
    return None


def _say_wrong(piece: Piece, span: tuple[int, int] | None) -> str:
    if span is None:
        where = "is not in the document"
        return f"claims {piece.start}, but its text {where}" if piece.start is not None else where
    if piece.start == span[0]:
        return f"claims to end at {piece.end}, but its text ends at {span[1]}"
    return f"claims {piece.start}, but its text stands at {span[0]}"


def _wrong_offset(document: str, piece: Piece, span: tuple[int, int] | None, message: str) -> Issue:
    start = piece.start if piece.start is not None else 0
    return Issue(
        "wrong-offset",
        piece.chunk_id,
        piece.doc_id,
        start,
        piece.end if piece.end is not None else start,
        abs((span[0] if span else 0) - start) if piece.start is not None else len(piece.text),
        message,
        excerpt_around(document, start) if piece.start is not None else piece.text[:120],
        exact=True,
    )
