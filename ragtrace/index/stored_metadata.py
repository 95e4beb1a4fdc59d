"""What a store keeps beside a chunk's text when an index is kept in step by `sync`."""

from typing import Any

from ragtrace.chunking.metadata import chunk_metadata
from ragtrace.index.manifest_chunk import ManifestChunk
from ragtrace.index.permissions import permission_metadata


def store_metadata(chunk: ManifestChunk) -> dict[str, Any]:
    """Write flat metadata: the document's own, the chunk's place, version, time and permissions."""
    metadata = chunk.metadata | chunk_metadata(chunk, chunk.splitter or "")
    if not chunk.splitter:
        del metadata["splitter"]
    if chunk.doc_version is not None:
        metadata["doc_version"] = chunk.doc_version
    if chunk.updated_at is not None:
        metadata["updated_at"] = chunk.updated_at
    return metadata | permission_metadata(chunk.permissions)
