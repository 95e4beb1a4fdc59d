"""From a first ingest through an edit and a deletion to a store with nothing stale, on Chroma."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core import Document as LlamaDocument

from ragtrace.boundary import read_store
from ragtrace.chunking import split
from ragtrace.index import (
    DocumentRecord,
    EmbeddingCache,
    chunks_of,
    document_record,
    find_stale,
    sync,
)
from tests.index.test_langchain_stores import CountingEmbeddings
from tests.index.test_llama_index_stores import CountingEmbedding

pytestmark = pytest.mark.stores

PAGES = {
    "keys.md": "Keys rotate every month. The owner is told a week before. " * 6,
    "limits.md": "The limit is thirty seconds. Ask for more if you need it. " * 6,
}
TOKENS = 30


def edited() -> dict[str, str]:
    middle = "Keys rotate every month. The owner is told a week before. " * 3
    return PAGES | {"keys.md": f"{middle}A lost key is reported within the hour. {middle}"}


def splits(pages: dict[str, str]) -> tuple[list[Any], dict[str, DocumentRecord]]:
    chunks = [
        c for name, text in pages.items() for c in split(text, chunk_size=TOKENS, doc_id=name)
    ]
    return chunks, {name: document_record(name, text) for name, text in pages.items()}


def walk(target: Any, read: Any, embedded: list[str], folder: Path) -> None:
    manifest = folder / "chunks.jsonl"
    chunks, documents = splits(PAGES)
    sync(target, chunks, manifest, documents=documents)
    assert len(embedded) == len({chunk.content for chunk in chunks})
    embedded.clear()
    chunks, documents = splits(edited())
    plan = sync(target, chunks, manifest, documents=documents)
    assert 0 < len(embedded) <= len(plan.add)
    assert len(plan.keep) + len(plan.update) >= len(chunks) - len(plan.add)
    assert find_stale(read(), edited()).ids == []
    del documents["keys.md"]
    sync(target, [c for c in chunks if c.doc_id != "keys.md"], manifest, documents=documents)
    left = find_stale(read(), {"limits.md": PAGES["limits.md"]})
    assert (left.ids, left.total) == ([], sum(c.doc_id == "limits.md" for c in chunks))
    assert find_stale(read(), {}).total == len(find_stale(read(), {}).ids)


def test_the_walk_in_langchain(tmp_path: Path) -> None:
    module = pytest.importorskip("langchain_chroma")
    from ragtrace.langchain.sync import CachedEmbeddings, VectorStoreTarget

    counting = CountingEmbeddings()
    cache = EmbeddingCache(tmp_path / "embeddings.db", "words")
    embeddings = CachedEmbeddings(counting, cache)
    store = module.Chroma("pages", embeddings, persist_directory=str(tmp_path / "chroma"))
    walk(VectorStoreTarget(store), lambda: read_store(store), counting.texts, tmp_path)
    cache.close()
    assert {d.metadata["doc_id"] for d in store.similarity_search("keys", k=99)} == {"limits.md"}


def test_the_walk_in_llama_index(tmp_path: Path) -> None:
    stores = pytest.importorskip("llama_index.vector_stores.chroma")
    chromadb = pytest.importorskip("chromadb")
    from llama_index.core import VectorStoreIndex

    from ragtrace.llama_index.sync import IndexTarget

    client = chromadb.PersistentClient(str(tmp_path / "chroma"))
    store = stores.ChromaVectorStore(chroma_collection=client.get_or_create_collection("pages"))
    model = CountingEmbedding(texts=[])
    index = VectorStoreIndex.from_vector_store(store, embed_model=model)
    cache = EmbeddingCache(tmp_path / "embeddings.db", "words")
    target = IndexTarget(index, embed_model=model, cache=cache)
    walk(target, lambda: read_store(store), model.texts, tmp_path)
    cache.close()
    found = index.as_retriever(similarity_top_k=99).retrieve("keys")
    assert {item.node.ref_doc_id for item in found} == {"limits.md"}


def test_what_our_splitters_gave_a_framework_can_be_synced() -> None:
    from ragtrace.langchain import SentenceAlignedSplitter as LangChainSplitter
    from ragtrace.llama_index import SentenceAlignedSplitter as LlamaIndexSplitter

    text = PAGES["keys.md"]
    documents = LangChainSplitter.from_tiktoken_encoder(chunk_size=TOKENS).split_documents(
        [Document(text, metadata={"doc_id": "keys.md", "title": "Keys"})]
    )
    page = LlamaDocument(
        text=text,
        id_="keys.md",
        metadata={"title": "Keys"},
        excluded_embed_metadata_keys=["title"],
        excluded_llm_metadata_keys=["title"],
    )
    nodes = LlamaIndexSplitter(chunk_size=TOKENS).get_nodes_from_documents([page])
    expected = split(text, chunk_size=TOKENS, doc_id="keys.md")
    for items in (documents, nodes):
        chunks = list(chunks_of(items))
        assert [(c.start, c.end, c.content) for c in chunks] == [
            (c.start, c.end, c.content) for c in expected
        ]
        assert {c.metadata["title"] for c in chunks} == {"Keys"}
    with pytest.raises(ValueError, match="item 1 has no document id"):
        list(chunks_of([Document("Hello")]))
