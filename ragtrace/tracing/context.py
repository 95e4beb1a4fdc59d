"""What is known around a retrieval: whose run it belongs to, and which call is in progress."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from ragtrace.tracing.call import Call


class TraceContext(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what every retrieval inside a `trace_context` is recorded with."""

    question_id: str | None = None
    run: str | None = None
    session_id: str | None = None
    trace_id: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None


_NOTHING = TraceContext()
_context: ContextVar[TraceContext] = ContextVar("ragtrace_context", default=_NOTHING)
_call: ContextVar["Call | None"] = ContextVar("ragtrace_call", default=None)


@contextmanager
def trace_context(
    *,
    question_id: str | None = None,
    run: str | None = None,
    session_id: str | None = None,
    trace_id: str | None = None,
    tags: tuple[str, ...] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Iterator[None]:
    """Record every retrieval inside, in whatever framework, with these values.

    Contexts nest: what an inner one does not say holds as the outer one said it; tags and metadata
    add up. Threads and tasks started inside see it where they copy the context, as asyncio does.

    >>> with trace_context(run="nightly", question_id="q7"):
    ...     current_context().run
    'nightly'
    """
    outer = _context.get()
    inner = TraceContext(
        question_id=question_id if question_id is not None else outer.question_id,
        run=run if run is not None else outer.run,
        session_id=session_id if session_id is not None else outer.session_id,
        trace_id=trace_id if trace_id is not None else outer.trace_id,
        tags=outer.tags + tuple(tag for tag in tags if tag not in outer.tags),
        metadata={**(outer.metadata or {}), **metadata} if metadata else outer.metadata,
    )
    token = _context.set(inner)
    try:
        yield
    finally:
        _context.reset(token)


def current_context() -> TraceContext:
    """Return what the enclosing `trace_context` says."""
    return _context.get()


class tracing_in_progress:  # noqa: N801  # a context manager reads like a function
    """Mark that a wrapper records this call while the retriever inside runs.

    Calls started inside become its children, and a handler that hears of the same retrieval asks
    `current_call()` and leaves the record to the wrapper.
    """

    __slots__ = ("_call", "_token")

    def __init__(self, call: "Call | None") -> None:
        self._call = call

    def __enter__(self) -> None:
        self._token = _call.set(self._call)

    def __exit__(self, *details: object) -> None:
        _call.reset(self._token)


def current_call() -> "Call | None":
    """Return the call that a wrapper is recording here and now, if any."""
    return _call.get()
