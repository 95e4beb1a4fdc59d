"""How long it takes to bring a store of many chunks in step with one edited page.

Run `python -m benchmarks.sync [--chunks 100000] [--store bm25|chroma]`. The first sync writes
everything; the second follows an edit in the middle of one page, once with all chunks given and
once with that page alone (`scope`). What the store itself needs is shown apart.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragtrace.chunking import Chunk
from ragtrace.index import Bm25Retriever, ManifestChunk, Stored, SyncPlan, sync

PAGE = 50
DIMENSIONS = 64
WORDS = [f"word{number}" for number in range(5000)]


class EmbeddedStore:
    """Keep chunks in memory and build the embedded retriever from them when they are searched."""

    def __init__(self) -> None:
        self.rows: dict[str, ManifestChunk] = {}

    def add(self, chunks: Stored) -> None:
        """Write chunks."""
        self.rows.update(chunks)

    update = add

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks."""
        for store_id in ids:
            self.rows.pop(store_id, None)

    def present(self, ids: Sequence[str]) -> Collection[str]:
        """Return those of the ids that are there."""
        return self.rows.keys() & set(ids)

    def search(self, query: str, top_k: int) -> list[Any]:
        """Build the retriever and ask it."""
        return Bm25Retriever(self.rows.values()).search(query, top_k)


class ChromaStore:
    """Write to a persistent Chroma collection, with vectors made up from a text's hash."""

    def __init__(self, folder: Path) -> None:
        import chromadb

        client = chromadb.PersistentClient(str(folder))
        self.collection = client.get_or_create_collection("chunks")

    def add(self, chunks: Stored) -> None:
        """Write chunks."""
        contents = [chunk.content for chunk in chunks.values()]
        self.collection.upsert(
            ids=list(chunks),
            documents=contents,
            embeddings=np.stack([vector_of(content) for content in contents]),
            metadatas=[{"chunk_id": chunk.chunk_id} for chunk in chunks.values()],
        )

    def update(self, chunks: Stored) -> None:
        """Write metadata."""
        metadatas = [{"chunk_id": chunk.chunk_id} for chunk in chunks.values()]
        self.collection.update(ids=list(chunks), metadatas=metadatas)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks."""
        self.collection.delete(ids=list(ids))

    def present(self, ids: Sequence[str]) -> Collection[str]:
        """Return those of the ids that are there."""
        return set(self.collection.get(ids=list(ids), include=[])["ids"])


class Timed:
    """Pass calls on and add up how long they take."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.store, name)

        def timed(*values: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*values)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


def vector_of(content: str) -> np.ndarray:
    return np.random.default_rng(hash(content) % 2**32).standard_normal(DIMENSIONS)


def page(number: int, edited: bool) -> Iterator[Chunk]:
    dice = random.Random(number)
    at = 0
    for index in range(PAGE):
        words = dice.choices(WORDS, k=120)
        if edited and index == PAGE // 2:
            words[60:60] = ["a", "sentence", "that", "was", "not", "there"]
        text = " ".join(words)
        yield Chunk(f"page{number}", index, at, at + len(text), text)
        at += len(text) + 1


def run(
    label: str, store: Timed, chunks: Sequence[Chunk], manifest: Path, **given: Any
) -> SyncPlan:
    store.seconds = 0.0
    began = time.perf_counter()
    plan = sync(store, chunks, manifest, **given)
    took = time.perf_counter() - began
    print(f"| {label} | {took:.2f} | {store.seconds:.2f} | {plan} |", flush=True)
    return plan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--store", choices=("bm25", "chroma"), default="bm25")
    options = parser.parse_args()
    pages = max(options.chunks // PAGE, 1)
    with tempfile.TemporaryDirectory() as folder:
        embedded = options.store == "bm25"
        store = Timed(EmbeddedStore() if embedded else ChromaStore(Path(folder) / "chroma"))
        manifest = Path(folder) / "chunks.jsonl"
        first = [chunk for number in range(pages) for chunk in page(number, edited=False)]
        print(f"{len(first):,} chunks, {options.store}")
        print("| sync | seconds | of them the store | plan |")
        print("|---|---|---|---|")
        run("first", store, first, manifest, batch_size=5000)
        middle = pages // 2
        edited = [
            chunk for number in range(pages) for chunk in page(number, edited=number == middle)
        ]
        run("one page edited, all chunks given", store, edited, manifest)
        back = list(page(middle, edited=False))
        run("edited back, that page given", store, back, manifest, scope=[f"page{middle}"])
        if embedded:
            began = time.perf_counter()
            store.store.search("word1 word2", 5)
            print(f"| retriever built and searched | {time.perf_counter() - began:.2f} | | |")


if __name__ == "__main__":
    main()
