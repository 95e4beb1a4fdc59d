"""Many documents in one call: their ids, their places, and the numbers of their chunks.

Both frameworks hand over lists of documents, whole ones or pieces that another splitter made; what
they have in common is here, so that both write the same chunks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Literal
from uuid import NAMESPACE_DNS, uuid5

import msgspec

from ragtrace.chunking.chunk import Chunk, strip_decoration
from ragtrace.chunking.metadata import DocumentIdKey, document_id, fingerprint
from ragtrace.chunking.split import split

_NAMESPACE = uuid5(NAMESPACE_DNS, "ragtrace")


class SplitSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what `split` is asked for, checked when it is made; the fields are `split`'s.

    Raises `ValueError` for what `split` would refuse.

    >>> SplitSettings(chunk_size=200, length="characters").fingerprint("sentence-aligned")
    '...'
    """

    chunk_size: int
    format: Any = "prose"
    language: str | None = None
    overlap_sentences: int = 0
    chunk_overlap: int | None = None
    window: int | None = None
    step: int | None = None
    length: str | Callable[[str], int] = "cl100k_base"
    oversize: Literal["split", "keep"] = "split"
    sections: Literal["separate", "merge"] = "separate"
    title: str | None = None
    prepend_heading_path: bool = False
    segmenter: Any = None

    def __post_init__(self) -> None:
        self.split("", "")

    def split(self, text: str, doc_id: str) -> list[Chunk]:
        """Split one text."""
        return split(text, doc_id=doc_id, **self._arguments())

    def fingerprint(self, name: str) -> str:
        """Name a splitter with these settings, the same in every process and framework."""
        return fingerprint(name, self._arguments())

    def _arguments(self) -> dict[str, Any]:
        arguments = {field: getattr(self, field) for field in self.__struct_fields__}
        # No overlap in units is `None` to `split`, which allows one way of saying it at a time.
        return arguments | {"chunk_overlap": self.chunk_overlap or None}


class SourceDocument(msgspec.Struct, frozen=True):
    """Hold a text to split, its id if it has one, and where it starts if it is a piece.

    `start` is `None` for a whole document, else code points into the document named `doc_id`.
    `reserved` is how much of the budget, in its units, something else embedded with each chunk
    will take.
    """

    text: str
    doc_id: str | None = None
    start: int | None = None
    reserved: int = 0


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
    sources: Iterable[SourceDocument], settings: SplitSettings
) -> Iterator[list[Chunk]]:
    """Split documents, or pieces of documents; yield the chunks of each in order.

    Chunks are numbered per document across the call, and the offsets of a piece's chunks count
    from the start of its document. A document without an id is named after its text, the same in
    every process. Raises `ValueError` where two whole documents have one id, since their chunks
    could not be told apart, and where what is reserved leaves no room.
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
        chunks = _with_room(settings, source, doc_id).split(source.text, doc_id)
        next_index[doc_id] = first + len(chunks)
        yield _moved(chunks, first, source.start or 0)


def stored_id(chunk_id: str) -> str:
    """Turn a chunk id into a UUID, for stores (Qdrant) that take nothing else.

    >>> stored_id("guide#c0")
    '3366ef92-9182-5032-8ebf-ea29fd0af572'
    """
    return str(uuid5(_NAMESPACE, chunk_id))


def _with_room(settings: SplitSettings, source: SourceDocument, doc_id: str) -> SplitSettings:
    if not source.reserved:
        return settings
    if source.reserved >= settings.chunk_size:
        raise ValueError(
            f"the metadata embedded with document {doc_id!r} takes {source.reserved} of "
            f"chunk_size {settings.chunk_size}: exclude some of it or raise chunk_size"
        )
    return msgspec.structs.replace(settings, chunk_size=settings.chunk_size - source.reserved)


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
