import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.evaluation import EvalSet, analyze
from ragtrace.evaluation.signals import Histogram, SignalTotals
from tests.evaluation.making import trace

NOTHING = EvalSet(questions=())


def kinds(traces, eval_set=NOTHING):
    return [signal.kind for signal in analyze(traces, eval_set).signals]


def test_scores_that_hardly_differ_are_reported():
    narrow = [trace(["a", "b"], scores=[0.81, 0.80]) for _ in range(10)]
    wide = [trace(["a", "b"], scores=[0.81, 0.60]) for _ in range(10)]
    assert kinds(narrow) == ["narrow-scores"]
    assert kinds(wide) == []
    assert kinds(narrow + wide * 4) == []


def test_scores_of_rank_fusion_are_narrow_by_nature():
    assert kinds([trace(["a", "b"], scores=[1 / 61, 1 / 62]) for _ in range(10)]) == []


def test_scores_against_their_stated_direction_are_reported():
    ids, rising = ["a", "b", "c"], [0.1, 0.4, 0.9]
    assert kinds([trace(ids, scores=rising, score_kind="similarity")]) == ["reversed-scores"]
    assert kinds([trace(ids, scores=rising, score_kind="distance")]) == []
    assert kinds([trace(ids, scores=rising)]) == []


def test_two_splitters_in_one_run_are_reported_with_their_shares():
    traces = [trace(["a"], splitter="prose:1")] * 3 + [trace(["a"], splitter="prose:2")]
    (signal,) = analyze(traces, NOTHING).signals
    assert signal.kind == "mixed-splitters"
    assert signal.figures == {"prose:1": 3, "prose:2": 1}


def test_long_queries_that_take_longer_are_reported():
    def traces(slow):
        return [
            trace(["a"], query="x" * length, latency_ms=(slow if length > 100 else 10.0) + number)
            for length in (10, 400)
            for number in range(25)
        ]

    (signal,) = analyze(traces(80.0), NOTHING).signals
    assert signal.kind == "slow-long-queries"
    assert kinds(traces(10.0)) == []


def test_one_document_that_fails_far_more_than_the_others_is_reported():
    items = [
        {"query": f"q{n}", "question_id": f"q{n}", "expected_chunk_ids": [f"doc{n % 5}#c{n}"]}
        for n in range(50)
    ]
    traces = [trace([] if n % 5 == 0 else [f"doc{n % 5}#c{n}"], name=f"q{n}") for n in range(50)]
    (signal,) = analyze(traces, EvalSet.from_items(items)).signals
    assert (signal.kind, signal.examples) == ("failing-document", ("doc0",))
    evenly = [trace([] if n < 10 else [f"doc{n % 5}#c{n}"], name=f"q{n}") for n in range(50)]
    assert kinds(evenly, EvalSet.from_items(items)) == []


@settings(max_examples=50)
@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=60), st.sampled_from([0.5, 0.95]))
def test_a_histogram_knows_quantiles_within_its_width(values, share):
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    exact = sorted(values)[max(0, -(-int(share * len(values) * 1000) // 1000) - 1)]
    assert histogram.quantile(share) == pytest.approx(exact, rel=0.09) or len(values) > 1


def test_parts_of_the_totals_add_up():
    rng = random.Random(3)
    traces = [
        trace(
            ["a", "b", "c"],
            query="x" * rng.randint(1, 400),
            scores=sorted((rng.random() for _ in range(3)), reverse=True),
            latency_ms=rng.expovariate(0.1),
            score_kind="similarity",
            splitter=rng.choice(["s:1", "s:2"]),
        )
        for _ in range(200)
    ]
    whole, first, second = (SignalTotals(5) for _ in range(3))
    for number, one in enumerate(traces):
        whole.add(one)
        (first if number % 3 else second).add(one)
    first.merge(second)
    assert first.signals() == whole.signals()
    assert first.all_latencies().quantile(0.95) == whole.all_latencies().quantile(0.95)
