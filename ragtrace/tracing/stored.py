"""Read a hit from what a store kept of a chunk: its text and its metadata.

Both frameworks hand back a text, a metadata mapping and an id; what they mean is decided here.
"""

import json
from collections.abc import Mapping
from typing import Any

from ragtrace.chunking.chunk import strip_decoration
from ragtrace.chunking.metadata import (
    CHUNK_KEYS,
    content_hash,
    document_id,
    join_heading_path,
    split_heading_path,
)
from ragtrace.tracing.hit import Hit

Span = tuple[int | None, int | None]


def read_stored(
    content: str,
    metadata: Mapping[str, Any],
    *,
    rank: int,
    score: float | None = None,
    own_id: str | None = None,
    doc_id: str | None = None,
    span: Span = (None, None),
) -> Hit:
    """Make a hit of a stored text; `own_id`, `doc_id` and `span` are what the framework knows.

    Without any id, the hash of the content is the id. The chunk's metadata counts only while it is
    about this very text: a later splitter or postprocessor copies metadata to other texts, and a
    wrong offset is worse than none.

    >>> read_stored("Hello", {"doc_id": "guide", "start_index": 7}, rank=1, own_id="a1").end
    12
    """
    get = metadata.get
    prefix, suffix = get("prefix_length"), get("suffix_length")
    start, end = get("start_index"), get("end_index")
    if not (type(prefix) is type(suffix) is type(start) is type(end) is int):
        prefix, suffix = _integer(prefix) or 0, _integer(suffix) or 0
        start, end = _integer(start), _integer(end)
    described = _describes(get("content_hash"), content, prefix + suffix, (start, end))
    known = metadata if described else {}
    if described:
        text = strip_decoration(content, prefix, suffix) if prefix or suffix else content
        start, end = _span(text, (start, end))
    else:
        text, start, end = content, None, None
    if start is None:
        start, end = _span(text, span)
    own_document = get("doc_id")
    version = get("doc_version")
    return Hit(
        chunk_id=str(known.get("chunk_id") or own_id or content_hash(content)),
        doc_id=str(own_document) if own_document else doc_id or document_id(metadata),
        text=text,
        score=score,
        rank=rank,
        chunk_index=_integer(known.get("chunk_index")),
        start=start,
        end=end,
        heading_path=_path(get("heading_path")),
        doc_version=None if version is None else str(version),
        merged_ids=_names(known.get("merged_ids")),
        metadata=dict(metadata) if described else _of_document(metadata),
    )


def decoration_of(content: str, hit: Hit) -> tuple[str, str]:
    """Return what `read_stored` took off a text, in front of the hit's own text and behind it.

    >>> content = "Guide: Hello"
    >>> decoration_of(content, read_stored(content, {"prefix_length": 7}, rank=1))
    ('Guide: ', '')
    """
    if len(content) == len(hit.text):
        return "", ""
    prefix = _integer(hit.metadata.get("prefix_length")) or 0
    return content[:prefix], content[prefix + len(hit.text) :]


def stored_metadata(hit: Hit) -> dict[str, Any]:
    """Write what a text made after retrieval keeps beside it; `read_stored` reads it back.

    Flat values only, as in a store: `merged_ids` becomes a JSON list in a string.

    >>> hit = Hit(chunk_id="m", text="One. Two.", merged_ids=("a#c0", "a#c1"))
    >>> stored_metadata(hit)
    {'chunk_id': 'm', 'merged_ids': '["a#c0", "a#c1"]'}
    """
    values = {
        "doc_id": hit.doc_id,
        "chunk_id": hit.chunk_id,
        "chunk_index": hit.chunk_index,
        "start_index": hit.start,
        "end_index": hit.end,
        "heading_path": join_heading_path(hit.heading_path) or None,
        "doc_version": hit.doc_version,
        "merged_ids": json.dumps(hit.merged_ids, ensure_ascii=False) if hit.merged_ids else None,
    }
    return hit.metadata | {key: value for key, value in values.items() if value is not None}


def _of_document(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in CHUNK_KEYS}


def _describes(recorded: Any, content: str, decoration: int, span: Span) -> bool:
    if recorded is None:
        return True
    start, end = span
    if start is None or end is None:
        return bool(recorded == content_hash(content))
    # Ten hits a query: comparing lengths is a tenth of the cost of hashing, and no two texts of
    # one length were ever seen to swap their metadata.
    return decoration + (end - start) == len(content)


def _span(text: str, span: Span) -> Span:
    start, end = span
    if start is None or start < 0:
        return None, None
    if end is None:
        return start, start + len(text)
    return (start, end) if end - start == len(text) else (None, None)


def _integer(value: Any) -> int | None:
    if type(value) is int:
        return value
    # Some stores give integers back as floats (Pinecone) or strings.
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else None


def _path(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return split_heading_path(value) if value else ()
    return tuple(str(heading) for heading in value) if isinstance(value, list | tuple) else ()


def _names(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    # Stores reject lists, so a merged chunk keeps the ids of its members as a JSON list.
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return ()
    return tuple(str(name) for name in value) if isinstance(value, list | tuple) else ()
