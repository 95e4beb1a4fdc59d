"""A retriever that answers exactly as the one inside it does, and writes a trace of each call."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, TypeVar, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR

from ragtrace.llama_index.inspection import (
    labels_of_context,
    name_of,
    score_kind_of,
    top_k_of,
)
from ragtrace.tracing import (
    Call,
    Hit,
    ScoreKind,
    Tracer,
    TracerOptions,
    TraceWriter,
    as_tracer,
    current_call,
    read_stored,
    tracing_in_progress,
)

Method = TypeVar("Method", bound=Callable[..., Any])


def to_hit(item: NodeWithScore, rank: int) -> Hit:
    """Read a hit from a scored node; `rank` counts from 1."""
    node = item.node
    return read_stored(
        node.get_content(metadata_mode=MetadataMode.NONE),
        node.metadata,
        rank=rank,
        score=item.score,
        own_id=node.node_id,
        doc_id=node.ref_doc_id,
        span=(getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)),
    )


def to_hits(items: Iterable[NodeWithScore]) -> list[Hit]:
    """Read hits, best first."""
    return [to_hit(item, rank) for rank, item in enumerate(items, 1)]


class Answer(NamedTuple):
    """Hold a retrieval that has ended, for what postprocessors will make of its nodes."""

    call: Call
    tracer: Tracer
    recorder: object
    score_kind: ScoreKind
    node_ids: set[str]
    is_open: Callable[[], bool]


_recordings: ContextVar[tuple["Recording", ...]] = ContextVar("ragtrace_recordings", default=())
_answers: ContextVar[tuple[Answer, ...]] = ContextVar("ragtrace_answers", default=())
"""The last retrieval that each handler, and any wrapper, has recorded in this context."""


class Recording:
    """Record one retrieval, from when it is made until `answered` or `failed`.

    `recorder` is the handler that heard of the retrieval, `None` for a wrapper.
    """

    def __init__(
        self,
        tracer: Tracer,
        retriever: BaseRetriever,
        query: QueryType,
        *,
        recorder: object = None,
        name: str | None = None,
        score_kind: ScoreKind | None = None,
        is_open: Callable[[], bool] = lambda: True,
    ) -> None:
        self.retriever = retriever
        self.recorder = recorder
        self._tracer = tracer
        self._score_kind = score_kind
        self._is_open = is_open
        around = _recordings.get()
        parents = [one.call for one in around if one.is_for(recorder)]
        # Another handler's record of this very retrieval is no parent of it.
        self._before: Call | None = around[0]._before if around else current_call()
        with tracing_in_progress(parents[-1] if parents else self._before):
            self.call: Call = tracer.start(
                getattr(query, "query_str", query),
                top_k=top_k_of(retriever),
                retriever=name or name_of(retriever),
                **labels_of_context(),
            )
        _recordings.set((*around, self))
        _now_in_progress(self.call)

    def is_for(self, recorder: object) -> bool:
        """Say whether `recorder` would repeat this record with one of its own."""
        return self.recorder is None or self.recorder is recorder

    def answered(self, nodes: Sequence[NodeWithScore]) -> None:
        """Write what came back."""
        self._leave()
        others = tuple(
            one for one in _answers.get() if one.recorder is not self.recorder and one.is_open()
        )
        if not self.call.sampled:
            _answers.set(others)
            return
        kind = self._score_kind or score_kind_of(self.retriever)
        answer = Answer(self.call, self._tracer, self.recorder, kind, set(), self._is_open)
        _answers.set((*others, answer))
        self._tracer.finish(self.call, partial(_noted, answer, nodes), score_kind=kind)

    def failed(self, error: BaseException) -> None:
        """Write why nothing came back."""
        self._leave()
        self._tracer.fail(self.call, error)

    def _leave(self) -> None:
        # Not by tokens: two handlers end their records of one retrieval in the order they began.
        rest = tuple(one for one in _recordings.get() if one is not self)
        _recordings.set(rest)
        _now_in_progress(rest[-1].call if rest else self._before)


def _now_in_progress(call: Call | None) -> None:
    tracing_in_progress(call).__enter__()


def is_recorded(retriever: object, recorder: object) -> bool:
    """Say whether a call of this retriever is being written down by a wrapper or `recorder`."""
    return any(one.retriever is retriever and one.is_for(recorder) for one in _recordings.get())


def answers_with(
    nodes: Sequence[NodeWithScore], query: QueryBundle | None, recorder: object = None
) -> list[Answer]:
    """Return the recorded retrievals, of one handler or of all, that these nodes came from."""
    return [
        answer
        for answer in _answers.get()
        if recorder is None or recorder is answer.recorder
        if _came_from(answer, nodes, query)
    ]


def record_postprocessed(
    answers: Sequence[Answer],
    kept: Sequence[NodeWithScore],
    query: QueryBundle | None,
    tracer: Tracer | None = None,
) -> None:
    """Write what a postprocessor made of a retrieval's nodes, as its stage `merged`.

    It goes to the retrieval's own trace, or to `tracer`, which also takes what came from no
    recorded retrieval.
    """
    for answer in answers[:1] if tracer is not None else answers:
        (tracer or answer.tracer).finish(
            answer.call,
            partial(_noted, answer, kept),
            score_kind=answer.score_kind,
            stage="merged",
        )
    if tracer is not None and not answers:
        call = tracer.start("" if query is None else query.query_str)
        tracer.finish(call, lambda: to_hits(kept), stage="merged")


def _came_from(answer: Answer, given: Sequence[NodeWithScore], query: QueryBundle | None) -> bool:
    same_query = query is None or query.query_str == answer.call.query
    return (
        same_query
        # What the whole of a nested retrieval returns is what counts, not its parts.
        and answer.call.parent_id is None
        and answer.is_open()
        and answer.node_ids.issuperset(item.node.node_id for item in given)
    )


def _noted(answer: Answer, nodes: Sequence[NodeWithScore]) -> list[Hit]:
    answer.node_ids.update(item.node.node_id for item in nodes)
    return to_hits(nodes)


def _without_span(method: Method) -> Method:
    """Keep LlamaIndex from making a span of a method that only passes a call on.

    It does so for every override; other tools would then see each retrieval twice.
    """
    setattr(method, DISPATCHER_SPAN_DECORATED_ATTR, True)
    return method


class TracedRetriever(BaseRetriever):
    """Wrap a retriever: the same nodes, and one trace line for each call.

    Everything else of the wrapped retriever (`similarity_top_k`, prompts, callbacks) is read and
    set through the wrapper; other tools see one retrieval, the inner one's. The options are those
    of `ragtrace.tracing.Tracer`, which may be given itself in place of a path.

    >>> import tempfile, pathlib
    >>> from llama_index.core.schema import TextNode
    >>> from ragtrace.tracing import read_traces
    >>> class Search(BaseRetriever):
    ...     def _retrieve(self, query_bundle):
    ...         return [NodeWithScore(node=TextNode(text="Five seconds.", id_="a#c0"), score=0.5)]
    >>> path = pathlib.Path(tempfile.mkdtemp(), "traces.jsonl")
    >>> [item.text for item in TracedRetriever(Search(), path).retrieve("How long is a timeout?")]
    ['Five seconds.']
    >>> [(trace.query, trace.hits[0].chunk_id) for trace in read_traces(path)]
    [('How long is a timeout?', 'a#c0')]
    """

    _OWN = frozenset({"_inner", "_tracer", "_name", "_score_kind"})

    def __init__(
        self,
        base_retriever: BaseRetriever,
        trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
        *,
        name: str | None = None,
        score_kind: ScoreKind | None = None,
        **options: Unpack[TracerOptions],
    ) -> None:
        if not callable(getattr(base_retriever, "retrieve", None)):
            kind = type(base_retriever).__name__
            raise ValueError(f"{kind} is not a retriever: of an index, pass index.as_retriever()")
        # The base class is not initialised: its attributes are the inner retriever's, shared.
        self._inner = base_retriever
        self._tracer = as_tracer(trace_path, options)
        self._name = name
        self._score_kind = score_kind

    @property
    def inner(self) -> BaseRetriever:
        """Return the wrapped retriever."""
        return self._inner

    @property
    def tracer(self) -> Tracer:
        """Return what writes the traces."""
        return self._tracer

    @_without_span
    def retrieve(self, str_or_query_bundle: QueryType) -> list[NodeWithScore]:
        """Ask the wrapped retriever."""
        recording = self._start(str_or_query_bundle)
        try:
            nodes = self._inner.retrieve(str_or_query_bundle)
        except BaseException as error:
            recording.failed(error)
            raise
        recording.answered(nodes)
        return nodes

    @_without_span
    async def aretrieve(self, str_or_query_bundle: QueryType) -> list[NodeWithScore]:
        """Ask the wrapped retriever by its own asynchronous method."""
        recording = self._start(str_or_query_bundle)
        try:
            nodes = await self._inner.aretrieve(str_or_query_bundle)
        except BaseException as error:
            recording.failed(error)
            raise
        recording.answered(nodes)
        return nodes

    def _start(self, query: QueryType) -> Recording:
        return Recording(
            self._tracer, self._inner, query, name=self._name, score_kind=self._score_kind
        )

    @_without_span
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._inner._retrieve(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._inner._aretrieve(query_bundle=query_bundle)

    def _get_prompts(self) -> PromptDictType:
        return self._inner._get_prompts()

    def _get_prompt_modules(self) -> PromptMixinType:
        return self._inner._get_prompt_modules()

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._inner._update_prompts(prompts)

    def __getattr__(self, name: str) -> Any:
        # While a copy is being made there is no inner retriever yet to ask.
        if name in self._OWN or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._OWN or not hasattr(self._inner, name):
            object.__setattr__(self, name, value)
        else:
            setattr(self._inner, name, value)
