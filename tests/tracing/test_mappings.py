"""The raw responses of vector stores become hits, with the way their scores run."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragtrace.chunking.chunk import Chunk
from ragtrace.chunking.metadata import chunk_metadata
from ragtrace.tracing import (
    FoundHits,
    hits_from_chroma,
    hits_from_elasticsearch,
    hits_from_faiss,
    hits_from_pgvector,
    hits_from_pinecone,
    hits_from_qdrant,
    hits_from_weaviate,
)

CHUNK = Chunk("guide", 3, 40, 45, "Hello", prefix="Guide\n\n", heading_path=("Guide",))
KEPT = chunk_metadata(CHUNK, "sentence-aligned:abc")
PAYLOAD = {**KEPT, "text": CHUNK.content}


def as_objects(value: Any) -> Any:
    """Turn a response of dicts into one of objects; payloads stay mappings, as in clients."""
    if isinstance(value, list):
        return [as_objects(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {"metadata", "payload", "properties", "_source"}
    return SimpleNamespace(
        **{
            key: item if key in kept and "text" in item else as_objects(item)
            for key, item in value.items()
        }
    )


def assert_is_the_chunk(found: FoundHits, score: float) -> None:
    hit = found.hits[0]
    assert (hit.chunk_id, hit.doc_id, hit.chunk_index) == ("guide#c3", "guide", 3)
    assert (hit.text, hit.start, hit.end, hit.heading_path) == ("Hello", 40, 45, ("Guide",))
    assert (hit.score, hit.rank) == (score, 1)
    assert hit.metadata["splitter"] == "sentence-aligned:abc"


PINECONE = {"matches": [{"id": "x", "score": 0.75, "metadata": PAYLOAD}]}
QDRANT = {"points": [{"id": 7, "score": 0.75, "payload": PAYLOAD}]}
ELASTIC = {"hits": {"hits": [{"_id": "x", "_score": 0.75, "_source": PAYLOAD}]}}
WEAVIATE = {
    "objects": [{"uuid": "x", "properties": PAYLOAD, "metadata": {"distance": 0.75, "score": None}}]
}


@pytest.mark.parametrize("shape", [lambda value: value, as_objects], ids=["dicts", "objects"])
@pytest.mark.parametrize(
    ("read", "response", "kind"),
    [
        (hits_from_pinecone, PINECONE, "similarity"),
        (hits_from_qdrant, QDRANT, "similarity"),
        (hits_from_elasticsearch, ELASTIC, "relevance"),
        (hits_from_weaviate, WEAVIATE, "distance"),
    ],
)
def test_payload_stores_are_read_as_dicts_and_as_objects(
    read: Any, response: Any, kind: str, shape: Any
) -> None:
    found = read(shape(response))
    assert_is_the_chunk(found, 0.75)
    assert found.score_kind == kind
    assert "text" not in found.hits[0].metadata


@pytest.mark.parametrize(
    ("read", "response", "metric", "kind"),
    [
        (hits_from_pinecone, PINECONE, "dotproduct", "similarity"),
        (hits_from_pinecone, PINECONE, "euclidean", "distance"),
        (hits_from_qdrant, QDRANT, "Cosine", "similarity"),
        (hits_from_qdrant, QDRANT, "Manhattan", "distance"),
    ],
)
def test_the_kind_of_score_follows_the_metric(
    read: Any, response: Any, metric: str, kind: str
) -> None:
    assert read(response, metric=metric).score_kind == kind


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown metric 'hamming'"):
        hits_from_qdrant([], metric="hamming")


def test_the_text_may_have_another_name() -> None:
    response = {"matches": [{"id": "x", "score": 1, "metadata": {"passage": "Hi", "text": "no"}}]}
    (hit,) = hits_from_pinecone(response, text_key="passage").hits
    assert (hit.text, hit.metadata) == ("Hi", {"text": "no"})


def test_a_payload_that_nests_its_metadata_is_read() -> None:
    point = {"id": 1, "score": 0.5, "payload": {"page_content": CHUNK.content, "metadata": KEPT}}
    assert_is_the_chunk(hits_from_qdrant([point]), 0.5)


def test_chroma_is_read_by_query_and_column() -> None:
    response = {
        "ids": [["a"], ["x", "y"]],
        "documents": [["A"], [CHUNK.content, None]],
        "metadatas": [[None], [KEPT, None]],
        "distances": [[0.1], [0.25, np.float32(0.5)]],
    }
    found = hits_from_chroma(response, query=1)
    assert_is_the_chunk(found, 0.25)
    assert found.score_kind == "distance"
    assert (found.hits[1].chunk_id, found.hits[1].text, found.hits[1].score) == ("y", "", 0.5)
    (bare,) = hits_from_chroma({"ids": [["x"]], "documents": None}).hits
    assert (bare.chunk_id, bare.score) == ("x", None)


def test_the_real_chroma_is_read(tmp_path: Path) -> None:
    chromadb = pytest.importorskip("chromadb")
    settings = chromadb.Settings(anonymized_telemetry=False)
    # The ephemeral client is one for the whole process, and refuses a second one's settings.
    collection = chromadb.PersistentClient(tmp_path, settings).create_collection("mappings")
    collection.add(
        ids=["x", "y"],
        documents=[CHUNK.content, "Other"],
        metadatas=[KEPT, {"page": 2}],
        embeddings=[[1.0, 0.0], [0.0, 1.0]],
    )
    found = hits_from_chroma(collection.query(query_embeddings=[[1.0, 0.0]], n_results=2))
    assert_is_the_chunk(found, 0.0)
    assert found.hits[1].score == 2.0  # squared distance


def test_the_real_qdrant_is_read() -> None:
    qdrant = pytest.importorskip("qdrant_client")
    client = qdrant.QdrantClient(":memory:")
    size = qdrant.models.VectorParams(size=2, distance=qdrant.models.Distance.COSINE)
    client.create_collection("mappings", vectors_config=size)
    point = qdrant.models.PointStruct(id=7, vector=[1.0, 0.0], payload=PAYLOAD)
    client.upsert("mappings", [point])
    found = hits_from_qdrant(client.query_points("mappings", query=[2.0, 0.0]))
    assert_is_the_chunk(found, 1.0)
    client.close()


def test_the_real_faiss_is_read_without_its_padding() -> None:
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatL2(2)
    index.add(np.array([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32))
    chunks = [{"id": "y", "text": "Other"}, {"id": "x", "text": CHUNK.content, "metadata": KEPT}]
    answer = index.search(np.array([[1.0, 0.0]], dtype=np.float32), 4)
    found = hits_from_faiss(*answer, chunks)
    assert_is_the_chunk(found, 0.0)
    assert [(hit.chunk_id, hit.score) for hit in found.hits] == [("guide#c3", 0.0), ("y", 2.0)]
    assert found.score_kind == "distance"
    assert hits_from_faiss(*answer, metric="ip").score_kind == "similarity"
    assert [hit.chunk_id for hit in hits_from_faiss(*answer).hits] == ["1", "0"]
    assert hits_from_faiss(*answer, lambda number: f"Text {number}").hits[0].text == "Text 1"


def test_rows_of_pgvector_are_read_as_tuples_and_as_mappings() -> None:
    columns = ("id", "text", "metadata", "distance")
    row = (7, CHUNK.content, KEPT, 0.25)
    for rows in ([row], [dict(zip(columns, row, strict=True))]):
        found = hits_from_pgvector(rows)
        assert_is_the_chunk(found, 0.25)
        assert found.score_kind == "distance"


def test_other_columns_of_pgvector_are_named() -> None:
    found = hits_from_pgvector(
        [(7, "Hello", "guide", 0.9)],
        columns=("id", "text", "source", "similarity"),
        score_column="similarity",
        score_kind="similarity",
    )
    hit = found.hits[0]
    assert (hit.chunk_id, hit.doc_id, hit.score) == ("7", "guide", 0.9)
    with pytest.raises(ValueError, match="row 1 has 2 values for the columns"):
        hits_from_pgvector([(1, 2)])


@pytest.mark.parametrize(
    ("additional", "kind"),
    [
        ({"id": "x", "distance": 0.25}, "distance"),
        ({"id": "x", "certainty": 0.25}, "similarity"),
        ({"id": "x", "score": "0.25"}, "relevance"),
    ],
)
def test_graphql_answers_of_weaviate_are_read(additional: dict[str, Any], kind: str) -> None:
    response = {"data": {"Get": {"Chunk": [{**PAYLOAD, "_additional": additional}]}}}
    found = hits_from_weaviate(response)
    assert_is_the_chunk(found, 0.25)
    assert found.score_kind == kind


def test_what_is_no_answer_of_weaviate_is_refused() -> None:
    with pytest.raises(ValueError, match="not a Weaviate response"):
        hits_from_weaviate({"errors": []})


class ApiResponse:
    """Answer like a mapping without being one, as Elasticsearch's client does."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    def __getitem__(self, name: str) -> Any:
        return self.body[name]


def test_an_answer_that_only_looks_like_a_mapping_is_read() -> None:
    assert_is_the_chunk(hits_from_elasticsearch(ApiResponse(ELASTIC)), 0.75)


@pytest.mark.parametrize(
    "found",
    [
        hits_from_pinecone({"matches": []}),
        hits_from_qdrant([]),
        hits_from_chroma({"ids": [[]]}),
        hits_from_pgvector([]),
        hits_from_weaviate({"objects": []}),
        hits_from_faiss([[]], [[]]),
        hits_from_elasticsearch({"hits": {"hits": []}}),
    ],
)
def test_an_empty_answer_has_no_hits(found: FoundHits) -> None:
    assert found.hits == []
