"""The demo's two indexes in LlamaIndex: its sentence splitter, and ours."""

from collections.abc import Iterable, Mapping

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.node_parser import NodeParser, SentenceSplitter
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode
from typing_extensions import override

from ragtrace.chunking import Chunk
from ragtrace.index import Bm25Retriever
from ragtrace.llama_index.retriever import TracedRetriever
from ragtrace.llama_index.splitters import SentenceAlignedSplitter

LENGTH = "cl100k_base"


def make_splitters(chunk_size: int) -> dict[str, NodeParser]:
    """Return the framework's own splitter and ours, both at so many tokens."""
    own = SentenceSplitter(chunk_size=chunk_size, chunk_overlap=0, include_metadata=False)
    ours = SentenceAlignedSplitter(chunk_size=chunk_size)
    return {type(own).__name__: own, type(ours).__name__: ours}


def split_documents(splitter: NodeParser, documents: Mapping[str, str]) -> list[Chunk]:
    """Split documents as a user would, and read the chunks back with their offsets."""
    chunks: list[Chunk] = []
    for doc_id, text in documents.items():
        nodes = splitter.get_nodes_from_documents([Document(text=text, id_=doc_id)])
        for index, node in enumerate(nodes):
            if not isinstance(node, TextNode) or node.start_char_idx is None:
                raise ValueError(f"a node of {doc_id!r} has no offset")
            start = node.start_char_idx
            chunks.append(Chunk(doc_id, index, start, start + len(node.text), node.text))
    return chunks


class KeywordRetriever(BaseRetriever):
    """Serve chunks by BM25 as LlamaIndex nodes."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        super().__init__()
        self._retriever = Bm25Retriever(chunks)
        self.similarity_top_k = 2

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = []
        for hit in self._retriever.search(query_bundle.query_str, self.similarity_top_k):
            metadata = {
                "doc_id": hit.doc_id,
                "chunk_id": hit.chunk_id,
                "chunk_index": hit.chunk_index,
            }
            node = TextNode(
                id_=hit.chunk_id,
                text=hit.text,
                metadata=metadata,
                start_char_idx=hit.start,
                end_char_idx=hit.end,
            )
            found.append(NodeWithScore(node=node, score=hit.score))
        return found


def make_retriever(chunks: Iterable[Chunk], trace_path: str) -> TracedRetriever:
    """Index the chunks; the one line a user changes is the last."""
    retriever = KeywordRetriever(chunks)
    return TracedRetriever(retriever, trace_path)
