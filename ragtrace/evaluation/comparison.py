"""Compare two runs question by question, also where their indexes are cut differently."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from ragtrace.evaluation.paired import Difference, compare_pairs
from ragtrace.evaluation.results import Analysis, QuestionResult, SpanResult

LATENCY_TOLERANCE = 0.10
METRICS = ("recall", "whole_recall", "hit", "precision", "reciprocal_rank", "ndcg", "text_recall")


class QuestionChange(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one question that was lost or won, and why: a sentence for each label that changed."""

    question_id: str
    query: str
    outcome: Literal["lost", "won"]
    reasons: tuple[str, ...]
    must_pass: bool = False


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what changed between two runs: lost and won questions first, the means second.

    Questions are paired by id, labels by their span, so the chunk ids of the two indexes need not
    have anything to do with each other. `only_before` and `only_after` name questions that one run
    lacks; they do not count. Latencies are milliseconds.
    """

    k: int
    lost: tuple[QuestionChange, ...]
    won: tuple[QuestionChange, ...]
    metrics: dict[str, Difference]
    context_characters: Difference
    latency_before: float
    latency_after: float
    latency_within: bool
    paired: int
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def compare(before: Analysis, after: Analysis) -> Comparison:
    """Say what the second run lost and won against the first, and whether that is more than chance.

    A question is lost when all its labels were whole in one hit before and one no longer is.

    Raises `ValueError` where the two were analysed at different k.
    """
    if before.k != after.k:
        raise ValueError(f"k is {before.k} before and {after.k} after: analyse both at one k")
    first = {question.question_id: question for question in before.questions}
    second = {question.question_id: question for question in after.questions}
    shared = [name for name in first if name in second]
    pairs = [(first[name], second[name]) for name in shared]
    changes = [_change(one, other) for one, other in pairs if one.lost != other.lost]
    latency_before, latency_after = before.latency_ms["p50"], after.latency_ms["p50"]
    return Comparison(
        k=before.k,
        lost=tuple(change for change in changes if change.outcome == "lost"),
        won=tuple(change for change in changes if change.outcome == "won"),
        metrics=_metrics(pairs),
        context_characters=compare_pairs(
            [one.context_characters for one, _ in pairs],
            [other.context_characters for _, other in pairs],
        ),
        latency_before=latency_before,
        latency_after=latency_after,
        latency_within=latency_after <= latency_before * (1 + LATENCY_TOLERANCE),
        paired=len(pairs),
        only_before=tuple(name for name in first if name not in second),
        only_after=tuple(name for name in second if name not in first),
        notes=_notes(before, after, len(pairs)),
    )


def _metrics(pairs: Sequence[tuple[QuestionResult, QuestionResult]]) -> dict[str, Difference]:
    found = {}
    for name in METRICS:
        both = [
            (one.metrics[name], other.metrics[name])
            for one, other in pairs
            if name in one.metrics and name in other.metrics
        ]
        if both:
            found[name] = compare_pairs([one for one, _ in both], [other for _, other in both])
    return found


def _change(one: QuestionResult, other: QuestionResult) -> QuestionChange:
    lost = other.lost
    return QuestionChange(
        question_id=one.question_id,
        query=one.query,
        outcome="lost" if lost else "won",
        reasons=tuple(
            _reason(old, new)
            for old, new in _paired_spans(one, other)
            if (old.finding.verdict == "whole") != (new.finding.verdict == "whole")
        ),
        must_pass=one.must_pass or other.must_pass,
    )


def _paired_spans(
    one: QuestionResult, other: QuestionResult
) -> list[tuple[SpanResult, SpanResult]]:
    """Pair the labels of a question: by what they say, else in their order."""
    by_text = {_key(span): span for span in other.spans}
    if len(by_text) == len(other.spans) and all(_key(span) in by_text for span in one.spans):
        return [(span, by_text[_key(span)]) for span in one.spans]
    return list(zip(one.spans, other.spans, strict=False))


def _key(span: SpanResult) -> str:
    label = span.label
    return label.quote or f"{label.doc_id}:{label.start}-{label.end}:{label.chunk_id}"


def _reason(old: SpanResult, new: SpanResult) -> str:
    """Say in one line why a label is no longer whole in one hit, or why it is now."""
    if new.finding.verdict == "whole":
        where = ", ".join(new.finding.retrieved_ids) or "a hit"
        was = "was cut" if old.finding.cut else f"was {old.finding.verdict}"
        return f"the answer {was} and is now whole in {where}"
    if new.finding.cut and not old.finding.cut:
        parts = ", ".join(new.finding.expected_ids)
        return f"a new boundary cuts the answer ({parts}): {new.fault.message}"
    return f"{new.finding.verdict}: {new.fault.message}"


def _notes(before: Analysis, after: Analysis, paired: int) -> tuple[str, ...]:
    notes = []
    if not paired:
        notes.append("no question is in both runs: nothing could be compared")
    if before.inputs != after.inputs:
        notes.append(
            f"the first analysis had {', '.join(before.inputs) or 'traces alone'}, the second "
            f"{', '.join(after.inputs) or 'traces alone'}: verdicts may differ for that reason"
        )
    return tuple(notes)
