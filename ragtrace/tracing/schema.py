"""The trace line, `ragtrace/1`: one retrieval, one JSON object."""

from typing import Annotated, Any, Literal

import msgspec

SCHEMA = "ragtrace/1"
SNIPPET_LENGTH = 200
"""Code points of a hit's text that a trace keeps unless told otherwise."""

ScoreKind = Literal["similarity", "distance", "relevance", "unknown"]
Stage = Literal["retrieved", "merged"]
# Said in the JSON Schema; on reading, any text is taken.
Id = Annotated[str, msgspec.Meta(extra_json_schema={"pattern": "^[0-9a-f]{32}$"})]


class TraceHit(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Hold one chunk that a retriever returned.

    `rank` counts from 1. `score` is the store's own number, never converted. `start` and `end` are
    code points of the document, `length` is in characters of the whole text of the hit.
    """

    rank: int
    chunk_id: str
    doc_id: str | None
    score: float | None
    snippet: str
    chunk_index: int | None = None
    start: int | None = None
    end: int | None = None
    heading_path: tuple[str, ...] | None = None
    length: int | None = None
    doc_version: str | None = None
    text: str | None = None
    merged_ids: tuple[str, ...] | None = None
    metadata: dict[str, Any] | None = None
    # Keys that only a newer version knows; they are written back beside the others.
    extra: dict[str, Any] | None = None


class TraceError(msgspec.Struct, frozen=True, kw_only=True):
    """Hold why a retrieval failed: the exception's class name and its message."""

    type: str
    message: str


class Trace(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="schema",
    tag=SCHEMA,
):
    """Hold one retrieval.

    `id` is 32 hex digits. `ts` is the start of the call in Unix seconds, `latency_ms` the duration
    of the retriever alone in milliseconds. `parent_id` is the `id` of the retrieval that this one
    is a part of, `trace_id` that of the whole request. What was made of a retrieval's hits
    afterwards is a record of its own with the same `id` and the stage `merged`. `sample_rate` is
    the chance with which the call was kept. Optional fields are left out of the line when unknown.
    """

    id: Id
    ts: float
    query: str
    top_k: int | None
    hits: tuple[TraceHit, ...]
    latency_ms: float
    question_id: str | None = None
    score_kind: ScoreKind | None = None
    retriever: str | None = None
    run: str | None = None
    trace_id: Id | None = None
    parent_id: Id | None = None
    session_id: str | None = None
    splitter: str | None = None
    stage: Stage | None = None
    sample_rate: float | None = None
    error: TraceError | None = None
    tags: tuple[str, ...] | None = None
    metadata: dict[str, Any] | None = None
    # Keys that only a newer version knows; they are written back beside the others.
    extra: dict[str, Any] | None = None
