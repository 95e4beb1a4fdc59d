"""Keep a LangChain vector store in step with its documents."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from ragtrace.chunking.metadata import content_hash, document_id
from ragtrace.index.embedding_cache import EmbeddingCache
from ragtrace.index.plan import Stored, content_id
from ragtrace.index.stored_metadata import store_metadata


class VectorStoreTarget:
    """Let `ragtrace.index.sync` write to a LangChain vector store.

    Chroma and Qdrant take new metadata for a text they have; other stores get the text again, which
    costs no embedding where the store's embedder is a `CachedEmbeddings`. Raises `ValueError` for
    LangChain's LanceDB class, which by default replaces its whole table with every batch.

    >>> from langchain_core.embeddings import DeterministicFakeEmbedding
    >>> from langchain_core.vectorstores import InMemoryVectorStore
    >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    >>> VectorStoreTarget(store).present(["244d78ed-fcb9-d597-f78a-5c1194bd2822"])
    set()
    """

    def __init__(self, store: VectorStore) -> None:
        if type(store).__name__ == "LanceDB":
            raise ValueError(
                "LangChain's LanceDB class by default replaces its table with every batch, and "
                "cannot look up ids: write a ragtrace.index.SyncTarget over the LanceDB table"
            )
        self.store = store
        # PGVector keeps all collections in one table, under ids that must differ between them.
        shares_ids = type(store).__name__ == "PGVector"
        self._prefix = str(getattr(store, "collection_name", "")) if shares_ids else ""

    def add(self, chunks: Stored) -> None:
        """Embed and write chunks; an id that is there is replaced."""
        self.delete(list(chunks))  # some stores refuse an id they have, others keep both
        documents = [
            Document(id=self._own_id(i), page_content=chunk.content, metadata=store_metadata(chunk))
            for i, chunk in chunks.items()
        ]
        self.store.add_documents(documents, ids=[self._own_id(i) for i in chunks])

    def update(self, chunks: Stored) -> None:
        """Write the metadata of chunks whose text the store already has."""
        collection = getattr(self.store, "_collection", None)
        if hasattr(collection, "update"):
            self._update_chroma(collection, chunks)
        elif hasattr(getattr(self.store, "client", None), "overwrite_payload"):
            self._update_qdrant(chunks)
        else:
            self.add(chunks)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; an id that is not there is no error."""
        there = [self._own_id(store_id) for store_id in self.present(ids)]
        if there:
            self.store.delete(there)

    def present(self, ids: Sequence[str]) -> Collection[str]:
        """Return those of the ids that the store has; all of them where it cannot tell."""
        own = {self._own_id(store_id): store_id for store_id in ids}
        try:
            documents = self.store.get_by_ids(list(own))
        except NotImplementedError:
            return set(ids)
        # Qdrant's class keeps the id in the metadata alone.
        found = {document.id or document.metadata.get("_id") for document in documents}
        return {own[each] for each in found if each in own}

    def _own_id(self, store_id: str) -> str:
        return content_id(self._prefix, store_id) if self._prefix else store_id

    def _update_chroma(self, collection: Any, chunks: Stored) -> None:
        # LangChain's own update embeds the text again. Chroma merges metadata: a key that is gone
        # has to be named, or a withdrawn permission would stay.
        held = self.store.get_by_ids(list(chunks))
        before = {document.id: document.metadata for document in held}
        metadatas = []
        for store_id, chunk in chunks.items():
            gone = dict.fromkeys(before.get(store_id, {}))
            metadatas.append(gone | store_metadata(chunk))
        collection.update(ids=list(chunks), metadatas=metadatas)

    def _update_qdrant(self, chunks: Stored) -> None:
        store: Any = self.store
        for store_id, chunk in chunks.items():
            payload = {
                store.content_payload_key: chunk.content,
                store.metadata_payload_key: store_metadata(chunk),
            }
            store.client.overwrite_payload(store.collection_name, payload, points=[store_id])


class CachedEmbeddings(Embeddings):
    """Embed each text once in the life of a cache file; queries are passed on.

    >>> from langchain_core.embeddings import DeterministicFakeEmbedding
    >>> cache = EmbeddingCache(":memory:", "fake")
    >>> embeddings = CachedEmbeddings(DeterministicFakeEmbedding(size=2), cache)
    >>> embeddings.embed_documents(["a"]) == embeddings.embed_documents(["a"])
    True
    """

    def __init__(self, embeddings: Embeddings, cache: EmbeddingCache) -> None:
        self.embeddings = embeddings
        self.cache = cache

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts that the cache does not have."""
        return self.cache.embed(texts, self.embeddings.embed_documents)

    def embed_query(self, text: str) -> list[float]:
        """Embed a query."""
        return self.embeddings.embed_query(text)


def content_key() -> Callable[[Document], str]:
    """Return a `key_encoder` for `langchain_core.indexing.index`; make a new one for every call.

    The keys are those of `ragtrace.index.sync`: made of document and text, with a number for texts
    that repeat. LangChain's own hash takes the metadata in, so that a chunk that only moved is
    embedded again, and a key made of the position skips a chunk whose text changed. With these keys
    the metadata of a chunk that moved stays as it was; `sync` writes it.

    >>> key = content_key()
    >>> first = key(Document("Hello", metadata={"doc_id": "guide"}))
    >>> first, key(Document("Hello", metadata={"doc_id": "guide"})) == first
    ('244d78ed-fcb9-d597-f78a-5c1194bd2822', False)
    """
    seen: Counter[tuple[str, str]] = Counter()

    def key_of(document: Document) -> str:
        doc_id = document_id(document.metadata, document.id) or ""
        key = (doc_id, content_hash(document.page_content))
        seen[key] += 1
        return content_id(*key, seen[key] - 1)

    return key_of
