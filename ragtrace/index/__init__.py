"""What an index holds, and how to keep it true to its documents."""

from ragtrace.index.bm25 import Bm25Retriever
from ragtrace.index.manifest import Manifest, ManifestHeader
from ragtrace.index.manifest_chunk import (
    DocumentRecord,
    ManifestChunk,
    describe_chunks,
    document_record,
)
from ragtrace.index.manifest_database import DatabaseManifest
from ragtrace.index.manifest_file import read_manifest, write_manifest

__all__ = [
    "Bm25Retriever",
    "DatabaseManifest",
    "DocumentRecord",
    "Manifest",
    "ManifestChunk",
    "ManifestHeader",
    "describe_chunks",
    "document_record",
    "read_manifest",
    "write_manifest",
]
