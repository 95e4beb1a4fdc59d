"""What an index holds, and how to keep it true to its documents."""

from ragtrace.index.bm25 import Bm25Retriever
from ragtrace.index.embedding_cache import EmbeddingCache
from ragtrace.index.locate import Located, Unlocated, locate_chunks
from ragtrace.index.manifest import Manifest, ManifestHeader
from ragtrace.index.manifest_chunk import (
    DocumentRecord,
    Documents,
    ManifestChunk,
    describe_chunks,
    document_record,
)
from ragtrace.index.manifest_database import DatabaseManifest
from ragtrace.index.manifest_file import read_manifest, write_manifest
from ragtrace.index.permissions import permission_filter, require_filter
from ragtrace.index.plan import Stored, SyncPlan, plan_sync
from ragtrace.index.stale import StaleChunk, StaleReport, find_stale
from ragtrace.index.stored_hits import StoredHit, chunks_of, read_stored_hits
from ragtrace.index.synchronization import SyncTarget, sync

__all__ = [
    "Bm25Retriever",
    "DatabaseManifest",
    "DocumentRecord",
    "Documents",
    "EmbeddingCache",
    "Located",
    "Manifest",
    "ManifestChunk",
    "ManifestHeader",
    "StaleChunk",
    "StaleReport",
    "Stored",
    "StoredHit",
    "SyncPlan",
    "SyncTarget",
    "Unlocated",
    "chunks_of",
    "describe_chunks",
    "document_record",
    "find_stale",
    "locate_chunks",
    "permission_filter",
    "plan_sync",
    "read_manifest",
    "read_stored_hits",
    "require_filter",
    "sync",
    "write_manifest",
]
