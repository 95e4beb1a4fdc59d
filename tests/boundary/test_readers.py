"""Chunks from files and from live stores."""

import gzip
import json
import warnings
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import TextNode

from ragtrace.boundary import in_reading_order, read_chunks, read_store, validate
from ragtrace.chunking import Chunk
from ragtrace.index.manifest_file import write_manifest

ROWS = [{"text": "One is\nhere.", "doc_id": "a"}, {"text": "Two, “or” more.", "doc_id": "b"}]


def test_lines_of_json_are_read_compressed_or_not(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(row) for row in ROWS) + "\n\n"
    plain, packed = tmp_path / "chunks.jsonl", tmp_path / "chunks.jsonl.gz"
    plain.write_text(lines)
    packed.write_bytes(gzip.compress(lines.encode()))
    assert list(read_chunks(plain)) == list(read_chunks(str(packed))) == ROWS


def test_a_manifest_is_validated_with_its_decoration(tmp_path: Path) -> None:
    text = "# Top\n\nAll is well."
    chunk = Chunk("d", 0, 0, len(text), text, prefix="Guide > (draft\n\n")
    path = tmp_path / "chunks.jsonl"
    write_manifest([chunk], path, splitter="prose:1", documents={"d": text})
    report = validate(read_chunks(path), documents={"d": text})
    assert (report.chunks, report.issues) == (1, ())
    assert list(report.by_splitter) == ["prose:1"]


def test_csv_and_parquet_are_read_by_named_columns(tmp_path: Path) -> None:
    import csv

    import pyarrow as pa
    from pyarrow import parquet

    table = [{"body": row["text"], "src": row["doc_id"], "extra": "x"} for row in ROWS]
    with (tmp_path / "chunks.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, ["body", "src", "extra"])
        writer.writeheader()
        writer.writerows(table)
    parquet.write_table(pa.Table.from_pylist(table), tmp_path / "chunks.parquet")
    columns = {"text": "body", "doc_id": "src"}
    expected = [{**row, "extra": "x"} for row in ROWS]
    for name in ("chunks.csv", "chunks.parquet"):
        assert list(read_chunks(tmp_path / name, columns=columns)) == expected
        with pytest.raises(ValueError, match="no column 'nope'; it has"):
            list(read_chunks(tmp_path / name, columns={"text": "nope"}))


def test_an_unreadable_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    path.write_text('{"text": "One."}\nnonsense\n')
    with pytest.raises(ValueError, match="line 2: not JSON"):
        list(read_chunks(path))
    path.write_text("[1]\n")
    with pytest.raises(ValueError, match="line 1: expected one JSON object"):
        list(read_chunks(path))
    with pytest.raises(ValueError, match=r"\.jsonl, \.csv"):
        read_chunks(tmp_path / "chunks.docx")


def documents() -> list[Document]:
    return [
        Document(f"Sentence number {n} is here.", metadata={"doc_id": "d", "chunk_index": n})
        for n in range(25)
    ]


def check(store: Any) -> None:
    """Read a store in pages smaller than it, and find every chunk once, in order."""
    pieces = in_reading_order(read_store(store, page_size=10))
    assert [piece.text for piece in pieces] == [document.page_content for document in documents()]
    assert {piece.doc_id for piece in pieces} == {"d"}
    assert validate(pieces).issues == ()


EMBEDDING = DeterministicFakeEmbedding(size=4)


def test_the_in_memory_store_is_read() -> None:
    check(InMemoryVectorStore.from_documents(documents(), EMBEDDING))


@pytest.mark.stores
def test_chroma_is_read_page_by_page() -> None:
    chroma = pytest.importorskip("langchain_chroma")
    check(chroma.Chroma.from_documents(documents(), EMBEDDING, collection_name=f"c{uuid4().hex}"))


@pytest.mark.stores
def test_faiss_is_read() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the community package announces its end on import
        faiss = pytest.importorskip("langchain_community.vectorstores").FAISS
        check(faiss.from_documents(documents(), EMBEDDING))


@pytest.mark.stores
def test_qdrant_is_read_page_by_page() -> None:
    qdrant = pytest.importorskip("langchain_qdrant")
    check(
        qdrant.QdrantVectorStore.from_documents(
            documents(), EMBEDDING, location=":memory:", collection_name="c"
        )
    )


@pytest.mark.stores
def test_postgres_is_read_page_by_page(postgres: str) -> None:
    module = pytest.importorskip("langchain_postgres")
    store = module.PGVector(EMBEDDING, connection=postgres, collection_name=f"c{uuid4().hex}")
    store.add_documents(documents())
    check(store)
    store._engine.dispose()


def nodes() -> list[TextNode]:
    return [
        TextNode(text=document.page_content, metadata=document.metadata) for document in documents()
    ]


def test_a_llama_index_index_and_its_docstore_are_read() -> None:
    index = VectorStoreIndex(nodes(), embed_model=MockEmbedding(embed_dim=4))
    check(index)
    check(index.docstore)


@pytest.mark.stores
def test_a_llama_index_index_whose_store_keeps_the_texts_is_read(tmp_path: Path) -> None:
    chromadb = pytest.importorskip("chromadb")
    chroma = pytest.importorskip("llama_index.vector_stores.chroma")
    from llama_index.core import StorageContext

    collection = chromadb.PersistentClient(tmp_path).create_collection(f"c{uuid4().hex}")
    context = StorageContext.from_defaults(
        vector_store=chroma.ChromaVectorStore(chroma_collection=collection)
    )
    check(
        VectorStoreIndex(nodes(), embed_model=MockEmbedding(embed_dim=4), storage_context=context)
    )


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(ValueError, match="cannot read all chunks of a object"):
        read_store(object())
    with pytest.raises(ValueError, match="page_size"):
        read_store(InMemoryVectorStore(EMBEDDING), page_size=0)
