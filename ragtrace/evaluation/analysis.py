"""Analyse traces against an eval set: metrics, misses, verdicts, faults."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragtrace.chunking import Chunk
from ragtrace.evaluation.anchors import LabelProblem, anchor, as_lookup
from ragtrace.evaluation.causes import FaultKind, Limits, Repair
from ragtrace.evaluation.collecting import StageChoice, TraceCollector, Traces, collect
from ragtrace.evaluation.eval_set import EvalSet, GoldSpan, Question
from ragtrace.evaluation.faults import FaultFinder
from ragtrace.evaluation.hits import Retrieved, Sources, differs, resolve
from ragtrace.evaluation.lookup import ChunkLookup
from ragtrace.evaluation.metrics import check_k, score_matches, score_text
from ragtrace.evaluation.results import (
    Analysis,
    DocumentMisses,
    FaultSummary,
    Misses,
    QuestionResult,
    SpanResult,
)
from ragtrace.evaluation.signals import failing_documents
from ragtrace.evaluation.statistics import bootstrap_means
from ragtrace.evaluation.verdicts import Finding, judge_best, matches
from ragtrace.evaluation.versions import mark_old_versions, newest_versions
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
    documents_missed = _documents(labels)
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
    means = bootstrap_means(_columns(questions))
    return Analysis(
        k=k,
        inputs=_inputs(chunks, documents, limits),
        metrics={name: mean for name, mean in means.items() if name != "context_characters"},
        misses=_misses([span.finding for span in labels]),
        verdicts=dict(
            (Counter(span.finding.verdict for span in labels) + spans_of_stale).most_common()
        ),
        faults=_faults(questions),
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
        notes=(*notes, *_notes(questions, labels, unknown, collector, k)),
    )


def find_sources(
    traces: Iterable[Trace],
    chunks: Iterable[Chunk] | ChunkLookup | None,
    documents: Mapping[str, str] | None,
) -> tuple[Sources, list[str]]:
    """Gather what is known beside the traces, and say what of it cannot be trusted."""
    lookup = as_lookup(chunks)
    if lookup is None:
        return Sources(documents=documents), []
    notes: list[str] = []
    stale: dict[str, Chunk] = {}
    if documents is not None:
        stale = {chunk.chunk_id: chunk for chunk in lookup if _is_stale(chunk, documents)}
        if len(stale) > _MOST * len(lookup):
            notes.append(
                f"{len(stale)} of {len(lookup)} chunks are not in the documents: these are not the "
                "texts the chunks were cut from, so old versions were not looked for"
            )
            stale = {}
        elif stale:
            lookup = ChunkLookup(chunk for chunk in lookup if chunk.chunk_id not in stale)
    hits = [hit for trace in traces for hit in trace.hits if hit.snippet]
    different = sum(differs(hit, lookup) for hit in hits)
    trusted = different <= _MOST * len(hits)
    if not trusted:
        notes.append(
            f"{different} of {len(hits)} snippets differ from the manifest (redacted, or it is "
            "that of another index): chunks were found by their ids alone"
        )
    sources = Sources(lookup=lookup, documents=documents, stale=stale, trusts_snippets=trusted)
    return sources, notes


def resolve_all(
    traces: Mapping[str, Trace], eval_set: EvalSet, sources: Sources
) -> dict[str, list[Retrieved]]:
    """Resolve the hits of every question's trace and mark those of old versions."""
    resolved = {name: resolve(trace, sources) for name, trace in traces.items()}
    newest = newest_versions(hit for hits in resolved.values() for hit in hits)
    gold = {
        question.question_id: [
            (label.doc_id, label.quote) for label in question.gold if label.doc_id and label.quote
        ]
        for question in eval_set
    }
    return {
        name: mark_old_versions(hits, newest, gold.get(name, ())) for name, hits in resolved.items()
    }


def _is_stale(chunk: Chunk, documents: Mapping[str, str]) -> bool:
    text = documents.get(chunk.doc_id)
    if text is None:
        return True
    if text[chunk.start : chunk.end] == chunk.text:
        return False
    return " ".join(chunk.text.split()) not in " ".join(text.split())


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


def _columns(questions: Sequence[QuestionResult]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {
        name: [] for name in ("recall", "hit", "precision", "reciprocal_rank", "ndcg")
    }
    columns["whole_recall"] = []
    columns["context_characters"] = [float(one.context_characters) for one in questions]
    for question in questions:
        for name, value in question.metrics.items():
            columns.setdefault(name, []).append(value)
    return columns


def _misses(findings: Sequence[Finding]) -> Misses:
    missed = [finding for finding in findings if finding.verdict != "whole"]
    sibling = sum(finding.sibling for finding in missed)
    adjacent = sum(finding.adjacent for finding in missed)
    cut = sum(finding.cut for finding in missed)
    total = len(missed)
    return Misses(
        total=total,
        sibling_misses=sibling,
        adjacent_misses=adjacent,
        cut_misses=cut,
        sibling_share=sibling / total if total else 0.0,
        adjacent_share=adjacent / total if total else 0.0,
        cut_share=cut / total if total else 0.0,
    )


def _documents(spans: Sequence[SpanResult]) -> tuple[DocumentMisses, ...]:
    by_document: dict[str, list[Finding]] = defaultdict(list)
    for span in spans:
        doc_id = span.label.doc_id
        if doc_id is None:
            doc_id = (span.label.chunk_id or "").rpartition("#")[0]
        if doc_id:
            by_document[doc_id].append(span.finding)
    documents = []
    for doc_id, findings in by_document.items():
        misses = _misses(findings)
        documents.append(
            DocumentMisses(
                doc_id=doc_id,
                labels=len(findings),
                misses=misses.total,
                sibling_misses=misses.sibling_misses,
                adjacent_misses=misses.adjacent_misses,
                cut_misses=misses.cut_misses,
            )
        )
    return tuple(sorted(documents, key=lambda one: (-one.misses, one.doc_id)))


def _faults(questions: Sequence[QuestionResult]) -> tuple[FaultSummary, ...]:
    labels: Counter[tuple[FaultKind, Repair]] = Counter()
    lost: dict[tuple[FaultKind, Repair], dict[str, None]] = defaultdict(dict)
    for question in questions:
        for span in question.spans:
            cause = span.fault.kind, span.fault.repair
            labels[cause] += 1
            if span.finding.verdict != "whole":
                lost[cause][question.question_id] = None
    summaries = [
        FaultSummary(
            kind=kind, repair=repair, labels=count, lost_questions=tuple(lost[kind, repair])
        )
        for (kind, repair), count in labels.items()
    ]
    return tuple(
        sorted(
            summaries,
            key=lambda one: (-len(one.lost_questions), -one.labels, one.kind, one.repair),
        )
    )


def _inputs(
    chunks: object, documents: Mapping[str, str] | None, limits: Limits | None
) -> tuple[str, ...]:
    given = {
        "chunks": chunks is not None,
        "documents": documents is not None,
        "embedder limit": limits is not None and limits.embedder is not None,
        "context limit": limits is not None and limits.context is not None,
    }
    return ("traces", "labels", *(name for name, present in given.items() if present))


def _notes(
    questions: Sequence[QuestionResult],
    spans: Sequence[SpanResult],
    unknown: Sequence[str],
    collector: TraceCollector,
    k: int,
) -> list[str]:
    notes = []
    id_labels = sum(span.label.chunk_id is not None for span in spans)
    if unknown and not any(span.finding.verdict == "whole" for span in spans):
        notes.append(
            f"none of the labelled chunk ids was retrieved and {len(unknown)} are not in the index "
            f"({unknown[0]!r}): are these ids of documents, or of another index?"
        )
    elif (
        id_labels
        and id_labels == len(spans)
        and not any(question.metrics["hit"] for question in questions)
    ):
        notes.append("not one labelled chunk id was retrieved: are these ids of this index?")
    short = sum(trace.top_k is not None and trace.top_k < k for trace in collector.latest.values())
    if short:
        notes.append(f"{short} traces asked for fewer than {k} hits: their recall is held down")
    if collector.counts.failed:
        notes.append(f"{collector.counts.failed} retrievals failed and count as empty")
    return notes
