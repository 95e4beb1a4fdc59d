"""Analyse traces against an eval set: metrics, misses, verdicts, faults."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragtrace.chunking import Chunk
from ragtrace.evaluation.anchors import LabelProblem, anchor
from ragtrace.evaluation.causes import Limits
from ragtrace.evaluation.collecting import StageChoice, TraceCollector, Traces, collect
from ragtrace.evaluation.eval_set import EvalSet, GoldSpan, Question, check_eval_set
from ragtrace.evaluation.faults import FaultFinder
from ragtrace.evaluation.hits import Retrieved, Sources
from ragtrace.evaluation.lookup import ChunkLookup
from ragtrace.evaluation.metrics import check_k, score_matches, score_text
from ragtrace.evaluation.results import (
    Analysis,
    QuestionResult,
    SpanResult,
)
from ragtrace.evaluation.signals import failing_documents
from ragtrace.evaluation.sources import find_sources, resolve_all
from ragtrace.evaluation.statistics import bootstrap_means
from ragtrace.evaluation.summaries import (
    columns_of,
    count_misses,
    find_notes,
    misses_by_document,
    name_inputs,
    rank_faults,
)
from ragtrace.evaluation.verdicts import Finding, judge_best, matches
from ragtrace.tracing.schema import Trace

_MOST = 0.5


def analyze(
    traces: Traces | Iterable[str | os.PathLike[str]],
    eval_set: EvalSet,
    *,
    chunks: Iterable[Chunk] | ChunkLookup | None = None,
    documents: Mapping[str, str] | None = None,
    k: int = 5,
    limits: Limits | None = None,
    run: str | None = None,
    stage: StageChoice = "last",
) -> Analysis:
    """Say per question what happened within the first `k` hits, why, and what would repair it.

    `traces` are values, a path, or paths; the latest trace of a question counts, found by
    `question_id`, else by its query. `chunks` is what the index holds (a manifest or its chunks),
    `documents` today's texts by id: either makes the verdicts exact, with both old versions show
    too. `limits` says what embedder and prompt have room for.
    """
    check_eval_set(eval_set)
    check_k(k)
    collector = collect(traces, eval_set, k=k, run=run, stage=stage)
    return analyze_collected(
        collector, eval_set, chunks=chunks, documents=documents, k=k, limits=limits
    )


def analyze_collected(
    collector: TraceCollector,
    eval_set: EvalSet,
    *,
    chunks: Iterable[Chunk] | ChunkLookup | None = None,
    documents: Mapping[str, str] | None = None,
    k: int = 5,
    limits: Limits | None = None,
) -> Analysis:
    """Analyse traces that were collected before, in parts perhaps."""
    sources, notes = find_sources(collector.latest.values(), chunks, documents)
    # Chunks pieced together serve for quotes only where the documents were not given.
    quotable = sources.lookup if documents is None else None
    anchored = anchor(eval_set, documents=documents, chunks=quotable, ids=False)
    hits = resolve_all(collector.latest, anchored.eval_set, sources)
    finder = FaultFinder(sources, k=k, limits=limits)
    unusable = {
        (problem.question_id, problem.label) for problem in anchored.problems if problem.is_stale
    }
    questions: list[QuestionResult] = []
    stale: list[str] = []
    problems = list(anchored.problems)
    spans_of_stale: Counter[str] = Counter()
    for question in anchored.eval_set:
        trace = collector.latest.get(question.question_id)
        if trace is None or not question.gold:
            continue
        spans = [
            _judge(question, label, hits[question.question_id], k, sources, finder, unusable)
            for label in question.gold
        ]
        problems += _unknown(question, spans, unusable)
        usable = [span for span in spans if span.finding.verdict != "stale-label"]
        spans_of_stale["stale-label"] += len(spans) - len(usable)
        if not usable:
            stale.append(question.question_id)
            continue
        questions.append(_result(question, trace, hits[question.question_id], usable, k))
    labels = [span for question in questions for span in question.spans]
    documents_missed = misses_by_document(labels)
    untraced = tuple(
        question.question_id
        for question in eval_set
        if question.gold and question.question_id not in collector.latest
    )
    unknown = tuple(
        dict.fromkeys(
            problem.label.chunk_id
            for problem in problems
            if problem.kind == "unknown-chunk" and problem.label.chunk_id
        )
    )
    latency = collector.totals.all_latencies()
    means = bootstrap_means(columns_of(questions))
    return Analysis(
        k=k,
        inputs=name_inputs(chunks, documents, limits),
        metrics={name: mean for name, mean in means.items() if name != "context_characters"},
        misses=count_misses([span.finding for span in labels]),
        verdicts=dict(
            (Counter(span.finding.verdict for span in labels) + spans_of_stale).most_common()
        ),
        faults=rank_faults(questions),
        documents=documents_missed,
        signals=(
            *collector.totals.signals(),
            *failing_documents({one.doc_id: (one.labels, one.misses) for one in documents_missed}),
        ),
        questions=tuple(questions),
        traces=collector.counts,
        latency_ms={"p50": latency.quantile(0.5), "p95": latency.quantile(0.95)},
        context_characters=means["context_characters"],
        label_problems=tuple(problems),
        unknown_ids=unknown,
        unlabelled=eval_set.unlabelled,
        stale=tuple(stale),
        untraced=untraced,
        duplicates=eval_set.duplicates,
        notes=(*notes, *find_notes(questions, labels, unknown, collector, k)),
    )


def _judge(
    question: Question,
    label: GoldSpan,
    hits: Sequence[Retrieved],
    k: int,
    sources: Sources,
    finder: FaultFinder,
    unusable: set[tuple[str, GoldSpan]],
) -> SpanResult:
    if (question.question_id, label) in unusable:
        finding = Finding(verdict="stale-label", found=False)
    else:
        label, finding = judge_best(label, hits, k, sources)
    return SpanResult(label=label, finding=finding, fault=finder.find(label, finding, hits))


def _unknown(
    question: Question, spans: Sequence[SpanResult], unusable: set[tuple[str, GoldSpan]]
) -> list[LabelProblem]:
    """Report ids that the index does not know."""
    return [
        LabelProblem(
            question_id=question.question_id,
            kind="unknown-chunk",
            label=span.label,
            message=f"the index has no chunk {span.label.chunk_id!r}",
        )
        for span in spans
        if span.label.chunk_id is not None
        and not span.label.has_span
        and span.finding.verdict in ("stale-label", "not-indexed")
        and (question.question_id, span.label) not in unusable
    ]


def _result(
    question: Question,
    trace: Trace,
    hits: Sequence[Retrieved],
    spans: Sequence[SpanResult],
    k: int,
) -> QuestionResult:
    top = hits[:k]
    labels = [span.label for span in spans]
    matched = [{place for place, label in enumerate(labels) if matches(label, hit)} for hit in top]
    ranking = score_matches(matched, [label.grade for label in labels], k)
    metrics = {
        "recall": sum(span.finding.found for span in spans) / len(spans),
        "hit": ranking.hit,
        "precision": ranking.precision,
        "reciprocal_rank": ranking.reciprocal_rank,
        "ndcg": ranking.ndcg,
        "whole_recall": sum(span.finding.verdict == "whole" for span in spans) / len(spans),
    }
    gold = [
        (label.doc_id, (label.start, label.end))
        for label in labels
        if label.doc_id is not None and label.start is not None and label.end is not None
    ]
    if len(gold) == len(labels) and all(hit.span is not None or hit.outdated for hit in top):
        placed = [
            (
                hit.doc_id if hit.span and hit.doc_id else f"\0{hit.position}",
                hit.span or (0, hit.length),
            )
            for hit in top
        ]
        text = score_text(placed, gold)
        metrics |= {
            "text_recall": text.recall,
            "text_precision": text.precision,
            "text_iou": text.iou,
        }
    return QuestionResult(
        question_id=question.question_id,
        query=question.query,
        trace_id=trace.id,
        metrics=metrics,
        spans=tuple(spans),
        context_characters=sum(hit.length for hit in top),
        must_pass=question.must_pass,
    )
