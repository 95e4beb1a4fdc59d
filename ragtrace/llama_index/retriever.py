"""A retriever that answers exactly as the one inside it does, and writes a trace of each call."""

import os
from collections.abc import Callable
from typing import Any, TypeVar, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR

from ragtrace.llama_index.recording import Recording
from ragtrace.tracing import ScoreKind, Tracer, TracerOptions, TraceWriter, as_tracer

Method = TypeVar("Method", bound=Callable[..., Any])


def _without_span(method: Method) -> Method:
    """Keep LlamaIndex from making a span of a method that only passes a call on.

    It does so for every override; other tools would then see each retrieval twice.
    """
    setattr(method, DISPATCHER_SPAN_DECORATED_ATTR, True)
    return method


class TracedRetriever(BaseRetriever):
    """Wrap a retriever: the same nodes, and one trace line for each call.

    `trace_path` is the file, a writer or a `Tracer`; the options are those of
    `ragtrace.tracing.Tracer`. `score_kind` says which way scores run where their store is not known
    here. Whatever else the wrapped retriever has (`similarity_top_k`, prompts, callbacks) is read
    and set through the wrapper; other tools see one retrieval, the inner one's.

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
    def base_retriever(self) -> BaseRetriever:
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
