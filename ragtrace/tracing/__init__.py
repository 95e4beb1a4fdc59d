"""See what a retriever returned: one line of JSON per call, written at once."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ragtrace.tracing.call import Call
from ragtrace.tracing.context import (
    TraceContext,
    current_call,
    current_context,
    trace_context,
    tracing_in_progress,
)
from ragtrace.tracing.feedback import Feedback, FeedbackReader, FeedbackWriter, read_feedback
from ragtrace.tracing.hit import FoundHits, Hit
from ragtrace.tracing.ids import trace_id
from ragtrace.tracing.in_flight import InFlight
from ragtrace.tracing.reader import Skipped, TraceReader, read_traces
from ragtrace.tracing.redaction import drop_snippets, hash_query
from ragtrace.tracing.schema import SCHEMA, ScoreKind, Stage, Trace, TraceError, TraceHit
from ragtrace.tracing.scores import check_direction, to_similarity
from ragtrace.tracing.tracer import Tracer, TracerOptions, as_tracer
from ragtrace.tracing.writer import TraceWriter, WriterStats

if TYPE_CHECKING:
    from ragtrace.tracing.mappings import (
        hits_from_chroma,
        hits_from_elasticsearch,
        hits_from_faiss,
        hits_from_pgvector,
        hits_from_pinecone,
        hits_from_qdrant,
        hits_from_weaviate,
    )
    from ragtrace.tracing.reading import read_hits
    from ragtrace.tracing.retriever import TracedRetriever
    from ragtrace.tracing.stored import read_stored, stored_metadata

__all__ = [
    "SCHEMA",
    "Call",
    "Feedback",
    "FeedbackReader",
    "FeedbackWriter",
    "FoundHits",
    "Hit",
    "InFlight",
    "ScoreKind",
    "Skipped",
    "Stage",
    "Trace",
    "TraceContext",
    "TraceError",
    "TraceHit",
    "TraceReader",
    "TraceWriter",
    "TracedRetriever",
    "Tracer",
    "TracerOptions",
    "WriterStats",
    "as_tracer",
    "check_direction",
    "current_call",
    "current_context",
    "drop_snippets",
    "hash_query",
    "hits_from_chroma",
    "hits_from_elasticsearch",
    "hits_from_faiss",
    "hits_from_pgvector",
    "hits_from_pinecone",
    "hits_from_qdrant",
    "hits_from_weaviate",
    "read_feedback",
    "read_hits",
    "read_stored",
    "read_traces",
    "stored_metadata",
    "to_similarity",
    "trace_context",
    "trace_id",
    "tracing_in_progress",
]


# These know how chunks are stored, and with that comes all of chunking. Who only reads traces, or
# brings hits of their own, need not load it.
_LOADED_WHEN_ASKED = {
    "TracedRetriever": "retriever",
    "hits_from_chroma": "mappings",
    "hits_from_elasticsearch": "mappings",
    "hits_from_faiss": "mappings",
    "hits_from_pgvector": "mappings",
    "hits_from_pinecone": "mappings",
    "hits_from_qdrant": "mappings",
    "hits_from_weaviate": "mappings",
    "read_hits": "reading",
    "read_stored": "stored",
    "stored_metadata": "stored",
}


def __getattr__(name: str) -> Any:
    if name not in _LOADED_WHEN_ASKED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LOADED_WHEN_ASKED[name]}"), name)
