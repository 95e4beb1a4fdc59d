"""A hit as merging sees it: what is known about its place, once and for all checked."""

import math
import operator
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ragtrace.chunking.chunk import parse_chunk_id
from ragtrace.chunking.metadata import CHUNK_KEYS, split_heading_path
from ragtrace.postprocessing.merged_hit import MergedHit
from ragtrace.tracing.hit import Hit

PREVIOUS_ID = "previous_id"
NEXT_ID = "next_id"
"""Metadata keys under which a store that links its chunks names a chunk's neighbours."""

# True of one chunk, false of several together.
OWN_KEYS = (CHUNK_KEYS - {"doc_id", "splitter"}) | {"merged_ids", PREVIOUS_ID, NEXT_ID}

_WHOLE = re.compile(r"\s*([0-9]+)(?:\.0*)?\s*")


class Member(msgspec.Struct, frozen=True):
    """Hold one chunk of a piece; `filled` says that it was not retrieved."""

    chunk_id: str
    score: float | None
    index: int | None
    span: tuple[int, int] | None = None
    filled: bool = False


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Hold a stretch of one document, made of one chunk or of several.

    `start` and `end` are trusted where they are not `None`. `priority` orders pieces by rank,
    best first; `rank` is the best member's.
    """

    hit: Hit
    doc_id: str | None
    doc_version: str | None
    text: str
    start: int | None
    end: int | None
    verbatim: bool
    splitter: Any
    heading_path: tuple[str, ...]
    previous_id: str | None
    next_id: str | None
    members: tuple[Member, ...]
    first_index: int | None
    last_index: int | None
    metadata: dict[str, Any]
    rank: int
    priority: int
    chunk_length: int


def whole_number(value: Any) -> int | None:
    """Read an index or offset that a store may have turned into a string or a float.

    >>> whole_number("10"), whole_number("10.0"), whole_number(10.0), whole_number("ten")
    (10, 10, 10, None)
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = _WHOLE.fullmatch(value)
        return int(match[1]) if match else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return operator.index(value)
    except TypeError:
        return None


def known_score(value: Any) -> float | None:
    """Read a score; what is no number, NaN included, is unknown.

    >>> known_score("0.5"), known_score(float("nan")), known_score(None)
    (0.5, None, None)
    """
    try:
        score = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(score) else score


def read_hit(hit: Hit, source: str | None, *, rank: int, priority: int) -> Piece:
    """Check what a hit says about its place, against the source text where there is one."""
    start, end = place(hit, source)
    index = whole_number(hit.chunk_index)
    if index is None:
        index = index_in_id(hit.chunk_id, hit.doc_id)
    members: tuple[Member, ...] = (
        Member(hit.chunk_id, known_score(hit.score), index, span_of(start, end)),
    )
    verbatim, chunk_length = True, len(hit.text)
    if hit.merged_ids:
        members = read_members(hit)
        verbatim = start is not None
        if isinstance(hit, MergedHit):
            verbatim, chunk_length = hit.verbatim, hit.chunk_length or len(hit.text)
    return Piece(
        hit=hit,
        doc_id=hit.doc_id,
        doc_version=hit.doc_version,
        text=hit.text,
        start=start,
        end=end,
        verbatim=verbatim,
        splitter=hit.metadata.get("splitter"),
        heading_path=read_path(hit.heading_path),
        previous_id=hit.metadata.get(PREVIOUS_ID),
        next_id=hit.metadata.get(NEXT_ID),
        members=members,
        first_index=members[0].index,
        last_index=last_index_of(members),
        metadata=hit.metadata,
        rank=rank,
        priority=priority,
        chunk_length=chunk_length,
    )


def read_members(hit: Hit) -> tuple[Member, ...]:
    """Return the chunks that an already merged hit is made of."""
    if not isinstance(hit, MergedHit):
        # A store or a framework kept the ids alone; the score is the best of theirs.
        score = known_score(hit.score)
        return tuple(Member(name, score, index_in_id(name, hit.doc_id)) for name in hit.merged_ids)
    filled = frozenset(hit.filled_ids)
    rows = zip(hit.merged_ids, hit.merged_scores, hit.merged_indices, hit.merged_spans, strict=True)
    return tuple(
        Member(name, score, index, span, name in filled) for name, score, index, span in rows
    )


def in_order(members: Sequence[Member]) -> tuple[Member, ...]:
    """Sort chunks by their place in the document, as far as it is known."""
    if all(member.span is not None for member in members):
        return tuple(sorted(members, key=lambda m: (m.span or (0, 0), m.index or 0, m.chunk_id)))
    if all(member.index is not None for member in members):
        return tuple(sorted(members, key=lambda m: (m.index or 0, m.chunk_id)))
    return tuple(members)


def last_index_of(members: Sequence[Member]) -> int | None:
    """Return the index of the chunk that a stretch ends with: the one that reaches furthest."""
    if len(members) == 1 or any(member.span is None for member in members):
        return members[-1].index
    return max(members, key=lambda m: (m.span and m.span[1], m.index or 0)).index


def index_in_id(chunk_id: str, doc_id: str | None) -> int | None:
    """Return the index that a chunk id ends in, where the id is built on the document's.

    >>> index_in_id("guide#c7", "guide"), index_in_id("7f3c", "guide")
    (7, None)
    """
    try:
        document, index = parse_chunk_id(chunk_id)
    except ValueError:
        return None
    return index if document == doc_id else None


def span_of(start: int | None, end: int | None) -> tuple[int, int] | None:
    """Return both offsets, `None` unless both are known."""
    return None if start is None or end is None else (start, end)


def read_path(path: tuple[str, ...] | str) -> tuple[str, ...]:
    """Read a heading path, also one that is still the string a store keeps."""
    return split_heading_path(path) if isinstance(path, str) else tuple(path)


def place(hit: Hit, source: str | None) -> tuple[int | None, int | None]:
    """Return the offsets of a hit that can be trusted, `None` for those that cannot.

    A text that occurs once in its source has one place, whatever the store says.
    """
    if isinstance(hit, MergedHit) and not hit.verbatim:
        return hit.start, hit.end
    start, end = whole_number(hit.start), whole_number(hit.end)
    if start is not None and end is None:
        end = start + len(hit.text)
    fits = start is not None and end is not None and start >= 0 and end - start == len(hit.text)
    if source is None:
        return (start, end) if fits else (None, None)
    if fits and source[start:end] == hit.text:
        return start, end
    at = source.find(hit.text) if hit.text else -1
    if at < 0 or source.find(hit.text, at + 1) >= 0:
        return None, None
    return at, at + len(hit.text)
