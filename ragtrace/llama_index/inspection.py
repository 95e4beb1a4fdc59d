"""What can be told about a retriever from outside: its name, its k, what its scores mean."""

from collections.abc import Mapping
from typing import Any

from llama_index_instrumentation.dispatcher import active_instrument_tags

from ragtrace.tracing import ScoreKind

COUNT_NAMES = ("similarity_top_k", "_similarity_top_k", "top_k", "_top_k", "k")

# What each store's class in LlamaIndex hands on, whatever the database behind it computes. Where it
# depends on how the user's collection was made (Qdrant, Pinecone, Milvus), it is not known.
STORE_SCORES: Mapping[str, ScoreKind] = {
    "SimpleVectorStore": "similarity",
    "PGVectorStore": "similarity",
    "ChromaVectorStore": "relevance",  # exp(-distance)
    "LanceDBVectorStore": "relevance",  # exp(-distance)
    "ElasticsearchStore": "relevance",  # stretched to 0..1 within each query
    "WeaviateVectorStore": "relevance",  # normalised within each query
}
RETRIEVER_SCORES: Mapping[str, ScoreKind] = {
    "BM25Retriever": "relevance",
    "QueryFusionRetriever": "relevance",
}
INNER_PRODUCT = 0
"""FAISS's number for the metric whose scores grow with similarity; all others are distances."""


def name_of(retriever: object) -> str:
    """Return the name under which a retriever is recorded."""
    return type(retriever).__name__


def top_k_of(retriever: object) -> int | None:
    """Return how many nodes are asked for, or `None` where that cannot be told."""
    for name in COUNT_NAMES:
        count = _read(retriever, name)
        if isinstance(count, int) and not isinstance(count, bool):
            return int(count)
    return None


def score_kind_of(retriever: object) -> ScoreKind:
    """Return what a retriever's scores mean, as far as its class and its store's tell."""
    store = _read(retriever, "_vector_store")
    index = _read(store, "_faiss_index")
    if index is not None:
        metric = _read(index, "metric_type")
        return "similarity" if metric == INNER_PRODUCT else "distance"
    names = (type(store).__name__, type(retriever).__name__)
    known = (STORE_SCORES.get(names[0]), RETRIEVER_SCORES.get(names[1]))
    return next((kind for kind in known if kind is not None), "unknown")


def labels_of_context() -> dict[str, Any]:
    """Return what a trace keeps of LlamaIndex's `instrument_tags`: ids where they are named so.

    A workflow's run becomes the trace id. Its other tags are left out: they quote what its steps
    were given, and a trace holds no text that nobody asked for.
    """
    tags = active_instrument_tags.get()
    if not tags:
        return {}
    tags = dict(tags)
    run_id = tags.get("llamaindex.run_id")
    ids = {key: tags.pop(key, None) for key in ("question_id", "session_id", "trace_id")}
    own = {key: value for key, value in tags.items() if not key.startswith("llamaindex.")}
    labels = {key: str(value) for key, value in ids.items() if value is not None}
    if run_id is not None:
        labels.setdefault("trace_id", str(run_id))
    return {**labels, "metadata": own or None}


def _read(thing: object, name: str) -> Any:
    try:
        return getattr(thing, name, None)
    except Exception:  # a property of someone else's class may do anything
        return None
