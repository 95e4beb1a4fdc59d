"""What travels with a chunk into a store: flat keys, a readable heading path, fingerprints.

Stores reject nested values, so every value here is a string or an integer.
"""

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from ragtrace.chunking.chunk import Chunk

SEPARATOR = " > "

CHUNK_KEYS = frozenset(
    {
        "doc_id",
        "chunk_id",
        "chunk_index",
        "start_index",
        "end_index",
        "heading_path",
        "prefix_length",
        "suffix_length",
        "splitter",
        "content_hash",
    }
)
"""The keys that `chunk_metadata` writes; true of one text only, so no other text inherits them."""

DocumentIdKey = str | Callable[[Mapping[str, Any]], str] | None


def join_heading_path(path: tuple[str, ...]) -> str:
    r"""Write a heading path as one string; a `>` inside a heading is escaped.

    >>> join_heading_path(("Guide", "a > b"))
    'Guide > a \\> b'
    """
    return SEPARATOR.join(heading.replace("\\", "\\\\").replace(">", "\\>") for heading in path)


def split_heading_path(text: str) -> tuple[str, ...]:
    r"""Read a heading path back from its string.

    >>> split_heading_path("Guide > a \\> b")
    ('Guide', 'a > b')
    """
    if not text:
        return ()
    if "\\" not in text:
        return tuple(text.split(SEPARATOR))
    headings = [""]
    position = 0
    while position < len(text):
        if text.startswith(SEPARATOR, position):
            headings.append("")
            position += len(SEPARATOR)
            continue
        if text[position] == "\\" and position + 1 < len(text):
            position += 1
        headings[-1] += text[position]
        position += 1
    return tuple(headings)


def fingerprint(name: str, settings: Mapping[str, Any]) -> str:
    """Name a splitter and its settings in one short string, the same in every process.

    >>> fingerprint("sentence-aligned", {"chunk_size": 200})
    'sentence-aligned:2d3877'
    """
    # A function says nothing stable but its name; an object with an address in its repr would not
    # be the same in every process.
    text = json.dumps(
        settings,
        sort_keys=True,
        default=lambda value: getattr(value, "__qualname__", type(value).__qualname__),
    )
    return f"{name}:{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=3).hexdigest()}"


def content_hash(content: str) -> str:
    """Hash what gets embedded: 16 hex digits, equal for equal content in every process.

    >>> content_hash("Hello")
    '3c5c8a1fdb206886'
    """
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def document_id(
    metadata: Mapping[str, Any], own_id: str | None = None, key: DocumentIdKey = None
) -> str | None:
    """Find the id of a document: the named key, `doc_id`, its own id, or `source` with the page.

    Returns `None` where there is none of these. Raises `ValueError` where the named key is absent.

    >>> document_id({"source": "guide.pdf", "page": 3})
    'guide.pdf#page=3'
    """
    if callable(key):
        return key(metadata)
    if key is not None:
        if key not in metadata:
            raise ValueError(
                f"document has no {key!r} in its metadata: name a key that every one has"
            )
        return str(metadata[key])
    if metadata.get("doc_id"):
        return str(metadata["doc_id"])
    if own_id:
        return own_id
    if metadata.get("source"):
        page = metadata.get("page")
        return str(metadata["source"]) if page is None else f"{metadata['source']}#page={page}"
    return None


def chunk_metadata(chunk: Chunk, splitter: str, *, offsets: bool = True) -> dict[str, str | int]:
    """Write the metadata that goes into a store with a chunk.

    `splitter` is a fingerprint. `offsets=False` leaves `start_index` and `end_index` out, for text
    (converted HTML) that the reader of the store does not have.
    """
    values: dict[str, str | int] = {
        "doc_id": chunk.doc_id,
        "chunk_id": chunk.chunk_id,
        "chunk_index": chunk.index,
        "heading_path": join_heading_path(chunk.heading_path),
        "prefix_length": len(chunk.prefix),
        "suffix_length": len(chunk.suffix),
        "splitter": splitter,
        "content_hash": content_hash(chunk.content),
    }
    if offsets:
        values |= {"start_index": chunk.start, "end_index": chunk.end}
    return values
