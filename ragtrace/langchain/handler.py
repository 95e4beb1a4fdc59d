"""A callback handler that writes a trace line for every retriever of a chain or an agent."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Unpack
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.tracers.context import register_configure_hook

from ragtrace.langchain.inspection import labels_of
from ragtrace.langchain.recording import forget_answer, record_answer, running
from ragtrace.langchain.runs import Place, RunTracker
from ragtrace.langchain.scores import ObservedScores
from ragtrace.tracing import Tracer, TracerOptions, TraceWriter, as_tracer


class NotFinishedError(Exception):
    """Say that the end of a retrieval was never reported: cancelled, timed out or still running."""


class TraceCallbackHandler(RunTracker):
    """Write one trace line for each retriever run that LangChain reports.

    Pass it as a callback of any chain, agent or retriever; nothing in them changes. A retriever
    that another one calls (Ensemble, MultiQuery) is linked to it by `parent_id`, all retrievals of
    one request share a `trace_id`. Events carry neither scores nor k: wrap a retriever in
    `TracedRetriever` for those; both together write one line. LangChain reports no end of a call
    that is cancelled or times out: `close` writes those down with a `NotFinishedError`.

    `trace_path` is the file, a writer or a `Tracer`; the options are those of
    `ragtrace.tracing.Tracer`.

    >>> import tempfile, pathlib
    >>> from langchain_core.vectorstores import InMemoryVectorStore
    >>> from langchain_core.embeddings import DeterministicFakeEmbedding
    >>> from ragtrace.tracing import read_traces
    >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    >>> _ = store.add_documents([Document(page_content="Five seconds.", id="a#c0")])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "traces.jsonl")
    >>> handler = TraceCallbackHandler(path)
    >>> _ = store.as_retriever().invoke("How long?", {"callbacks": [handler]})
    >>> [trace.query for trace in read_traces(path)]
    ['How long?']
    """

    def __init__(
        self,
        trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
        **options: Unpack[TracerOptions],
    ) -> None:
        super().__init__()
        self.tracer = as_tracer(trace_path, options)

    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin a retrieval, unless a wrapper around it has begun it."""
        place = self.place_below(parent_run_id, run_id)
        mark = running.get()
        if mark is not None and mark.claim():
            self._runs.put(run_id, Place(mark.call, place.trace_id))
            return
        call = self.tracer.start(
            query,
            retriever=kwargs.get("name"),
            id=run_id,
            parent=place.call,
            trace_id=place.trace_id,
            tags=tags or (),
            **labels_of(metadata or {}),
        )
        self._runs.put(run_id, Place(call, place.trace_id, ours=True))

    def on_retriever_end(
        self,
        documents: Sequence[Document],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Write the retrieval."""
        place = self._runs.pop(run_id)
        if place is not None and place.ours and place.call is not None:
            record_answer(self.tracer, place.call, documents, ObservedScores(), chain=parent_run_id)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Write the failure."""
        place = self._runs.pop(run_id)
        if place is not None and place.ours and place.call is not None:
            self.tracer.fail(place.call, error)

    def close(self) -> None:
        """Write down what never ended, and close the file; the next retrieval opens it again."""
        for place in self._runs.clear():
            if place.ours and place.call is not None:
                self.tracer.fail(place.call, NotFinishedError("no end was reported"))
        self.tracer.writer.close()


_active: ContextVar[TraceCallbackHandler | None] = ContextVar("ragtrace_langchain", default=None)
register_configure_hook(_active, inheritable=True)


@contextmanager
def trace_retrieval(
    trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
    **options: Unpack[TracerOptions],
) -> Iterator[TraceCallbackHandler]:
    """Trace every LangChain retriever that runs in the block, with no change to it.

    Holds for what the block calls and for the tasks it starts; a thread started by hand sees it
    only in a copy of the context. Inside another `trace_retrieval` the inner one writes.
    """
    handler = TraceCallbackHandler(trace_path, **options)
    token = _active.set(handler)
    try:
        yield handler
    finally:
        _active.reset(token)
        forget_answer(handler.tracer)
        handler.close()
