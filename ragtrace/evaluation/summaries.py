"""Sum up what happened to single questions."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ragtrace.evaluation.causes import FaultKind, Limits, Repair
from ragtrace.evaluation.collecting import TraceCollector
from ragtrace.evaluation.results import (
    DocumentMisses,
    FaultSummary,
    Misses,
    QuestionResult,
    SpanResult,
)
from ragtrace.evaluation.verdicts import Finding


def columns_of(questions: Sequence[QuestionResult]) -> dict[str, list[float]]:
    """Return every metric's values over the questions."""
    columns: dict[str, list[float]] = {
        name: [] for name in ("recall", "hit", "precision", "reciprocal_rank", "ndcg")
    }
    columns["whole_recall"] = []
    columns["context_characters"] = [float(one.context_characters) for one in questions]
    for question in questions:
        for name, value in question.metrics.items():
            columns.setdefault(name, []).append(value)
    return columns


def count_misses(findings: Sequence[Finding]) -> Misses:
    """Count missed labels and their kinds."""
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


def misses_by_document(spans: Sequence[SpanResult]) -> tuple[DocumentMisses, ...]:
    """Count misses per document, the worst first."""
    by_document: dict[str, list[Finding]] = defaultdict(list)
    for span in spans:
        doc_id = span.label.doc_id
        if doc_id is None:
            doc_id = (span.label.chunk_id or "").rpartition("#")[0]
        if doc_id:
            by_document[doc_id].append(span.finding)
    documents = []
    for doc_id, findings in by_document.items():
        misses = count_misses(findings)
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


def rank_faults(questions: Sequence[QuestionResult]) -> tuple[FaultSummary, ...]:
    """Group labels by cause and repair, the costliest first."""
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


def name_inputs(
    chunks: object, documents: Mapping[str, str] | None, limits: Limits | None
) -> tuple[str, ...]:
    """Say what the analysis was given."""
    given = {
        "chunks": chunks is not None,
        "documents": documents is not None,
        "embedder limit": limits is not None and limits.embedder is not None,
        "context limit": limits is not None and limits.context is not None,
    }
    return ("traces", "labels", *(name for name, present in given.items() if present))


def find_notes(
    questions: Sequence[QuestionResult],
    spans: Sequence[SpanResult],
    unknown: Sequence[str],
    collector: TraceCollector,
    k: int,
) -> list[str]:
    """Say what the reader must know to trust the figures."""
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
