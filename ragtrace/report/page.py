"""Lay out an analysis for a page: values that the template only has to write down."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.evaluation import Analysis, Outcome, QuestionResult, WhatIf
from ragtrace.evaluation.lookup import ChunkLookup
from ragtrace.report.names import metric_name
from ragtrace.report.passages import Part, mark_answers, mark_boundaries
from ragtrace.tracing import Trace
from ragtrace.tracing.schema import TraceHit


class Figure(msgspec.Struct, frozen=True):
    """Hold a mean and its interval, each from 0 to 1."""

    name: str
    value: float
    low: float
    high: float
    count: int


class Answer(msgspec.Struct, frozen=True):
    """Hold a label: where it lies, what happened, why, and its text as the chunks cut it."""

    place: str
    verdict: str
    rank: int | None
    cause: str
    message: str
    repair: str
    before: tuple[Part, ...]
    parts: tuple[Part, ...]
    after: tuple[Part, ...]


class ShownHit(msgspec.Struct, frozen=True):
    """Hold one hit; `counts` says that it is among the first k, `is_all` that the text is whole."""

    rank: int
    chunk_id: str
    score: str
    heading_path: str
    parts: tuple[Part, ...]
    counts: bool
    is_all: bool


class LostQuestion(msgspec.Struct, frozen=True):
    """Hold a question that was lost, with its answers and its hits."""

    number: int
    question: QuestionResult
    answers: tuple[Answer, ...]
    hits: tuple[ShownHit, ...]


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Hold everything on the page, in order."""

    title: str
    analysis: Analysis
    figures: tuple[Figure, ...]
    outcomes: tuple[Outcome, ...]
    questions: tuple[LostQuestion, ...]
    left_out: int
    numbers: dict[str, int]
    notes: tuple[str, ...]


def lay_out(
    analysis: Analysis,
    *,
    title: str,
    traces: Mapping[str, Trace],
    chunks: Iterable[Chunk],
    documents: Mapping[str, str],
    repairs: WhatIf | None,
    most: int,
) -> Page:
    """Put an analysis in the order of the page; `traces` are by question id."""
    lookup = ChunkLookup(chunks)
    lost = analysis.lost
    questions = tuple(
        _lost_question(number, question, traces, lookup, documents, analysis.k)
        for number, question in enumerate(lost[:most], 1)
    )
    return Page(
        title=title,
        analysis=analysis,
        figures=tuple(
            Figure(metric_name(name, analysis.k), mean.value, mean.low, mean.high, mean.count)
            for name, mean in analysis.metrics.items()
            if mean.count
        ),
        outcomes=tuple(one for one in repairs.outcomes if one.won or one.lost) if repairs else (),
        questions=questions,
        left_out=len(lost) - len(questions),
        numbers={one.question.question_id: one.number for one in questions},
        notes=(
            *analysis.notes,
            *(signal.message for signal in analysis.signals),
            *(problem.message for problem in analysis.label_problems),
        ),
    )


def _lost_question(
    number: int,
    question: QuestionResult,
    traces: Mapping[str, Trace],
    lookup: ChunkLookup,
    documents: Mapping[str, str],
    k: int,
) -> LostQuestion:
    answers = tuple(_answers(question, lookup, documents))
    golds = ["".join(part.text for part in answer.parts) for answer in answers]
    trace = traces.get(question.question_id)
    hits = sorted(trace.hits, key=lambda hit: hit.rank) if trace is not None else []
    return LostQuestion(
        number,
        question,
        answers,
        tuple(_hit(hit, position, golds, lookup, k) for position, hit in enumerate(hits, 1)),
    )


def _answers(
    question: QuestionResult, lookup: ChunkLookup, documents: Mapping[str, str]
) -> Iterable[Answer]:
    for span in question.spans:
        label, finding, fault = span.label, span.finding, span.fault
        before: Sequence[Part] = ()
        after: Sequence[Part] = ()
        parts: Sequence[Part] = [Part(label.quote, marked=True)] if label.quote else ()
        place = label.chunk_id or label.doc_id or ""
        if label.doc_id is not None and label.start is not None and label.end is not None:
            where = label.start, label.end
            place = f"{label.doc_id} {where[0]}-{where[1]}"
            text = documents.get(label.doc_id)
            if text is None and label.doc_id in lookup:
                text = lookup.document(label.doc_id)
            if text is not None:
                touching = lookup.touching(label.doc_id, where)
                before, parts, after = mark_boundaries(text, where, touching)
        yield Answer(
            place,
            finding.verdict,
            finding.rank,
            fault.kind,
            fault.message,
            fault.repair,
            tuple(before),
            tuple(parts),
            tuple(after),
        )


def _hit(
    hit: TraceHit, position: int, golds: Sequence[str], lookup: ChunkLookup, k: int
) -> ShownHit:
    chunk = lookup.get(hit.chunk_id)
    whole = chunk.text if chunk is not None else hit.text
    text = hit.snippet if whole is None else whole
    return ShownHit(
        hit.rank,
        hit.chunk_id,
        "" if hit.score is None else f"{hit.score:.4g}",
        " > ".join(hit.heading_path or ()),
        tuple(mark_answers(text, golds)),
        position <= k,
        whole is not None or hit.length == len(text),
    )
