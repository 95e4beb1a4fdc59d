"""What can be done with documents after retrieval: LangChain compressors and a retriever."""

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForChainRun,
    CallbackManagerForRetrieverRun,
    Callbacks,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import Runnable
from pydantic import ConfigDict

from ragtrace.langchain.hits import to_document, to_hits
from ragtrace.langchain.outer import OuterRetriever
from ragtrace.langchain.recording import Answer, answer_with
from ragtrace.postprocessing import drop_near_duplicates, merge_adjacent
from ragtrace.postprocessing.sources import default_fill_gap
from ragtrace.tracing import Hit, Tracer, TraceWriter, as_tracer


class HitCompressor(BaseDocumentCompressor):
    """Change what a retriever returned; documents that stay as they are are the same objects.

    Works in `ContextualCompressionRetriever`, as a step of a chain (`retriever | compressor`), and
    by itself. Documents are expected best first.

    Where the retrieval they came from is traced (`TracedRetriever`, `trace_retrieval`), the result
    is written to its trace as stage `merged` under the same id, once after each compressor: the
    last one counts. With a `trace_path` (or `Tracer`) it is always written there.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    tracer: Tracer | None = None

    def __init__(
        self,
        *,
        trace_path: Tracer | TraceWriter | str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        if trace_path is not None:
            settings["tracer"] = as_tracer(trace_path, {})
        super().__init__(**settings)
        self.change([], None)  # says at once what is wrong with the settings

    @abstractmethod
    def change(self, hits: Sequence[Hit], answer: Answer | None) -> Sequence[Hit]:
        """Return the hits that remain, best first."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the documents that remain, best first."""
        return self._compressed(documents, answer_with(documents, query), query)

    def __call__(
        self,
        documents: Sequence[Document],
        run_manager: CallbackManagerForChainRun | None = None,
    ) -> list[Document]:
        """Return the documents that remain, as a step of a chain."""
        chain = run_manager.parent_run_id if run_manager is not None else None
        return self._compressed(documents, answer_with(documents, chain=chain), "")

    def _compressed(
        self, documents: Sequence[Document], answer: Answer | None, query: str
    ) -> list[Document]:
        tracer = self.tracer or (answer.tracer if answer else None)
        call = answer.call if answer else None
        if call is None and tracer is not None:
            call = tracer.start(query, retriever=type(self).__name__)
        scores = answer.scores if answer else {}
        hits = to_hits(documents, [scores.get(id(document)) for document in documents])
        given = {
            (hit.chunk_id, hit.text): document
            for hit, document in zip(hits, documents, strict=True)
        }
        changed = self.change(hits, answer)
        kept = [given.get((hit.chunk_id, hit.text)) or to_document(hit) for hit in changed]
        values = [hit.score for hit in changed]
        if tracer is not None and call is not None:
            kind = answer.score_kind if answer else None
            tracer.finish(call, lambda: to_hits(kept, values), stage="merged", score_kind=kind)
        if answer is not None:  # for a compressor after this one
            answer.scores.update(zip(map(id, kept), values, strict=True))
        return kept


class MergeAdjacentCompressor(HitCompressor):
    r"""Join documents that are neighbours in their source, in place of the better ranked one.

    The settings are those of `ragtrace.postprocessing.merge_adjacent`. `documents` are texts by
    id, or a function that returns one; they let `fill_gap` work, as does `chunk_at`, and restore
    the white space between chunks. Without a word `fill_gap` is 1 where either is given, else 0:
    one to two more passages in a hundred come back whole for 4 to 9 % more context
    (`benchmarks/merge.py`). `higher_is_better` follows from the kind of the scores where a traced
    retrieval knows it. The documents given are never changed.

    >>> chunks = [
    ...     Document(page_content=text, metadata={"doc_id": "a", "chunk_index": index})
    ...     for index, text in ((4, "It is five seconds."), (9, "Ends."), (3, "A timeout exists."))
    ... ]
    >>> merged = MergeAdjacentCompressor().compress_documents(chunks, "How long?")
    >>> [document.page_content for document in merged]
    ['A timeout exists.\n\nIt is five seconds.', 'Ends.']
    """

    fill_gap: int | None = None
    max_length: int | None = None
    length: str | Callable[[str], int] | None = None
    within_section: bool = False
    higher_is_better: bool | None = None
    documents: Any = None
    chunk_at: Any = None

    def change(self, hits: Sequence[Hit], answer: Answer | None) -> Sequence[Hit]:
        """Return the hits, neighbours joined."""
        higher_is_better = self.higher_is_better
        if higher_is_better is None:
            higher_is_better = answer is None or answer.score_kind != "distance"
        return merge_adjacent(
            hits,
            fill_gap=self._gap(),
            max_length=self.max_length,
            length=self.length,
            within_section=self.within_section,
            higher_is_better=higher_is_better,
            documents=self.documents,
            chunk_at=self.chunk_at,
        )

    def _gap(self) -> int:
        if self.fill_gap is not None:
            return self.fill_gap
        return default_fill_gap(self.documents, self.chunk_at)


class NearDuplicateCompressor(HitCompressor):
    """Drop documents that say what better ranked ones already said.

    The settings are those of `ragtrace.postprocessing.drop_near_duplicates`: give more documents
    than `k`, and the freed places are filled.

    >>> texts = ["Keys rotate once a month.", "Keys rotate once a month!", "Logs are kept."]
    >>> documents = [Document(page_content=text) for text in texts]
    >>> kept = NearDuplicateCompressor(k=2).compress_documents(documents, "What rotates?")
    >>> [document.page_content for document in kept]
    ['Keys rotate once a month.', 'Logs are kept.']
    """

    threshold: float = 0.85
    k: int | None = None

    def change(self, hits: Sequence[Hit], answer: Answer | None) -> Sequence[Hit]:
        """Return the hits that repeat no other."""
        return drop_near_duplicates(hits, threshold=self.threshold, k=self.k)


class MergingRetriever(OuterRetriever):
    r"""Retrieve, then join documents that are neighbours in their source.

    Around a `TracedRetriever` both stages are traced. `merger` is any compressor, by default a
    `MergeAdjacentCompressor` with the settings given.

    >>> from langchain_core.runnables import RunnableLambda
    >>> chunks = [
    ...     Document(page_content=text, metadata={"doc_id": "a", "chunk_index": index})
    ...     for index, text in ((1, "It is five seconds."), (0, "A timeout exists."))
    ... ]
    >>> retriever = MergingRetriever(RunnableLambda(lambda query: chunks))
    >>> [document.page_content for document in retriever.invoke("How long?")]
    ['A timeout exists.\n\nIt is five seconds.']
    """

    merger: BaseDocumentCompressor

    def __init__(
        self,
        base_retriever: Runnable[Any, Any],
        merger: BaseDocumentCompressor | None = None,
        *,
        name: str | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if merger is None:
            merger = MergeAdjacentCompressor(**settings)
        elif settings:
            raise ValueError(f"{', '.join(sorted(settings))}: give this to the merger passed in")
        super().__init__(base_retriever, merger=merger, name=name, tags=tags, metadata=metadata)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        found = super()._get_relevant_documents(query, run_manager=run_manager, **kwargs)
        return list(self.merger.compress_documents(found, query, run_manager.get_child()))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        found = await super()._aget_relevant_documents(query, run_manager=run_manager, **kwargs)
        return list(await self.merger.acompress_documents(found, query, run_manager.get_child()))
