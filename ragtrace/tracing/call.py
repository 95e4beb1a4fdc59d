"""One retrieval between its start and its end."""

from typing import Any

import msgspec


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what was known when a retrieval began.

    `ts` is in Unix seconds; `started` is the tracer's timer, only good for differences. `sampled`
    says whether its record will be kept; a failure is kept in any case.
    """

    id: str
    ts: float
    started: float
    query: str
    sampled: bool
    top_k: int | None = None
    retriever: str | None = None
    parent_id: str | None = None
    trace_id: str | None = None
    session_id: str | None = None
    question_id: str | None = None
    run: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
