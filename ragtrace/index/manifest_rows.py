"""The rows of a manifest, whatever file they stand in."""

import json
from typing import Any

import msgspec

from ragtrace.chunking.chunk import parse_chunk_id
from ragtrace.index.manifest import SCHEMA, ManifestHeader
from ragtrace.index.manifest_chunk import ManifestChunk, describe_chunks


def encode_chunk(chunk: ManifestChunk) -> bytes:
    """Write a chunk as JSON; a lone surrogate, which no UTF-8 holds, is escaped."""
    try:
        return msgspec.json.encode(chunk)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(chunk)).encode()


def read_header(line: bytes) -> ManifestHeader:
    """Read the first line; raise `ValueError` for a schema that is not this one."""
    header = msgspec.json.decode(line, type=ManifestHeader)
    if header.schema != SCHEMA:
        raise ValueError(f"schema is {header.schema!r}, this version reads {SCHEMA!r}")
    return header


_DECODER = msgspec.json.Decoder(ManifestChunk)


def read_chunk(line: bytes, splitter: str | None) -> ManifestChunk:
    """Read a chunk's line; what its id says need not be said again.

    Raises `ValueError` where the document, the index or the offsets are not known.
    """
    try:
        chunk = _DECODER.decode(line)
    except msgspec.ValidationError:
        chunk = msgspec.convert(complete(msgspec.json.decode(line)), ManifestChunk)
    except msgspec.DecodeError:
        # The escaped lone surrogates that msgspec refuses.
        chunk = msgspec.convert(complete(json.loads(line)), ManifestChunk)
    if (chunk.splitter is None and splitter is not None) or not chunk.content_hash:
        return next(describe_chunks([chunk], splitter=splitter))
    return chunk


def complete(row: Any) -> Any:
    """Add document and index from the id."""
    if not isinstance(row, dict):
        raise ValueError("expected a JSON object")
    if "chunk_id" in row and not {"doc_id", "index"} <= row.keys():
        doc_id, index = parse_chunk_id(str(row["chunk_id"]))
        row = {"doc_id": doc_id, "index": row.get("chunk_index", index), **row}
    if not {"start", "end"} <= row.keys():
        raise ValueError(
            "chunk has no 'start' and 'end': locate the chunks in their documents first"
        )
    return row
