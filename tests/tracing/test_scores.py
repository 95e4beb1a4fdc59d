"""A cosine is read only where the metric is stated; direction is doubted, never turned."""

import math
from collections.abc import Callable

import pytest

from ragtrace.tracing import check_direction, to_similarity
from tests.tracing.records import make_trace, make_trace_hit

# What each store computes from two vectors of length one with this cosine.
RAW: dict[str, Callable[[float], float]] = {
    "cosine": lambda cosine: cosine,
    "dot": lambda cosine: cosine,
    "cosine-distance": lambda cosine: 1 - cosine,
    "dot-distance": lambda cosine: 1 - cosine,
    "half-cosine": lambda cosine: (1 + cosine) / 2,
    "certainty": lambda cosine: 1 - (1 - cosine) / 2,
    "negative-dot": lambda cosine: -cosine,
    "squared-l2": lambda cosine: 2 - 2 * cosine,
    "l2": lambda cosine: math.sqrt(2 - 2 * cosine),
    "inverse-squared-l2": lambda cosine: 1 / (1 + 2 - 2 * cosine),
    "exp-cosine-distance": lambda cosine: math.exp(-(1 - cosine)),
    "exp-squared-l2": lambda cosine: math.exp(-(2 - 2 * cosine)),
}


@pytest.mark.parametrize("metric", RAW)
@pytest.mark.parametrize("cosine", [1.0, math.sqrt(0.5), 0.0, -1.0])
def test_every_metric_gives_the_cosine_back(metric: str, cosine: float) -> None:
    similarity = to_similarity(RAW[metric](cosine), metric)
    assert similarity == pytest.approx(cosine, abs=1e-12)


@pytest.mark.parametrize("metric", ["bm25", "rrf", "reranker", "min-max", "sigmoid"])
def test_scores_that_only_order_are_not_converted(metric: str) -> None:
    assert to_similarity(0.5, metric) is None


def test_a_score_that_the_metric_cannot_give_is_not_converted() -> None:
    assert to_similarity(0.0, "inverse-squared-l2") is None
    assert to_similarity(-1.0, "exp-squared-l2") is None


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown metric 'l3': give one of bm25, certainty"):
        to_similarity(0.5, "l3")


@pytest.mark.parametrize(
    ("scores", "kind", "doubt"),
    [
        ([0.9, 0.5, 0.1], "similarity", None),
        ([0.1, 0.5, 0.9], "similarity", "is this a distance?"),
        ([0.1, 0.1, 0.9], "relevance", "is this a distance?"),
        ([0.1, 0.5, 0.9], "distance", None),
        ([0.9, 0.5, 0.1], "distance", "is this a similarity?"),
        ([0.1, 0.9, 0.5], "similarity", None),
        ([0.5, 0.5, 0.5], "similarity", None),
        ([0.1, 0.9], "similarity", None),
        ([0.1, None, 0.9], "similarity", None),
        ([0.1, 0.5, 0.9], "unknown", None),
        ([0.1, 0.5, 0.9], None, None),
        ([], "similarity", None),
    ],
)
def test_scores_that_run_against_their_kind_are_doubted(
    scores: list[float | None], kind: str | None, doubt: str | None
) -> None:
    hits = tuple(make_trace_hit(rank=rank, score=score) for rank, score in enumerate(scores, 1))
    found = check_direction(make_trace(hits=hits, score_kind=kind))
    assert found is None if doubt is None else doubt in (found or "")
