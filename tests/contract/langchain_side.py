"""The contract in LangChain's words."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from ragtrace.langchain import (
    DefinitionSplitter,
    HeadingPathSplitter,
    MergeAdjacentCompressor,
    NearDuplicateCompressor,
    SentenceAlignedSplitter,
    TracedRetriever,
    ValidateChunks,
    trace_retrieval,
)
from tests.contract.side import Stored

SPLITTERS: dict[str, Callable[..., Any]] = {
    "sentence-aligned": SentenceAlignedSplitter,
    "heading-path": HeadingPathSplitter,
    "definition": DefinitionSplitter,
}


class FixedStore(VectorStore):
    """Answers any query with the same documents, best first."""

    def __init__(self, stored: Sequence[Stored], error: BaseException | None) -> None:
        self.stored = stored
        self.error = error

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        if self.error is not None:
            raise self.error
        return [(document_of(one), one.score) for one in self.stored[:k]]  # type: ignore[misc]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [doc for doc, _ in self.similarity_search_with_score(query, k, **kwargs)]

    @classmethod
    def from_texts(
        cls, texts: list[str], embedding: Embeddings, metadatas: Any = None, **kwargs: Any
    ) -> "FixedStore":
        return cls([Stored(text) for text in texts], None)


def document_of(stored: Stored) -> Document:
    return Document(page_content=stored.content, metadata=dict(stored.metadata), id=stored.id)


def stored_of(document: Document) -> Stored:
    return Stored(document.page_content, dict(document.metadata), document.id)


class LangChainSide:
    name = "langchain"

    def make_splitter(self, name: str, **settings: Any) -> Any:
        return SPLITTERS[name](**settings)

    def split(self, splitter: Any, documents: Sequence[tuple[str, str]]) -> list[Stored]:
        given = [
            Document(page_content=text, metadata={"doc_id": doc_id}) for doc_id, text in documents
        ]
        return [stored_of(chunk) for chunk in splitter.split_documents(given)]

    def make_retriever(
        self, stored: Sequence[Stored], top_k: int, error: BaseException | None = None
    ) -> Any:
        return FixedStore(stored, error).as_retriever(search_kwargs={"k": top_k})

    def trace(
        self, retriever: Any, queries: Sequence[str], path: Path, **options: Any
    ) -> list[Any]:
        traced = TracedRetriever(retriever, path, **options)
        return [traced.invoke(query) for query in queries]

    async def atrace(
        self, retriever: Any, queries: Sequence[str], path: Path, **options: Any
    ) -> list[Any]:
        traced = TracedRetriever(retriever, path, **options)
        return [await traced.ainvoke(query) for query in queries]

    def observe(self, retriever: Any, queries: Sequence[str], path: Path) -> list[Any]:
        with trace_retrieval(path):
            return [retriever.invoke(query) for query in queries]

    def trace_merged(
        self, retriever: Any, queries: Sequence[str], path: Path, **settings: Any
    ) -> list[Any]:
        chain = TracedRetriever(retriever, path) | MergeAdjacentCompressor(**settings)
        return [chain.invoke(query) for query in queries]

    def observe_merged(
        self, retriever: Any, queries: Sequence[str], path: Path, **settings: Any
    ) -> list[Any]:
        merger = MergeAdjacentCompressor(**settings)
        with trace_retrieval(path):
            return [merger.compress_documents(retriever.invoke(q), q) for q in queries]

    def answers(self, result: Any) -> list[Stored]:
        return [stored_of(document) for document in result]

    def merge(self, stored: Sequence[Stored], **settings: Any) -> list[Stored]:
        return self._compress(MergeAdjacentCompressor(**settings), stored)

    def validate(self, stored: Sequence[Stored], events: Any, **settings: Any) -> list[Stored]:
        documents = [document_of(one) for one in stored]
        passed = ValidateChunks(events, **settings).transform_documents(documents)
        assert passed is documents
        return [stored_of(document) for document in passed]

    def drop_near_duplicates(self, stored: Sequence[Stored], **settings: Any) -> list[Stored]:
        return self._compress(NearDuplicateCompressor(**settings), stored)

    def _compress(self, compressor: Any, stored: Sequence[Stored]) -> list[Stored]:
        documents = compressor.compress_documents([document_of(one) for one in stored], "q")
        return [stored_of(document) for document in documents]


side = LangChainSide()
