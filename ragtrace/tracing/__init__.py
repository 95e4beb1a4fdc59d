"""See what a retriever returned: one line of JSON per call, written at once."""

from ragtrace.tracing.call import Call
from ragtrace.tracing.context import (
    TraceContext,
    current_call,
    current_context,
    trace_context,
    tracing_in_progress,
)
from ragtrace.tracing.feedback import Feedback, FeedbackReader, FeedbackWriter, read_feedback
from ragtrace.tracing.hit import Hit
from ragtrace.tracing.ids import trace_id
from ragtrace.tracing.in_flight import InFlight
from ragtrace.tracing.mappings import (
    hits_from_chroma,
    hits_from_elasticsearch,
    hits_from_faiss,
    hits_from_pgvector,
    hits_from_pinecone,
    hits_from_qdrant,
    hits_from_weaviate,
)
from ragtrace.tracing.reader import Skipped, TraceReader, read_traces
from ragtrace.tracing.reading import FoundHits, read_hits
from ragtrace.tracing.redaction import drop_snippets, hash_query
from ragtrace.tracing.retriever import TracedRetriever
from ragtrace.tracing.schema import SCHEMA, ScoreKind, Stage, Trace, TraceError, TraceHit
from ragtrace.tracing.scores import check_direction, to_similarity
from ragtrace.tracing.stored import read_stored, stored_metadata
from ragtrace.tracing.tracer import Tracer, TracerOptions, as_tracer
from ragtrace.tracing.writer import TraceWriter, WriterStats

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
