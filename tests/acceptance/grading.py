"""What each `op` of an evaluation case means."""

import json
from pathlib import Path
from typing import Any

from ragtrace.chunking import parse_chunk_id
from ragtrace.evaluation import Analysis, analyze, load_eval_set
from ragtrace.tracing import Trace, TraceHit
from tests.acceptance.cases import Case, decode_values

RANGED = ("recall", "precision", "hit", "reciprocal_rank", "ndcg", "whole_recall")


def run_eval_case(case: Case, folder: Path) -> list[str]:
    given = decode_values(case["input"])
    k = case["params"].get("k", 5)
    labels = [
        {"query": query["q"], "expected_chunk_ids": query["expected"]} for query in given["queries"]
    ]
    path = folder / "questions.json"
    path.write_text(json.dumps(labels), encoding="utf-8")
    traces = [make_trace(number, query, k) for number, query in enumerate(given["queries"])]
    try:
        analysis = analyze(traces, load_eval_set(path), k=k)
    except Exception as error:
        return [f"raised {error!r}"]
    return [
        f"{expected['op']}: {note} ({expected['say']})"
        for expected in case["expect"]
        if (note := check_analysis(expected, analysis))
    ]


def make_trace(number: int, query: dict[str, Any], k: int) -> Trace:
    hits = tuple(
        TraceHit(
            rank=rank,
            chunk_id=chunk_id,
            doc_id=parse_chunk_id(chunk_id)[0],
            score=1 / rank,
            snippet="",
        )
        for rank, chunk_id in enumerate(query["retrieved"], start=1)
    )
    return Trace(
        id=f"{number:032x}", ts=float(number), query=query["q"], top_k=k, hits=hits, latency_ms=1.0
    )


def plain(chunk_ids: tuple[str, ...]) -> list[str]:
    """Write ids as the cases do, `doc#index`."""
    return ["{}#{}".format(*parse_chunk_id(chunk_id)) for chunk_id in chunk_ids]


def check_analysis(expected: dict[str, Any], analysis: Analysis) -> str:
    op = expected["op"]
    if op == "no_raise":
        return ""
    if op == "metric_range":
        values = [
            value
            for question in analysis.questions
            for name, value in question.metrics.items()
            if name in RANGED
        ]
        bad = [value for value in values if not expected["lo"] <= value <= expected["hi"]]
        return f"out of range: {bad}" if bad or not values else ""
    if op == "duplicates_reported":
        missing = set(expected["queries"]) - set(analysis.duplicates)
        return f"not reported: {missing}" if missing else ""
    spans = [
        span
        for question in analysis.questions
        if question.query == expected["query"]
        for span in question.spans
    ]
    if op == "metric_equals":
        values = [
            question.metrics[expected["name"]]
            for question in analysis.questions
            if question.query == expected["query"]
        ]
        return "" if values and set(values) == {expected["value"]} else f"values {values}"
    missed = [span.finding for span in spans if not span.finding.found]
    wanted = sorted(expected["ids"])
    if op == "boundary_miss":
        got = sorted(i for f in missed if f.adjacent for i in plain(f.expected_ids))
    elif op == "plain_miss":
        got = sorted(i for f in missed if not f.adjacent for i in plain(f.expected_ids))
    else:
        raise NotImplementedError(op)
    return "" if got == wanted else f"got {got}"
