"""The demo's two indexes in LangChain: its recursive splitter, and ours."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter, TextSplitter
from typing_extensions import override

from ragtrace.chunking import Chunk
from ragtrace.chunking.lengths import length_function
from ragtrace.index import Bm25Retriever
from ragtrace.langchain.retriever import TracedRetriever
from ragtrace.langchain.splitters import SentenceAlignedSplitter

LENGTH = "cl100k_base"


def make_splitters(chunk_size: int) -> dict[str, TextSplitter]:
    """Return the framework's own splitter and ours, both at so many tokens."""
    own = RecursiveCharacterTextSplitter(
        chunk_size=chunk_size,
        chunk_overlap=0,
        length_function=length_function(LENGTH),
        add_start_index=True,
    )
    ours = SentenceAlignedSplitter.from_tiktoken_encoder(LENGTH, chunk_size=chunk_size)
    return {type(own).__name__: own, type(ours).__name__: ours}


def split_documents(splitter: TextSplitter, documents: Mapping[str, str]) -> list[Chunk]:
    """Split documents as a user would, and read the chunks back with their offsets."""
    chunks: list[Chunk] = []
    for doc_id, text in documents.items():
        given = [Document(page_content=text, metadata={"doc_id": doc_id})]
        for index, document in enumerate(splitter.split_documents(given)):
            start, content = document.metadata["start_index"], document.page_content
            chunks.append(Chunk(doc_id, index, start, start + len(content), content))
    return chunks


class KeywordStore(VectorStore):
    """Serve chunks by BM25 the way a vector store serves them by vectors."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._retriever = Bm25Retriever(chunks)

    @override
    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        found = []
        for hit in self._retriever.search(query, k):
            metadata = {
                "doc_id": hit.doc_id,
                "chunk_id": hit.chunk_id,
                "chunk_index": hit.chunk_index,
                "start_index": hit.start,
            }
            found.append((Document(page_content=hit.text, metadata=metadata), hit.score or 0.0))
        return found

    @override
    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [document for document, _ in self.similarity_search_with_score(query, k)]

    @classmethod
    @override
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> Self:
        return cls(Chunk("text", index, 0, len(text), text) for index, text in enumerate(texts))


def make_retriever(chunks: Iterable[Chunk], trace_path: str) -> TracedRetriever:
    """Index the chunks; the one line a user changes is the last."""
    retriever = KeywordStore(chunks).as_retriever()
    return TracedRetriever(retriever, trace_path)
