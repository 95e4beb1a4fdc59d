"""What the frameworks' own ingestion does to an index over time, and that `sync` does not.

Each test first shows the upstream behaviour, so that it fails, and can go, once upstream changes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ragtrace.chunking import Chunk
from ragtrace.index import EmbeddingCache, sync
from tests.index.stores import GUIDE, OTHER, chunks_of

pytest.importorskip("langchain_core")
pytest.importorskip("llama_index.core")

from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore

from ragtrace.langchain.sync import CachedEmbeddings, VectorStoreTarget, content_key
from ragtrace.llama_index.sync import IndexTarget
from tests.index.test_langchain_stores import CountingEmbeddings
from tests.index.test_langchain_stores import texts_in as texts_in_store
from tests.index.test_llama_index_stores import CountingEmbedding, texts_in

SIX = chunks_of("guide", [f"Rule {number}. " for number in range(6)])


class Indexing:
    """LangChain's indexing API over a store that counts embeddings."""

    def __init__(self) -> None:
        self.embeddings = CountingEmbeddings()
        self.store = InMemoryVectorStore(self.embeddings)
        self.records = InMemoryRecordManager("test")
        self.records.create_schema()

    def ingest(self, chunks: Sequence[Chunk], **settings: object) -> dict[str, int]:
        documents = [
            Document(c.content, metadata={"doc_id": c.doc_id, "start_index": c.start})
            for c in chunks
        ]
        options = {"cleanup": "scoped_full", "key_encoder": "blake2b"} | settings
        done = index(documents, self.records, self.store, source_id_key="doc_id", **options)
        return {name.removeprefix("num_"): count for name, count in done.items() if count}


Following = tuple[VectorStoreTarget, CountingEmbeddings, Path]


@pytest.fixture
def following(tmp_path: Path) -> Iterator[Following]:
    embeddings = CountingEmbeddings()
    cache = EmbeddingCache(":memory:", "words")
    target = VectorStoreTarget(InMemoryVectorStore(CachedEmbeddings(embeddings, cache)))
    yield target, embeddings, tmp_path / "chunks.jsonl"
    cache.close()


def test_incremental_clean_up_embeds_an_unchanged_document_again(following: Following) -> None:
    upstream = Indexing()
    upstream.ingest(SIX, cleanup="incremental", batch_size=2)
    again = upstream.ingest(SIX, cleanup="incremental", batch_size=2)
    assert again["added"] == again["deleted"] == 4

    keyed = Indexing()
    keyed.ingest(SIX, batch_size=2, key_encoder=content_key())
    assert keyed.ingest(SIX, batch_size=2, key_encoder=content_key()) == {"skipped": 6}

    target, embeddings, manifest = following
    for _ in range(2):
        sync(target, SIX, manifest, batch_size=2)
    assert len(embeddings.texts) == 6


def test_a_document_that_has_no_chunk_any_more_stays_in_the_store(following: Following) -> None:
    both = [*chunks_of("guide", GUIDE), *chunks_of("other", OTHER)]
    upstream = Indexing()
    upstream.ingest(both)
    upstream.ingest(both[: len(GUIDE)])
    assert set(OTHER) <= set(texts_in_store(upstream.store))

    target, _, manifest = following
    sync(target, both, manifest)
    sync(target, both[: len(GUIDE)], manifest)
    assert texts_in_store(target.store) == sorted(GUIDE)


def test_a_line_put_in_front_embeds_everything_behind_it_again(following: Following) -> None:
    later = chunks_of("guide", ["New. ", *GUIDE])
    upstream = Indexing()
    upstream.ingest(chunks_of("guide", GUIDE))
    assert upstream.ingest(later) == {"added": 4, "deleted": 3}

    target, embeddings, manifest = following
    sync(target, chunks_of("guide", GUIDE), manifest)
    sync(target, later, manifest)
    assert embeddings.texts == [*GUIDE, "New. "]
    [moved] = target.store.similarity_search(GUIDE[2], k=1)
    assert moved.metadata["start_index"] == later[3].start


def test_equal_chunks_of_one_document_become_one(following: Following) -> None:
    upstream = Indexing()
    same = [Document("Note.", metadata={"doc_id": "guide"}) for _ in range(2)]
    settings = {"source_id_key": "doc_id", "key_encoder": "blake2b"}
    done = index(same, upstream.records, upstream.store, cleanup="scoped_full", **settings)
    assert done["num_added"] == 1

    target, embeddings, manifest = following
    sync(target, chunks_of("guide", ["Note.", "Note."]), manifest)
    assert (texts_in_store(target.store), embeddings.texts) == (["Note."] * 2, ["Note."])


def nodes_of(doc_id: str, texts: Sequence[str]) -> list[TextNode]:
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc_id)}
    return [
        TextNode(id_=f"{doc_id}#c{at}", text=text, relationships=source)
        for at, text in enumerate(texts)
    ]


def test_a_pipeline_given_nodes_leaves_the_end_of_a_shorter_page_in_the_store(
    tmp_path: Path,
) -> None:
    model = CountingEmbedding(texts=[])
    store = SimpleVectorStore()
    pipeline = IngestionPipeline(
        transformations=[model],
        vector_store=store,
        docstore=SimpleDocumentStore(),
        disable_cache=True,
    )
    pipeline.run(nodes=nodes_of("guide", GUIDE))
    pipeline.run(nodes=nodes_of("guide", GUIDE[:1]))
    assert {"guide#c1", "guide#c2"} <= set(store.data.embedding_dict)
    assert model.texts.count(GUIDE[0]) == 2, "nothing is skipped either"

    ours = CountingEmbedding(texts=[])
    built = VectorStoreIndex(nodes=[], embed_model=ours)
    for texts in (GUIDE, GUIDE[:1]):
        sync(IndexTarget(built), chunks_of("guide", texts), tmp_path / "chunks.jsonl")
    assert texts_in(built) == GUIDE[:1]
    assert ours.texts.count(GUIDE[0]) == 1


def test_a_pipelines_cache_gives_a_document_the_chunks_of_another(tmp_path: Path) -> None:
    pipeline = IngestionPipeline(transformations=[SentenceSplitter()])
    pipeline.run(documents=[LlamaDocument(text=GUIDE[0], id_="guide")])
    [node] = pipeline.run(documents=[LlamaDocument(text=GUIDE[0], id_="copy")])
    assert node.ref_doc_id == "guide"

    model = CountingEmbedding(texts=[])
    built = VectorStoreIndex(nodes=[], embed_model=model)
    cache = EmbeddingCache(tmp_path / "embeddings.db", "words")
    target = IndexTarget(built, embed_model=model, cache=cache)
    both = [*chunks_of("guide", GUIDE[:1]), *chunks_of("copy", GUIDE[:1])]
    for chunks in (both[:1], both):
        sync(target, chunks, tmp_path / "chunks.jsonl")
    found = built.as_retriever(similarity_top_k=9).retrieve("keys")
    assert sorted(str(item.node.ref_doc_id) for item in found) == ["copy", "guide"]
    assert model.texts == GUIDE[:1]
    cache.close()
