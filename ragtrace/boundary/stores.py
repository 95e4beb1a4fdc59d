"""Read all chunks of a live index, page by page, from what the store's object offers.

No framework is imported: a store is known by its attributes.
"""

from collections.abc import Callable, Iterator
from typing import Any

Reader = Callable[[Any, int], Iterator[Any]]


def read_store(store: Any, *, page_size: int = 1000) -> Iterator[Any]:
    """Yield the chunks of a LangChain vector store or of a LlamaIndex index or docstore.

    Known are Chroma, FAISS, Qdrant, PGVector and InMemoryVectorStore, and what has a docstore or
    `get_nodes`. Stores keep no reading order beyond that of insertion; `chunk_index` in the
    metadata tells neighbours. Raises `ValueError` for a store that offers no way to read it all.

    >>> class InMemory:
    ...     store = {"a": {"id": "a", "text": "Hello.", "metadata": {"doc_id": "guide"}}}
    >>> [chunk["text"] for chunk in read_store(InMemory())]
    ['Hello.']
    """
    if page_size < 1:
        raise ValueError(f"page_size is {page_size}: give at least 1")
    for offered, read in _READERS:
        if offered(store):
            return read(store, page_size)
    raise ValueError(
        f"cannot read all chunks of a {type(store).__name__}: give an iterator over them instead"
    )


def _read_chroma(store: Any, page_size: int) -> Iterator[dict[str, Any]]:
    # LangChain and LlamaIndex both keep the collection there.
    collection = store._collection
    offset = 0
    while True:
        page = collection.get(limit=page_size, offset=offset, include=["documents", "metadatas"])
        for chunk_id, text, metadata in zip(
            page["ids"], page["documents"], page["metadatas"], strict=True
        ):
            yield {"id": chunk_id, "text": text or "", "metadata": metadata or {}}
        if len(page["ids"]) < page_size:
            return
        offset += page_size


def _read_qdrant(store: Any, page_size: int) -> Iterator[dict[str, Any]]:
    text_key, metadata_key = store.content_payload_key, store.metadata_payload_key
    offset = None
    while True:
        points, offset = store.client.scroll(
            store.collection_name,
            limit=page_size,
            offset=offset,
            with_payload=True,
            with_vectors=False,
        )
        for point in points:
            payload = point.payload or {}
            yield {
                "id": str(point.id),
                "text": payload.get(text_key) or "",
                "metadata": payload.get(metadata_key) or {},
            }
        if offset is None:
            return


def _read_postgres(store: Any, page_size: int) -> Iterator[dict[str, Any]]:
    row = store.EmbeddingStore
    last = None
    with store._make_sync_session() as session:
        collection = store.get_collection(session)
        if collection is None:
            return
        query = session.query(row.id, row.document, row.cmetadata)
        query = query.filter(row.collection_id == collection.uuid).order_by(row.id)
        while True:
            page = (query if last is None else query.filter(row.id > last)).limit(page_size).all()
            for chunk_id, text, metadata in page:
                yield {"id": chunk_id, "text": text or "", "metadata": metadata or {}}
            if len(page) < page_size:
                return
            last = page[-1][0]


def _read_faiss(store: Any, page_size: int) -> Iterator[Any]:
    for position in range(len(store.index_to_docstore_id)):
        yield store.docstore.search(store.index_to_docstore_id[position])


def _read_memory(store: Any, page_size: int) -> Iterator[dict[str, Any]]:
    yield from store.store.values()


def _read_docstore(store: Any, page_size: int) -> Iterator[Any]:
    yield from store.docs.values()


def _read_index(index: Any, page_size: int) -> Iterator[Any]:
    # A vector store that keeps the texts leaves the docstore empty.
    if index.docstore.docs:
        yield from _read_docstore(index.docstore, page_size)
    else:
        yield from read_store(index.vector_store, page_size=page_size)


def _read_nodes(store: Any, page_size: int) -> Iterator[Any]:
    yield from store.get_nodes(None)


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda store: all(hasattr(store, name) for name in names)


_READERS: tuple[tuple[Callable[[Any], bool], Reader], ...] = (
    (_has("index_to_docstore_id", "docstore"), _read_faiss),
    (_has("docstore", "index_struct"), _read_index),
    (_has("docs", "get_node"), _read_docstore),
    (_has("_collection", "embeddings"), _read_chroma),
    (_has("content_payload_key", "collection_name"), _read_qdrant),
    (_has("EmbeddingStore", "get_collection"), _read_postgres),
    (_has("get_nodes"), _read_nodes),
    (lambda store: isinstance(getattr(store, "store", None), dict), _read_memory),
)
