"""Whether one piece follows another, by which evidence, and the text that joins them.

Offsets are asked first, then the index of the chunks, then links between them. Text alone is no
evidence: a repeated sentence is real until offsets say that it is an overlap.
"""

from typing import Literal

import msgspec

from ragtrace.postprocessing.pieces import Member, Piece, in_order, last_index_of, span_of

NEARBY = 64
"""Code points that may lie between consecutive chunks: white space, a heading that was taken out.
Further apart, index and offsets contradict each other."""

STRIPPED = 2
"""Code points between two chunks that are taken for white space where nothing else is known."""


class Bridge(msgspec.Struct, frozen=True):
    """Hold what comes between two neighbours: `overlap` code points to drop, or `text` to add."""

    overlap: int = 0
    text: str = ""
    verbatim: bool = True
    filled: tuple[Member, ...] = ()


Verdict = Bridge | Literal["contradiction"] | None


class Rules(msgspec.Struct, frozen=True):
    """Hold what the caller allows to be joined within one document.

    `longest` is the longest chunk of the document among the hits, in code points: where chunks
    carry no index, it tells how many of them a gap can hold.
    """

    source: str | None
    fill_gap: int
    within_section: bool
    longest: int


def bridge(before: Piece, after: Piece, rules: Rules) -> Verdict:
    """Say how `after` follows `before` in their common document; `None` where it does not."""
    if before.start is not None and after.start is not None and after.start < before.start:
        return None
    if rules.within_section and before.heading_path != after.heading_path:
        return None
    steps = steps_between(before, after)
    linked = is_linked(before, after)
    if before.doc_id is not None and before.end is not None and after.start is not None:
        gap = after.start - before.end
        if gap < 0:
            return overlapping(before, after, -gap)
        if steps is not None and steps < 1:
            return "contradiction"
        if gap == 0:
            return Bridge()
        return across(before, after, gap, steps, linked, rules)
    if linked and steps is not None and steps != 1:
        return "contradiction"
    if linked or (steps == 1 and before.doc_id is not None):
        return Bridge(text="\n\n", verbatim=False)
    return None


def steps_between(before: Piece, after: Piece) -> int | None:
    """Return how many chunks `after` comes later, `None` unless one splitter counted both."""
    if before.last_index is None or after.first_index is None:
        return None
    return after.first_index - before.last_index if before.splitter == after.splitter else None


def is_linked(before: Piece, after: Piece) -> bool:
    """Say whether either names the other as its neighbour; one direction is enough."""
    return (before.next_id is not None and before.next_id == after.members[0].chunk_id) or (
        after.previous_id is not None and after.previous_id == before.members[-1].chunk_id
    )


def overlapping(before: Piece, after: Piece, overlap: int) -> Verdict:
    """Drop the shared text if it really is the same; else these are two texts of one document."""
    if before.start is None or after.start is None:
        return None
    if after.end is None or before.end is None:
        return None
    if after.end <= before.end:
        at = after.start - before.start
        inside = (
            before.text[at : at + len(after.text)] == after.text
            if before.verbatim and after.verbatim
            else after.text in before.text
        )
        return Bridge(overlap=len(after.text)) if inside else "contradiction"
    if before.text[-overlap:] == after.text[:overlap]:
        return Bridge(overlap=overlap)
    return "contradiction"


def across(
    before: Piece, after: Piece, gap: int, steps: int | None, linked: bool, rules: Rules
) -> Verdict:
    """Bridge text that is in neither piece, from the source where it is known."""
    consecutive = steps == 1 or (linked and steps is None)
    if linked and not consecutive:
        return "contradiction"
    if rules.source is not None:
        between = rules.source[before.end : after.start]
        if between.isspace() or (consecutive and gap <= NEARBY):
            return Bridge(text=between)
        missing = -(-gap // max(rules.longest, 1)) if steps is None else steps - 1
        if 0 < missing <= rules.fill_gap:
            return Bridge(text=between, filled=missing_members(before, after, steps))
        return "contradiction" if consecutive else None
    if consecutive:
        return made_up(before, after, gap) if gap <= NEARBY else "contradiction"
    return made_up(before, after, gap) if steps is None and gap <= STRIPPED else None


def made_up(before: Piece, after: Piece, gap: int) -> Bridge:
    """Separate two chunks whose splitter stripped what stood between them.

    A single character is a space in running text, and a line break where there are lines.
    """
    if gap > 1:
        return Bridge(text="\n\n", verbatim=False)
    lines = "\n" in before.text or "\n" in after.text
    return Bridge(text="\n" if lines else " ", verbatim=False)


def missing_members(before: Piece, after: Piece, steps: int | None) -> tuple[Member, ...]:
    """Name the chunks in a gap, where their ids follow from those of their neighbours."""
    if steps is None or before.last_index is None:
        return ()
    last = before.members[-1].chunk_id
    stem = last.removesuffix(str(before.last_index))
    if stem not in (f"{before.doc_id}#c", f"{before.doc_id}#"):
        return ()
    first = before.last_index + 1
    # One missing chunk is the gap; where several stand in it is not known.
    span = span_of(before.end, after.start) if steps == 2 else None
    return tuple(
        Member(f"{stem}{index}", None, index, span, filled=True)
        for index in range(first, first + steps - 1)
    )


def join(before: Piece, after: Piece, by: Bridge) -> Piece:
    """Make one piece of two neighbours."""
    inside = by.overlap >= len(after.text) > 0
    best = min(before, after, key=lambda piece: piece.priority)
    members = in_order((*before.members, *by.filled, *after.members))
    return Piece(
        hit=best.hit,
        doc_id=before.doc_id,
        doc_version=before.doc_version,
        text=before.text + by.text + after.text[by.overlap :],
        start=before.start,
        end=before.end if inside else after.end,
        verbatim=before.verbatim and by.verbatim and (inside or after.verbatim),
        splitter=before.splitter if before.splitter == after.splitter else None,
        heading_path=common_path(before.heading_path, after.heading_path),
        previous_id=before.previous_id,
        next_id=before.next_id if inside else after.next_id,
        members=members,
        first_index=members[0].index,
        last_index=last_index_of(members),
        metadata={**after.metadata, **before.metadata},
        rank=best.rank,
        priority=best.priority,
        chunk_length=max(before.chunk_length, after.chunk_length),
    )


def common_path(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return the headings that both paths begin with."""
    for depth, pair in enumerate(zip(first, second, strict=False)):
        if pair[0] != pair[1]:
            return first[:depth]
    return min(first, second, key=len)
