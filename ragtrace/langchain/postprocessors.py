"""What can be done with documents after retrieval: LangChain compressors and a retriever."""

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
    Callbacks,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import Runnable
from pydantic import ConfigDict

from ragtrace.langchain.outer import OuterRetriever
from ragtrace.langchain.retriever import Finished, finished, to_hit
from ragtrace.postprocessing import drop_near_duplicates, merge_adjacent
from ragtrace.tracing import Hit, Tracer, TraceWriter, as_tracer, stored_metadata


def to_document(hit: Hit) -> Document:
    """Make a document of a hit that was made after retrieval."""
    return Document(page_content=hit.text, metadata=stored_metadata(hit), id=hit.chunk_id)


class HitCompressor(BaseDocumentCompressor):
    """Change what a retriever returned; documents that stay as they are are the same objects.

    Works in `ContextualCompressionRetriever`, as a step of a chain (`retriever | compressor`), and
    by itself. Documents are expected best first.

    Where they come straight from a `TracedRetriever`, the result is written to its trace as stage
    `merged`, joined by `parent_id`; with a `trace_path` (or `Tracer`) it is always written there. A
    step of a chain learns of neither query nor retrieval and writes nothing: to have both stages
    there, put the retriever into a `MergingRetriever`.
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
    def change(self, hits: Sequence[Hit], retrieval: Finished | None) -> Sequence[Hit]:
        """Return the hits that remain, best first."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the documents that remain, best first."""
        retrieval = _retrieval_of(documents, query)
        tracer = self.tracer or (retrieval.tracer if retrieval else None)
        if tracer is None:
            return self._compressed(documents, retrieval)[1]
        call = tracer.start(
            query,
            top_k=retrieval.call.top_k if retrieval else None,
            retriever=type(self).__name__,
            parent=retrieval.call if retrieval else None,
        )
        try:
            hits, remaining = self._compressed(documents, retrieval)
        except Exception as error:
            tracer.fail(call, error)
            raise
        score_kind = retrieval.score_kind if retrieval else None
        tracer.finish(call, lambda: hits, stage="merged", score_kind=score_kind)
        return remaining

    def __call__(self, documents: Sequence[Document]) -> list[Document]:
        """Return the documents that remain, as a step of a chain."""
        return self._compressed(documents, None)[1]

    def _compressed(
        self, documents: Sequence[Document], retrieval: Finished | None
    ) -> tuple[Sequence[Hit], list[Document]]:
        scores = retrieval.scores if retrieval else {}
        hits = [
            to_hit(document, rank, scores.get(id(document)))
            for rank, document in enumerate(documents, 1)
        ]
        given = {
            (hit.chunk_id, hit.text): document
            for hit, document in zip(hits, documents, strict=True)
        }
        changed = self.change(hits, retrieval)
        return changed, [given.get((hit.chunk_id, hit.text)) or to_document(hit) for hit in changed]


class MergeAdjacentCompressor(HitCompressor):
    r"""Join documents that are neighbours in their source, in place of the better ranked one.

    The settings are those of `ragtrace.postprocessing.merge_adjacent`; `higher_is_better` follows
    from the kind of the scores where that is known.

    >>> chunks = [
    ...     Document(page_content=text, metadata={"doc_id": "a", "chunk_index": index})
    ...     for index, text in ((4, "It is five seconds."), (9, "Ends."), (3, "A timeout exists."))
    ... ]
    >>> merged = MergeAdjacentCompressor().compress_documents(chunks, "How long?")
    >>> [document.page_content for document in merged]
    ['A timeout exists.\n\nIt is five seconds.', 'Ends.']
    """

    fill_gap: int = 0
    max_length: int | None = None
    length: str | Callable[[str], int] | None = None
    within_section: bool = False
    higher_is_better: bool | None = None
    documents: Any = None
    chunk_at: Any = None

    def change(self, hits: Sequence[Hit], retrieval: Finished | None) -> Sequence[Hit]:
        """Return the hits, neighbours joined."""
        higher_is_better = self.higher_is_better
        if higher_is_better is None:
            higher_is_better = retrieval is None or retrieval.score_kind != "distance"
        return merge_adjacent(
            hits,
            fill_gap=self.fill_gap,
            max_length=self.max_length,
            length=self.length,
            within_section=self.within_section,
            higher_is_better=higher_is_better,
            documents=self.documents,
            chunk_at=self.chunk_at,
        )


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

    def change(self, hits: Sequence[Hit], retrieval: Finished | None) -> Sequence[Hit]:
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


def _retrieval_of(documents: Sequence[Document], query: str) -> Finished | None:
    """Return the traced call that these documents came from, if it is the latest here.

    A call within another retrieval is left to that one: what it returns is what it records.
    """
    latest = finished.get()
    if latest is None or latest.call.parent_id is not None or latest.call.query != query:
        return None
    came_from_it = documents and all(id(document) in latest.scores for document in documents)
    return latest if came_from_it else None
