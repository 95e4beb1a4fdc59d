"""A retriever that answers exactly as the one inside it does, and writes a trace of each call."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any, NamedTuple, Self, Unpack

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from typing_extensions import override

from ragtrace.langchain.inspection import (
    choose,
    emits_events,
    labels_of,
    name_of,
    top_k_of,
)
from ragtrace.langchain.outer import OuterRetriever
from ragtrace.langchain.runs import place_of
from ragtrace.langchain.scores import ObservedScores, observe
from ragtrace.tracing import (
    Call,
    Hit,
    Tracer,
    TracerOptions,
    TraceWriter,
    as_tracer,
    tracing_in_progress,
)
from ragtrace.tracing.schema import ScoreKind
from ragtrace.tracing.stored import read_stored


def to_hit(document: Document, rank: int, score: float | None = None) -> Hit:
    """Read a hit from a document; `rank` counts from 1."""
    return read_stored(
        document.page_content, document.metadata, rank=rank, score=score, own_id=document.id
    )


def to_hits(documents: Iterable[Document], scores: Sequence[float | None]) -> list[Hit]:
    """Read hits, best first, each with its score."""
    pairs = zip(documents, scores, strict=True)
    return [to_hit(document, rank, score) for rank, (document, score) in enumerate(pairs, 1)]


class Mark:
    """Mark a call of a `TracedRetriever` while it runs, so that it is written down once.

    The first retriever event below the wrapper is about the very same call: a handler takes it by
    `claim` and writes nothing of its own.
    """

    __slots__ = ("_claimed", "call")

    def __init__(self, call: Call) -> None:
        self.call = call
        self._claimed = False

    def claim(self) -> bool:
        """Take the event that repeats the call; true once."""
        first = not self._claimed
        self._claimed = True
        return first


class Finished(NamedTuple):
    """Hold what a later stage (merging) needs of a traced call: its record, not its documents.

    `scores` are by the `id()` of the documents that came back, all of them.
    """

    tracer: Tracer
    call: Call
    scores: dict[int, float | None]
    score_kind: ScoreKind | None


running: ContextVar[Mark | None] = ContextVar("ragtrace_langchain_running", default=None)
"""The innermost call of a `TracedRetriever` that runs in this context."""

finished: ContextVar[Finished | None] = ContextVar("ragtrace_langchain_finished", default=None)
"""The latest call of a `TracedRetriever` that ended in this context."""


class TracedRetriever(OuterRetriever):
    """Wrap a retriever: the same documents, and one trace line for each call.

    `base_retriever` may be any `Runnable` from a query to documents. `trace_path` is the file, a
    writer or a `Tracer`; the options are those of `ragtrace.tracing.Tracer`. Scores that a
    vector store computes and its retriever drops are recorded without a second query. Whatever
    else the wrapped retriever has (`search_kwargs`, `vectorstore`, `add_documents`) is read and
    set through the wrapper.

    >>> import tempfile, pathlib
    >>> from langchain_core.runnables import RunnableLambda
    >>> from ragtrace.tracing import read_traces
    >>> path = pathlib.Path(tempfile.mkdtemp(), "traces.jsonl")
    >>> search = RunnableLambda(lambda query: [Document(page_content="Five seconds.", id="a#c0")])
    >>> TracedRetriever(search, path).invoke("How long is a timeout?")
    [Document(id='a#c0', metadata={}, page_content='Five seconds.')]
    >>> [(trace.query, trace.hits[0].chunk_id) for trace in read_traces(path)]
    [('How long is a timeout?', 'a#c0')]
    """

    tracer: Tracer

    def __init__(
        self,
        base_retriever: Runnable[Any, Any],
        trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
        *,
        name: str | None = None,
        tracer: Tracer | None = None,
        **options: Unpack[TracerOptions],
    ) -> None:
        fields = {"name": name, "tags": options.get("tags"), "metadata": options.get("metadata")}
        # LangChain makes a configured copy out of the fields, with the tracer among them.
        if tracer is None or options.keys() - fields.keys():
            tracer = as_tracer(tracer or trace_path, options)
        super().__init__(base_retriever, tracer=tracer, **fields)

    @override
    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Ask the wrapped retriever; `config` and `kwargs` reach it as they are."""
        with _Retrieval(self, input, config, kwargs) as retrieval:
            if retrieval.reports_itself:
                documents = retrieval.runnable.invoke(input, retrieval.config, **kwargs)
            else:
                documents = super().invoke(input, config, **kwargs)
            retrieval.documents = documents
        return documents  # type: ignore[no-any-return]  # whatever the runnable answers

    @override
    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Ask the wrapped retriever by its own asynchronous method."""
        with _Retrieval(self, input, config, kwargs) as retrieval:
            if retrieval.reports_itself:
                documents = await retrieval.runnable.ainvoke(input, retrieval.config, **kwargs)
            else:
                documents = await super().ainvoke(input, config, **kwargs)
            retrieval.documents = documents
        return documents  # type: ignore[no-any-return]  # whatever the runnable answers


class _Retrieval:
    """Record one call: begun when it is made, written when the `with` block ends."""

    def __init__(
        self,
        wrapper: TracedRetriever,
        query: Any,
        config: RunnableConfig | None,
        kwargs: Mapping[str, Any],
    ) -> None:
        runnable, self.config = choose(wrapper.base_retriever, config)
        self.reports_itself = emits_events(runnable)
        self.documents: Any = None
        self._tracer = wrapper.tracer
        self._scores = ObservedScores()
        surroundings = ensure_config(config)
        place = place_of(surroundings)
        self._call = self._tracer.start(
            query,
            top_k=top_k_of(runnable, kwargs),
            retriever=wrapper.name or name_of(runnable),
            id=kwargs.get("run_id"),
            parent=place.call if place else None,
            trace_id=place.trace_id if place else None,
            **labels_of(surroundings.get("metadata") or {}),
        )
        self.runnable = observe(runnable, self._scores) if self._call.sampled else runnable

    def __enter__(self) -> Self:
        self._progress = tracing_in_progress(self._call)
        self._progress.__enter__()
        self._token = running.set(Mark(self._call))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        running.reset(self._token)
        self._progress.__exit__(None, None, None)
        if error is not None:
            self._tracer.fail(self._call, error)
            return
        if not self._call.sampled:
            return
        scores, score_kind = self._scores.read(self.documents)
        self._tracer.finish(
            self._call, lambda: to_hits(self.documents, scores), score_kind=score_kind
        )
        by_identity = dict(zip(map(id, self.documents), scores, strict=True)) if scores else {}
        finished.set(Finished(self._tracer, self._call, by_identity, score_kind))
