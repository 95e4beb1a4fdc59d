"""Chunks survive real stores and come back to the trace under their readable ids."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import Document
from llama_index.core.vector_stores import SimpleVectorStore

from ragtrace.llama_index import (
    MergeAdjacentPostprocessor,
    SentenceAlignedSplitter,
    TracedRetriever,
)

Lines = Callable[[], list[dict[str, Any]]]

QUERY = "how long is a timeout?"


def simple(tmp_path: Path) -> Any:
    return SimpleVectorStore()


def chroma(tmp_path: Path) -> Any:
    chromadb = pytest.importorskip("chromadb")
    module = pytest.importorskip("llama_index.vector_stores.chroma")
    client = chromadb.PersistentClient(
        str(tmp_path / "chroma"), chromadb.Settings(anonymized_telemetry=False)
    )
    return module.ChromaVectorStore(chroma_collection=client.create_collection("chunks"))


def qdrant(tmp_path: Path) -> Any:
    client = pytest.importorskip("qdrant_client").QdrantClient(":memory:")
    module = pytest.importorskip("llama_index.vector_stores.qdrant")
    return module.QdrantVectorStore("chunks", client=client)


@pytest.mark.stores
# LlamaIndex's class asks for indexes that Qdrant's local mode does without.
@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
@pytest.mark.parametrize(
    ("make", "id_style", "kind"),
    [
        (simple, "chunk_id", "similarity"),
        (chroma, "chunk_id", "relevance"),
        (qdrant, "uuid5", "unknown"),
    ],
)
def test_a_store_gives_back_what_the_splitter_wrote(
    make: Callable[[Path], Any],
    id_style: Any,
    kind: str,
    documents: list[Document],
    embedding: Any,
    path: Path,
    lines: Lines,
    tmp_path: Path,
) -> None:
    context = StorageContext.from_defaults(vector_store=make(tmp_path))
    splitter = SentenceAlignedSplitter(chunk_size=12, id_style=id_style)
    index = VectorStoreIndex.from_documents(
        documents, embed_model=embedding, transformations=[splitter], storage_context=context
    )
    retriever = TracedRetriever(index.as_retriever(similarity_top_k=3), path)
    nodes = retriever.retrieve(QUERY)
    [line] = lines()
    assert line["score_kind"] == kind
    assert [hit["score"] for hit in line["hits"]] == [node.score for node in nodes]
    texts = {document.id_: document.text for document in documents}
    for hit, node in zip(line["hits"], nodes, strict=True):
        assert hit["chunk_id"] == f"{hit['doc_id']}#c{hit['chunk_index']}"
        assert texts[hit["doc_id"]][hit["start"] : hit["end"]] == node.text == hit["snippet"]
        assert (node.node_id == hit["chunk_id"]) is (id_style == "chunk_id")
    merged = MergeAdjacentPostprocessor(documents=texts).postprocess_nodes(
        index.as_retriever(similarity_top_k=20).retrieve(QUERY), query_str=QUERY
    )
    assert sorted(item.text for item in merged) == sorted(texts.values())


@pytest.mark.stores
def test_keyword_retrieval_is_traced_too(
    documents: list[Document], path: Path, lines: Lines
) -> None:
    module = pytest.importorskip("llama_index.retrievers.bm25")
    nodes = SentenceAlignedSplitter(chunk_size=12)(documents)
    retriever = module.BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=2)
    TracedRetriever(retriever, path).retrieve(QUERY)
    [line] = lines()
    assert (line["top_k"], line["score_kind"]) == (2, "relevance")
    assert line["hits"][0]["doc_id"] == "timeouts"
