"""A retriever that answers exactly as the one inside it does, and writes a trace of each call."""

import os
from typing import Any, Unpack

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from typing_extensions import override

from ragtrace.langchain.outer import OuterRetriever
from ragtrace.langchain.recording import Recording
from ragtrace.tracing import ScoreKind, Tracer, TracerOptions, TraceWriter, as_tracer


class TracedRetriever(OuterRetriever):
    """Wrap a retriever: the same documents, and one trace line for each call.

    `base_retriever` may be any `Runnable` from a query to documents. `trace_path` is the file, a
    writer or a `Tracer`; the options are those of `ragtrace.tracing.Tracer`. Scores that a
    vector store computes and its retriever drops are recorded without a second query; `score_kind`
    says which way they run where their store is not known here. Whatever else the wrapped retriever
    has (`search_kwargs`, `vectorstore`, `add_documents`) is read and set through the wrapper.

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
    score_kind: ScoreKind | None = None

    def __init__(
        self,
        base_retriever: Runnable[Any, Any],
        trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
        *,
        name: str | None = None,
        score_kind: ScoreKind | None = None,
        tracer: Tracer | None = None,
        **options: Unpack[TracerOptions],
    ) -> None:
        fields = {"name": name, "tags": options.get("tags"), "metadata": options.get("metadata")}
        # LangChain makes a configured copy out of the fields, with the tracer among them.
        if tracer is None or options.keys() - fields.keys():
            tracer = as_tracer(tracer or trace_path, options)
        super().__init__(base_retriever, tracer=tracer, score_kind=score_kind, **fields)

    @override
    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Ask the wrapped retriever; `config` and `kwargs` reach it as they are."""
        with self._record(input, config, kwargs) as recording:
            if recording.reports_itself:
                documents = recording.runnable.invoke(input, recording.config, **kwargs)
            else:
                documents = super().invoke(input, config, **kwargs)
            recording.documents = documents
        return documents  # type: ignore[no-any-return]  # whatever the runnable answers

    @override
    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Ask the wrapped retriever by its own asynchronous method."""
        with self._record(input, config, kwargs) as recording:
            if recording.reports_itself:
                documents = await recording.runnable.ainvoke(input, recording.config, **kwargs)
            else:
                documents = await super().ainvoke(input, config, **kwargs)
            recording.documents = documents
        return documents  # type: ignore[no-any-return]  # whatever the runnable answers

    def _record(
        self, query: Any, config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> Recording:
        return Recording(
            self.tracer,
            self.base_retriever,
            query,
            config,
            kwargs,
            name=self.name,
            score_kind=self.score_kind,
        )
