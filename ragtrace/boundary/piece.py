"""Read a chunk, whatever made it: ours, a string, a mapping, a framework's object."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ragtrace.chunking.chunk import Chunk, parse_chunk_id
from ragtrace.tracing.stored import read_stored

DEFAULT_DOCUMENT = "document"


class Piece(msgspec.Struct, frozen=True, gc=False):
    """Hold what the validator needs of a chunk.

    `text` is the undecorated slice; `prefix` and `suffix` are the decoration around it. `start` and
    `end` are as the chunk claims, unchecked, and `None` where it claims nothing.
    """

    chunk_id: str
    doc_id: str
    text: str
    index: int | None = None
    start: int | None = None
    end: int | None = None
    prefix: str = ""
    suffix: str = ""
    splitter: str = ""
    size: int = 0

    @property
    def content(self) -> str:
        """Return what is embedded."""
        return self.prefix + self.text + self.suffix


def read_pieces(chunks: Iterable[Any], doc_id: str | None = None) -> Iterator[Piece]:
    """Read chunks of any known shape, one at a time.

    Known are `Chunk`, strings, mappings (`text`, `content` or `page_content`, with `metadata` or
    flat), and objects with `page_content` (LangChain), `get_content` (LlamaIndex) or `text`.
    `doc_id` names the document of chunks that name none. Raises `ValueError` for anything else,
    naming its place.

    >>> [piece.chunk_id for piece in read_pieces(["One.", "Two."])]
    ['document#c0', 'document#c1']
    """
    if isinstance(chunks, str | bytes | Mapping):
        raise ValueError("chunks must be a list or another iterable of chunks, not one value")
    default = doc_id or DEFAULT_DOCUMENT
    for position, chunk in enumerate(chunks):
        if isinstance(chunk, Chunk):
            yield Piece(
                chunk.chunk_id,
                chunk.doc_id,
                chunk.text,
                chunk.index,
                chunk.start,
                chunk.end,
                chunk.prefix,
                chunk.suffix,
                getattr(chunk, "splitter", None) or "",  # a manifest's chunk knows it
                chunk.length,
            )
        elif isinstance(chunk, str):
            yield Piece(f"{default}#c{position}", default, chunk, index=position)
        elif isinstance(chunk, Piece):
            yield chunk
        else:
            yield _read_object(chunk, position, default)


def _read_object(chunk: Any, position: int, default: str) -> Piece:
    if isinstance(chunk, Mapping):
        return _from_mapping(chunk, position, default)
    chunk = getattr(chunk, "node", chunk)  # a node with a score holds the node
    if callable(getattr(chunk, "get_content", None)):
        span = (getattr(chunk, "start_char_idx", None), getattr(chunk, "end_char_idx", None))
        return _from_stored(
            chunk.get_content(),
            getattr(chunk, "metadata", None),
            position,
            default,
            own_id=getattr(chunk, "node_id", None),
            doc_id=getattr(chunk, "ref_doc_id", None),
            span=span,
        )
    text = getattr(chunk, "page_content", None)
    if isinstance(text, str):
        metadata = getattr(chunk, "metadata", None)
        return _from_stored(text, metadata, position, default, own_id=getattr(chunk, "id", None))
    text = getattr(chunk, "text", None)
    if isinstance(text, str):
        # A hit, or another library's chunk: offsets under one of two spellings.
        fields = {name: getattr(chunk, name, None) for name in _FLAT}
        return _from_mapping({"text": text, **fields}, position, default)
    raise ValueError(
        f"chunk {position} is a {type(chunk).__name__}: expected a Chunk, a string, a mapping with "
        "'text', a LangChain Document or a LlamaIndex node"
    )


_FLAT = (
    "chunk_id",
    "id",
    "doc_id",
    "chunk_index",
    "index",
    "start",
    "end",
    "start_index",
    "end_index",
    "prefix",
    "suffix",
    "prefix_length",
    "suffix_length",
    "splitter",
    "length",
)


def _from_mapping(values: Mapping[str, Any], position: int, default: str) -> Piece:
    text = next(
        (values[key] for key in ("text", "content", "page_content") if values.get(key) is not None),
        None,
    )
    if not isinstance(text, str):
        raise ValueError(
            f"chunk {position} has no text: give it under 'text', 'content' or 'page_content'"
        )
    nested = values.get("metadata")
    metadata = dict(nested) if isinstance(nested, Mapping) else {}
    for key in _FLAT:
        if values.get(key) is not None:
            metadata.setdefault(key, values[key])
    if metadata.get("prefix_length") is not None and values.get("content_hash") is not None:
        metadata.setdefault("content_hash", values["content_hash"])
    start, end = metadata.pop("start", None), metadata.pop("end", None)
    metadata.setdefault("chunk_index", metadata.pop("index", None))
    piece = _from_stored(
        text, metadata, position, default, own_id=metadata.pop("id", None), span=(start, end)
    )
    # A manifest keeps the decoration beside the slice, not inside it.
    return msgspec.structs.replace(
        piece,
        prefix=piece.prefix or str(metadata.get("prefix") or ""),
        suffix=piece.suffix or str(metadata.get("suffix") or ""),
    )


def _from_stored(
    content: str,
    metadata: Mapping[str, Any] | None,
    position: int,
    default: str,
    *,
    own_id: Any = None,
    doc_id: str | None = None,
    span: tuple[Any, Any] = (None, None),
) -> Piece:
    metadata = metadata or {}
    known = read_stored(
        content,
        metadata,
        rank=position + 1,
        own_id=None if own_id is None else str(own_id),
        doc_id=doc_id,
    )
    start, end = known.start, known.end
    if start is None:
        # Offsets that do not fit the text are not believed there; here they are what is checked.
        start = _whole(metadata.get("start_index", span[0]))
        end = _whole(metadata.get("end_index", span[1]))
    at = content.find(known.text) if len(known.text) < len(content) else 0
    own_document, index = known.doc_id, known.chunk_index
    if own_document is None or index is None:
        named, number = _parts(known.chunk_id)
        own_document, index = own_document or named, number if index is None else index
    return Piece(
        known.chunk_id,
        own_document or default,
        known.text,
        index,
        start,
        start + len(known.text) if end is None and start is not None else end,
        content[:at],
        content[at + len(known.text) :],
        str(metadata.get("splitter") or ""),
        _whole(metadata.get("length")) or 0,
    )


def _parts(chunk_id: str) -> tuple[str | None, int | None]:
    try:
        return parse_chunk_id(chunk_id)
    except ValueError:
        return None, None


def _whole(value: Any) -> int | None:
    try:
        return None if value is None else int(float(value))
    except (TypeError, ValueError):
        return None


def in_reading_order(chunks: Iterable[Any]) -> list[Piece]:
    """Return chunks document by document, each in order, as far as indices or offsets tell.

    For stores that give chunks back in an order of their own; all are held at once.

    >>> stored = [{"text": "Two.", "chunk_id": "a#c1"}, {"text": "One.", "chunk_id": "a#c0"}]
    >>> [piece.text for piece in in_reading_order(stored)]
    ['One.', 'Two.']
    """
    groups: dict[str, list[Piece]] = {}
    for piece in read_pieces(chunks):
        groups.setdefault(piece.doc_id, []).append(piece)
    ordered: list[Piece] = []
    for group in groups.values():
        if all(piece.index is not None for piece in group):
            group.sort(key=lambda piece: piece.index or 0)
        elif all(piece.start is not None for piece in group):
            group.sort(key=lambda piece: piece.start or 0)
        ordered += group
    return ordered
