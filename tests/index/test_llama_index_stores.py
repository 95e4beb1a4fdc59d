"""Real LlamaIndex indexes follow their documents: nothing stale, nothing embedded twice."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragtrace.index import EmbeddingCache, document_record, sync
from tests.index.stores import DELETED, EDITED, FIRST, GUIDE, chunks_of, embed

pytest.importorskip("llama_index.core")

from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding

from ragtrace.llama_index.sync import IndexTarget, permission_filters

# Qdrant says so of its local mode, which is what a test can have.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class CountingEmbedding(BaseEmbedding):
    texts: list[str]

    def _get_text_embedding(self, text: str) -> list[float]:
        self.texts.append(text)
        return embed(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed(query)


def simple(folder: Path) -> Any:
    return StorageContext.from_defaults()


def chroma(folder: Path) -> Any:
    stores = pytest.importorskip("llama_index.vector_stores.chroma")
    chromadb = pytest.importorskip("chromadb")
    collection = chromadb.PersistentClient(str(folder / "chroma")).get_or_create_collection("nodes")
    store = stores.ChromaVectorStore(chroma_collection=collection)
    return StorageContext.from_defaults(vector_store=store)


def qdrant(folder: Path) -> Any:
    stores = pytest.importorskip("llama_index.vector_stores.qdrant")
    client_module = pytest.importorskip("qdrant_client")
    client = client_module.QdrantClient(path=str(folder / "qdrant"))
    store = stores.QdrantVectorStore("nodes", client=client)
    return StorageContext.from_defaults(vector_store=store)


STORES: dict[str, Callable[[Path], Any]] = {"simple": simple, "chroma": chroma, "qdrant": qdrant}


@pytest.fixture(params=[pytest.param(n, marks=pytest.mark.stores) for n in STORES])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexTarget]:
    context = STORES[request.param](tmp_path)
    model = CountingEmbedding(texts=[])
    index = VectorStoreIndex(nodes=[], storage_context=context, embed_model=model)
    cache = EmbeddingCache(tmp_path / "embeddings.db", "words")
    yield IndexTarget(index, embed_model=model, cache=cache)
    cache.close()
    client = getattr(index.vector_store, "client", None)
    if hasattr(client, "close"):
        client.close()


def texts_in(index: VectorStoreIndex, **settings: Any) -> list[str]:
    retriever = index.as_retriever(similarity_top_k=50, **settings)
    return sorted(item.node.get_content() for item in retriever.retrieve("keys limit"))


def test_an_index_follows_an_edit_a_shorter_page_and_a_deletion(
    target: IndexTarget, tmp_path: Path
) -> None:
    manifest, model = tmp_path / "chunks.jsonl", target.embed_model
    assert isinstance(model, CountingEmbedding)
    sync(target, FIRST, manifest)
    assert len(model.texts) == 5
    for chunks in (EDITED, DELETED):
        sync(target, chunks, manifest)
        assert texts_in(target.index) == sorted(chunk.content for chunk in chunks)
    assert model.texts[5:] == ["Keys rotate every week. "]
    [moved] = target.index.as_retriever(similarity_top_k=1).retrieve("limit thirty seconds")
    assert moved.node.metadata["start_index"] == len("Keys rotate every week. ")
    assert moved.node.ref_doc_id == "guide"
    assert sync(target, DELETED, manifest).changes_nothing


def test_a_filter_shows_a_group_what_its_labels_open_and_nothing_else(
    target: IndexTarget, tmp_path: Path
) -> None:
    for labels in (["staff", "admin"], ["admin"]):
        record = document_record("guide", "".join(GUIDE), permissions=labels)
        chunks = chunks_of("guide", GUIDE)
        sync(target, chunks, tmp_path / "chunks.jsonl", documents={"guide": record})
    seen = [
        len(texts_in(target.index, filters=permission_filters(groups)))
        for groups in (["admin"], ["staff"], [])
    ]
    assert seen == [3, 0, 0]


def test_without_a_cache_the_index_embeds(tmp_path: Path) -> None:
    model = CountingEmbedding(texts=[])
    index = VectorStoreIndex(nodes=[], embed_model=model)
    sync(IndexTarget(index), FIRST, tmp_path / "chunks.jsonl")
    assert sorted(model.texts) == sorted(chunk.content for chunk in FIRST)
    with pytest.raises(ValueError, match="only together"):
        IndexTarget(index, embed_model=model)
