"""Real LangChain stores follow their documents: nothing stale, nothing embedded twice."""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragtrace.index import document_record, permission_filter, sync
from ragtrace.index.embedding_cache import EmbeddingCache
from tests.index.stores import DELETED, EDITED, FIRST, GUIDE, SIZE, chunks_of, embed

pytest.importorskip("langchain_core")

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from ragtrace.langchain.sync import CachedEmbeddings, VectorStoreTarget, content_key


class CountingEmbeddings(Embeddings):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return embed(text)


def in_memory(embeddings: Embeddings, folder: Path) -> VectorStore:
    return InMemoryVectorStore(embeddings)


def chroma(embeddings: Embeddings, folder: Path) -> VectorStore:
    module = pytest.importorskip("langchain_chroma")
    return module.Chroma("chunks", embeddings, persist_directory=str(folder / "chroma"))


def qdrant(embeddings: Embeddings, folder: Path) -> VectorStore:
    module = pytest.importorskip("langchain_qdrant")
    client_module = pytest.importorskip("qdrant_client")
    client = client_module.QdrantClient(path=str(folder / "qdrant"))
    parameters = client_module.models.VectorParams(size=SIZE, distance="Cosine")
    client.create_collection("chunks", vectors_config=parameters)
    return module.QdrantVectorStore(client, "chunks", embeddings)


def faiss(embeddings: Embeddings, folder: Path) -> VectorStore:
    faiss_module = pytest.importorskip("faiss")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # langchain-community announces its own end
        stores = pytest.importorskip("langchain_community.vectorstores")
        docstores = pytest.importorskip("langchain_community.docstore.in_memory")
    return stores.FAISS(
        embeddings, faiss_module.IndexFlatL2(SIZE), docstores.InMemoryDocstore(), {}
    )


def pgvector(embeddings: Embeddings, folder: Path, address: str) -> VectorStore:
    module = pytest.importorskip("langchain_postgres")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # langchain-postgres announces a successor
        return module.PGVector(embeddings, connection=address, collection_name=folder.name)


STORES: dict[str, Callable[..., VectorStore]] = {
    "in_memory": in_memory,
    "chroma": chroma,
    "qdrant": qdrant,
    "faiss": faiss,
    "pgvector": pgvector,
}
WRITE_METADATA_ALONE = ("chroma", "qdrant")


@pytest.fixture(params=[pytest.param(n, marks=pytest.mark.stores) for n in STORES])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[VectorStore, Any]]:
    embeddings = CountingEmbeddings()
    vectors = EmbeddingCache(tmp_path / "embeddings.db", "words")
    cached = CachedEmbeddings(embeddings, vectors)
    embedder = embeddings if request.param in WRITE_METADATA_ALONE else cached
    address = (request.getfixturevalue("postgres"),) if request.param == "pgvector" else ()
    store = STORES[request.param](embedder, tmp_path, *address)
    embeddings.texts.clear()  # Qdrant's class tries the embedder out
    yield store, embeddings
    vectors.close()
    if hasattr(store, "client"):
        store.client.close()
    if hasattr(store, "_engine"):
        store._engine.dispose()


def texts_in(store: VectorStore) -> list[str]:
    return sorted(document.page_content for document in store.similarity_search("keys limit", k=50))


def test_a_store_follows_an_edit_a_shorter_page_and_a_deletion(
    made: tuple[VectorStore, CountingEmbeddings], tmp_path: Path
) -> None:
    store, embeddings = made
    target, manifest = VectorStoreTarget(store), tmp_path / "chunks.jsonl"
    sync(target, FIRST, manifest)
    assert len(embeddings.texts) == 5
    for chunks in (EDITED, DELETED):
        sync(target, chunks, manifest)
        assert texts_in(store) == sorted(chunk.content for chunk in chunks)
    assert embeddings.texts[5:] == ["Keys rotate every week. "]
    [moved] = store.similarity_search("limit thirty seconds", k=1)
    assert moved.metadata["start_index"] == len("Keys rotate every week. ")
    assert moved.metadata["chunk_id"] == "guide#c1"
    assert sync(target, DELETED, manifest).changes_nothing


def test_a_withdrawn_permission_is_gone_from_the_store_and_nothing_is_embedded_for_it(
    made: tuple[VectorStore, CountingEmbeddings], tmp_path: Path
) -> None:
    store, embeddings = made
    target, manifest = VectorStoreTarget(store), tmp_path / "chunks.jsonl"
    chunks, text = chunks_of("guide", GUIDE), "".join(GUIDE)
    for labels in (["staff", "admin"], ["admin"]):
        record = document_record("guide", text, permissions=labels)
        sync(target, chunks, manifest, documents={"guide": record})
    assert len(embeddings.texts) == 3
    kinds = {"Chroma": "chroma", "QdrantVectorStore": "qdrant", "PGVector": "pgvector"}
    kind: Any = kinds.get(type(store).__name__, "callable")

    def seen_by(groups: list[str]) -> int:
        allowed = permission_filter(groups, kind)
        return len(store.similarity_search("keys", k=9, filter=allowed))

    assert [seen_by(["admin"]), seen_by(["staff"]), seen_by([])] == [3, 0, 0]


def test_what_was_written_twice_is_there_once(
    made: tuple[VectorStore, CountingEmbeddings], tmp_path: Path
) -> None:
    store, _ = made
    manifest = tmp_path / "chunks.jsonl"
    sync(VectorStoreTarget(store), FIRST, manifest)
    manifest.unlink()
    sync(VectorStoreTarget(store), FIRST, manifest)
    assert len(texts_in(store)) == 5


def test_the_indexing_api_skips_nothing_that_changed_under_content_keys() -> None:
    embeddings = CountingEmbeddings()
    store = InMemoryVectorStore(embeddings)
    records = InMemoryRecordManager("test")
    records.create_schema()

    def ingest(texts: list[str]) -> dict[str, int]:
        documents = [
            Document(text, metadata={"doc_id": "guide", "chunk_id": f"guide#c{at}"})
            for at, text in enumerate(texts)
        ]
        result = index(
            documents,
            records,
            store,
            cleanup="scoped_full",
            source_id_key="doc_id",
            key_encoder=content_key(),
        )
        return dict(result)

    assert ingest(["One.", "Two.", "Two."])["num_added"] == 3
    assert ingest(["Zero.", "One.", "Two.", "Two."]) == {
        "num_added": 1,
        "num_updated": 0,
        "num_skipped": 3,
        "num_deleted": 0,
    }
    assert ingest(["One and a half.", "Two."])["num_deleted"] == 3
    assert texts_in(store) == ["One and a half.", "Two."]
    assert embeddings.texts == ["One.", "Two.", "Two.", "Zero.", "One and a half."]


def test_running_again_in_small_batches_deletes_and_adds_nothing(tmp_path: Path) -> None:
    embeddings = CountingEmbeddings()
    store = InMemoryVectorStore(embeddings)
    manifest = tmp_path / "chunks.jsonl"
    sync(VectorStoreTarget(store), FIRST, manifest, batch_size=2)
    assert sync(VectorStoreTarget(store), FIRST, manifest, batch_size=2).changes_nothing
    assert len(embeddings.texts) == 5


def test_a_key_made_of_the_position_is_why_the_store_id_is_not_one() -> None:
    embeddings = CountingEmbeddings()
    store = InMemoryVectorStore(embeddings)
    records = InMemoryRecordManager("test")
    records.create_schema()

    def ingest(text: str, key: Any) -> str:
        document = Document(text, metadata={"doc_id": "guide", "chunk_id": "guide#c0"})
        index(
            [document],
            records,
            store,
            cleanup="scoped_full",
            source_id_key="doc_id",
            key_encoder=key,
        )
        return texts_in(store)[0]

    def positional(document: Document) -> str:
        return str(document.metadata["chunk_id"])

    assert ingest("One.", positional) == "One."
    assert ingest("Two.", positional) == "One.", "the trap: an existing key is skipped"
    assert ingest("Two.", content_key()) == "Two."
