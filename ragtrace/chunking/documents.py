"""Many documents in one call: their ids, their places, and the numbers of their chunks.

Both frameworks hand over lists of documents, whole ones or pieces that another splitter made; what
they have in common is here, so that both write the same chunks.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import msgspec

from ragtrace.chunking.chunk import Chunk, strip_decoration
from ragtrace.chunking.metadata import DocumentIdKey, document_id
from ragtrace.chunking.split import split

_NAMESPACE = uuid5(NAMESPACE_DNS, "ragtrace")


class SourceDocument(msgspec.Struct, frozen=True):
    """Hold a text to split, its id if it has one, and where it starts if it is a piece.

    `start` is `None` for a whole document, else code points into the document named `doc_id`.
    """

    text: str
    doc_id: str | None = None
    start: int | None = None


def read_source(
    content: str,
    metadata: Mapping[str, Any],
    *,
    own_id: str | None = None,
    start: int | None = None,
    key: DocumentIdKey = None,
) -> SourceDocument:
    """Read a document, or a chunk of one that is to be split further, without its decoration.

    >>> read_source("Guide: Hello", {"doc_id": "a", "prefix_length": 7}, start=40)
    SourceDocument(text='Hello', doc_id='a', start=40)
    """
    text = content
    if start is not None:
        text = strip_decoration(
            content, int(metadata.get("prefix_length", 0)), int(metadata.get("suffix_length", 0))
        )
    return SourceDocument(text, document_id(metadata, own_id, key), start)


def split_sources(
    sources: Iterable[SourceDocument], settings: Mapping[str, Any]
) -> Iterator[list[Chunk]]:
    """Split documents, or pieces of documents; yield the chunks of each in order.

    `settings` are `split`'s. Chunks are numbered per document across the call, and the offsets of a
    piece's chunks count from the start of its document. A document without an id is named after
    its text, the same in every process. Raises `ValueError` where two whole documents have one id,
    since their chunks could not be told apart.
    """
    next_index: dict[str, int] = {}
    whole: set[str] = set()
    for source in sources:
        doc_id = source.doc_id or _unused_name(source.text, next_index)
        if doc_id in whole or (doc_id in next_index and source.start is None):
            raise ValueError(
                f"two documents have the id {doc_id!r}: give each its own "
                "metadata['doc_id'], or name the key or function that tells them apart"
            )
        if source.start is None:
            whole.add(doc_id)
        first = next_index.get(doc_id, 0)
        chunks = split(source.text, doc_id=doc_id, **settings)
        next_index[doc_id] = first + len(chunks)
        yield _moved(chunks, first, source.start or 0)


def stored_id(chunk_id: str) -> str:
    """Turn a chunk id into a UUID, for stores (Qdrant) that take nothing else.

    >>> stored_id("guide#c0")
    '3366ef92-9182-5032-8ebf-ea29fd0af572'
    """
    return str(uuid5(_NAMESPACE, chunk_id))


def _unused_name(text: str, used: Mapping[str, int]) -> str:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    name = f"document-{digest}"
    repeat = 1
    while name in used:
        repeat += 1
        name = f"document-{digest}-{repeat}"
    return name


def _moved(chunks: list[Chunk], index: int, offset: int) -> list[Chunk]:
    if not index and not offset:
        return chunks
    return [
        msgspec.structs.replace(
            chunk,
            index=chunk.index + index,
            start=chunk.start + offset,
            end=chunk.end + offset,
        )
        for chunk in chunks
    ]
