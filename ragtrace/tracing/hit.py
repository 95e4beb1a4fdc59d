"""The hit: a chunk that came back for a query, whatever framework returned it."""

from typing import Any, NamedTuple

import msgspec

from ragtrace.tracing.schema import ScoreKind


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one retrieved chunk.

    `rank` counts from 1. `start` and `end` are code points of the document, `None` where unknown.
    `text` is the exact slice, decoration already stripped. `merged_ids` names the chunks, in
    document order, that a merged hit is made of. `metadata` is whatever the store kept beside it.
    """

    chunk_id: str
    doc_id: str | None = None
    text: str = ""
    score: float | None = None
    rank: int = 0
    chunk_index: int | None = None
    start: int | None = None
    end: int | None = None
    heading_path: tuple[str, ...] = ()
    doc_version: str | None = None
    merged_ids: tuple[str, ...] = ()
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


class FoundHits(NamedTuple):
    """Hold hits, best first, and which way their scores run."""

    hits: list[Hit]
    score_kind: ScoreKind
