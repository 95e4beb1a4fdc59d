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
from ragtrace.chunking.metadata import DocumentIdKey, document_id, fingerprint, split_heading_path
from ragtrace.chunking.split import split

IdStyle = Literal["chunk_id", "uuid5"]
"""What a chunk is called in a store: its chunk id, or for some stores (Qdrant) a UUID."""

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

    `start` is `None` for a whole document, else code points into the document named `doc_id`; it is
    `None` as well for a `piece` whose place is not known, whose chunks have offsets into the piece.
    `heading_path` is where in its document a piece stands, `title` goes in front of each chunk, and
    `reserved` is how much of the budget, in its units, something else embedded with each chunk
    will take.
    """

    text: str
    doc_id: str | None = None
    start: int | None = None
    heading_path: tuple[str, ...] = ()
    title: str | None = None
    reserved: int = 0
    piece: bool = False


def read_source(
    content: str,
    metadata: Mapping[str, Any],
    *,
    own_id: str | None = None,
    start: int | None = None,
    parent_id: str | None = None,
    key: DocumentIdKey = None,
    title_key: str | None = None,
) -> SourceDocument:
    """Read a whole document, or with `start` or `parent_id` a chunk of one, without decoration.

    A document's own id names it; a chunk's own id names the chunk, so it is not asked. A title is
    taken from the metadata where a key for it is named.

    >>> source = read_source("Guide: Hello", {"doc_id": "a", "prefix_length": 7}, start=40)
    >>> source.text, source.start
    ('Hello', 40)
    """
    found = metadata.get(title_key) if title_key else None
    title = None if found is None else str(found)
    if start is None and parent_id is None:
        return SourceDocument(content, document_id(metadata, own_id, key), title=title)
    text = strip_decoration(
        content, int(metadata.get("prefix_length", 0)), int(metadata.get("suffix_length", 0))
    )
    path = split_heading_path(str(metadata.get("heading_path", "")))
    doc_id = document_id(metadata, parent_id, key)
    return SourceDocument(text, doc_id, start, path, title, piece=start is None)


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
        is_whole = source.start is None and not source.piece
        if doc_id in whole or (doc_id in next_index and is_whole):
            raise ValueError(
                f"two documents have the id {doc_id!r}: give each its own "
                "metadata['doc_id'], or name the key or function that tells them apart"
            )
        if is_whole:
            whole.add(doc_id)
        first = next_index.get(doc_id, 0)
        chunks = _settings_for(source, doc_id, settings).split(source.text, doc_id)
        next_index[doc_id] = first + len(chunks)
        yield [_placed(chunk, first, source) for chunk in chunks]


def stored_id(chunk_id: str) -> str:
    """Turn a chunk id into a UUID, for stores (Qdrant) that take nothing else.

    >>> stored_id("guide#c0")
    '3366ef92-9182-5032-8ebf-ea29fd0af572'
    """
    return str(uuid5(_NAMESPACE, chunk_id))


def _settings_for(source: SourceDocument, doc_id: str, settings: SplitSettings) -> SplitSettings:
    if source.reserved >= settings.chunk_size:
        raise ValueError(
            f"the metadata embedded with document {doc_id!r} takes {source.reserved} of "
            f"chunk_size {settings.chunk_size}: exclude some of it or raise chunk_size"
        )
    if not source.reserved and source.title is None:
        return settings
    room = settings.chunk_size - source.reserved
    return msgspec.structs.replace(
        settings,
        chunk_size=room,
        # An overlap shrinks where it does not fit.
        chunk_overlap=min(settings.chunk_overlap, room - 1) if settings.chunk_overlap else None,
        title=source.title if source.title is not None else settings.title,
    )


def _unused_name(text: str, used: Mapping[str, int]) -> str:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    name = f"document-{digest}"
    repeat = 1
    while name in used:
        repeat += 1
        name = f"document-{digest}-{repeat}"
    return name


def _placed(chunk: Chunk, first_index: int, source: SourceDocument) -> Chunk:
    """Count a piece's chunk from the start of its document, below the headings of the piece."""
    offset = source.start or 0
    if not (first_index or offset or source.heading_path):
        return chunk
    return msgspec.structs.replace(
        chunk,
        index=chunk.index + first_index,
        start=chunk.start + offset,
        end=chunk.end + offset,
        heading_path=_below(source.heading_path, chunk.heading_path),
        heading_paths=tuple(_below(source.heading_path, path) for path in chunk.heading_paths),
    )


def _below(outer: tuple[str, ...], inner: tuple[str, ...]) -> tuple[str, ...]:
    """Put a path under another; a heading that stands in both, since the piece holds it, once.

    >>> _below(("Guide", "Limits"), ("Limits", "Time"))
    ('Guide', 'Limits', 'Time')
    """
    for shared in range(min(len(outer), len(inner)), 0, -1):
        if outer[-shared:] == inner[:shared]:
            return outer + inner[shared:]
    return outer + inner
