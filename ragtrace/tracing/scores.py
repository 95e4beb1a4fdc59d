"""What a score says: which way it runs, and what cosine it stands for where that can be said."""

import math
from collections.abc import Callable

from ragtrace.tracing.schema import ScoreKind, Trace

_CONVERSIONS: dict[str, Callable[[float], float]] = {
    "cosine": lambda score: score,
    "cosine-distance": lambda score: 1 - score,
    "half-cosine": lambda score: 2 * score - 1,
    "certainty": lambda score: 2 * score - 1,
    "dot": lambda score: score,
    "negative-dot": lambda score: -score,
    "dot-distance": lambda score: 1 - score,
    "l2": lambda score: 1 - score * score / 2,
    "squared-l2": lambda score: 1 - score / 2,
    "inverse-squared-l2": lambda score: 1 - (1 / score - 1) / 2,
    "exp-cosine-distance": lambda score: 1 + math.log(score),
    "exp-squared-l2": lambda score: 1 + math.log(score) / 2,
}
_RANK_ONLY = frozenset({"bm25", "rrf", "reranker", "min-max", "sigmoid"})

_DIRECTIONS = {
    "similarity": "scores rise with rank although they are called a similarity: "
    "is this a distance?",
    "relevance": "scores rise with rank although they are called a relevance: is this a distance?",
    "distance": "scores fall with rank although they are called a distance: is this a similarity?",
}


def to_similarity(score: float, metric: str) -> float | None:
    """Return the cosine that a raw score stands for; vectors of length one are assumed.

    `metric` says what the store returned: "cosine"; "cosine-distance" (1 - cosine: Chroma,
    pgvector `<=>`, Weaviate); "half-cosine" ((1 + cosine) / 2: Elasticsearch cosine and dot);
    "certainty" (Weaviate); "dot" (Pinecone, Qdrant, FAISS); "negative-dot" (pgvector `<#>`);
    "dot-distance" (1 - dot: Chroma ip); "l2" (Qdrant, pgvector `<->`); "squared-l2" (FAISS,
    Chroma, LanceDB, Milvus, Pinecone); "inverse-squared-l2" (1 / (1 + d²): Elasticsearch);
    "exp-cosine-distance" and "exp-squared-l2" (exp(-distance): LlamaIndex over Chroma or LanceDB).
    "bm25", "rrf", "reranker", "min-max" and "sigmoid" order hits and say nothing else: `None`, as
    for a score that the metric cannot have given. Raises `ValueError` for another name.

    >>> to_similarity(0.25, "cosine-distance"), to_similarity(12.5, "bm25")
    (0.75, None)
    """
    if metric in _RANK_ONLY:
        return None
    if metric not in _CONVERSIONS:
        known = ", ".join(sorted([*_CONVERSIONS, *_RANK_ONLY]))
        raise ValueError(f"unknown metric {metric!r}: give one of {known}")
    try:
        return _CONVERSIONS[metric](float(score))
    except (ValueError, ZeroDivisionError):
        return None


def check_direction(trace: Trace) -> str | None:
    """Say so where all scores of a trace run against their stated kind; nothing is turned round.

    Fewer than three scores, or an unknown kind, prove nothing.
    """
    if trace.score_kind is None or trace.score_kind == "unknown":
        return None
    scores = [hit.score for hit in trace.hits if hit.score is not None]
    return _DIRECTIONS[trace.score_kind] if run_backwards(scores, trace.score_kind) else None


def run_backwards(scores: list[float], kind: ScoreKind) -> bool:
    """Tell whether at least three scores, best hit first, run against their kind throughout."""
    if len(scores) < 3 or scores[0] == scores[-1]:
        return False
    # First and last settle the direction, so the sort, linear on sorted input, is rarely needed.
    if (scores[0] < scores[-1]) == (kind == "distance"):
        return False
    return scores == sorted(scores, reverse=kind == "distance")
