"""Figures of live traffic, checked against traces that were made to have them."""

import pytest

from ragtrace.evaluation.monitoring import Monitor, MonitorLimits, check_figures, monitor
from ragtrace.tracing import Trace
from ragtrace.tracing.schema import TraceError, TraceHit


def trace(number, *scores, **fields):
    hits = tuple(
        TraceHit(rank=rank, chunk_id=f"d#c{number * rank}", doc_id="d", score=score, snippet="x")
        for rank, score in enumerate(scores, 1)
    )
    values = {"ts": 1000.0 + number, "latency_ms": float(number + 1), "query": "Who?", "top_k": 5}
    return Trace(**({"id": f"{number:032x}", "hits": hits} | values | fields))


def test_the_figures_are_those_of_the_traces():
    traces = [trace(number, 0.9, 0.5) for number in range(95)]
    traces += [trace(number) for number in range(95, 99)]
    traces.append(trace(99, error=TraceError(type="RuntimeError", message="down")))
    figures = monitor(traces)
    assert figures.retrievals == 100
    assert (figures.empty, figures.failed) == (4, 1)
    assert figures.per_minute == pytest.approx(60 * 100 / 99)
    assert figures.latency_ms["p50"] == pytest.approx(50, rel=0.1)
    assert figures.latency_ms["p95"] == pytest.approx(95, rel=0.1)
    assert figures.score_spread["p50"] == pytest.approx(0.4, rel=0.1)
    assert (figures.first_ts, figures.last_ts) == (1000.0, 1099.0)
    assert figures.frequent[0].share == 0.02


def test_sampled_traces_stand_for_more_than_themselves():
    figures = monitor(trace(number, sample_rate=0.1) for number in range(5))
    assert (figures.retrievals, figures.estimated) == (5, 50.0)


def test_inner_retrievals_and_merged_records_are_not_counted():
    figures = monitor([trace(1, 1.0), trace(2, parent_id="0" * 32), trace(1, stage="merged")])
    assert figures.retrievals == 1


def test_a_chunk_that_answers_everything_is_named():
    figures = monitor(trace(0, 0.9, 0.8, 0.7) for _ in range(10))
    assert figures.frequent[0].share == 1.0
    (line,) = check_figures(figures, MonitorLimits(max_concentration=0.5, min_retrievals=1))
    assert line == "retrievals that return d#c0: 100.0% is over 50.0%"


def test_every_limit_can_be_broken_and_kept():
    bad = [
        trace(number, 0.10, 0.11, 0.112, score_kind="similarity", splitter=f"s{number % 2}")
        for number in range(30)
    ]
    bad += [trace(number) for number in range(30, 40)]
    bad += [trace(50, error=TraceError(type="E", message="m")) for _ in range(10)]
    limits = MonitorLimits(
        max_p95_ms=10,
        max_empty=0.1,
        max_failed=0.1,
        max_narrow=0.5,
        max_reversed=0.5,
        max_concentration=0.01,
        allow_mixed_splitters=False,
    )
    broken = check_figures(monitor(bad), limits)
    assert [line.split(":")[0] for line in broken[:5]] == [
        "latency p95",
        "empty results",
        "failed retrievals",
        "narrow scores",
        "reversed scores",
    ]
    assert len(broken) == 7
    good = monitor(trace(0, 0.9, 0.5, 0.1, latency_ms=1.0) for _ in range(30))
    assert check_figures(good, MonitorLimits(max_p95_ms=10, max_empty=0, max_failed=0)) == []
    assert check_figures(monitor(bad), MonitorLimits()) == []


def test_few_retrievals_break_no_share():
    limits = MonitorLimits(max_empty=0.0)
    assert check_figures(monitor(trace(n) for n in range(19)), limits) == []
    assert check_figures(monitor(trace(n) for n in range(20)), limits)
    assert check_figures(monitor([]), MonitorLimits(max_empty=0.0, min_retrievals=0)) == []


def test_rare_chunks_are_forgotten_before_the_memory_is_full(monkeypatch):
    monkeypatch.setattr("ragtrace.evaluation.monitoring._MOST_COUNTED", 100)
    collected = Monitor()
    for number in range(1, 500):
        collected.add(trace(number, 0.5, 0.4))
        collected.add(trace(0, 0.5))
    figures = collected.figures()
    assert figures.chunks <= 101
    assert figures.frequent[0].chunk_id == "d#c0"
    assert figures.frequent[0].share == 0.5
