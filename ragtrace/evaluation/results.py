"""What an analysis says: values that serialise to JSON as they are."""

import msgspec

from ragtrace.evaluation.anchors import LabelProblem
from ragtrace.evaluation.causes import Fault, FaultKind, Repair
from ragtrace.evaluation.collecting import TraceCounts
from ragtrace.evaluation.eval_set import GoldSpan
from ragtrace.evaluation.signals import Signal
from ragtrace.evaluation.statistics import Mean
from ragtrace.evaluation.verdicts import Finding


class SpanResult(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one label, what happened to it, and why."""

    label: GoldSpan
    finding: Finding
    fault: Fault


class QuestionResult(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one question: its metrics at k, and its labels one by one.

    `metrics` lacks the three text measures where nothing says where hits lie. A question is `lost`
    when one of its labels was not retrieved whole in one hit.
    """

    question_id: str
    query: str
    trace_id: str
    metrics: dict[str, float]
    spans: tuple[SpanResult, ...]
    context_characters: int
    must_pass: bool = False

    @property
    def lost(self) -> bool:
        """Tell whether one of the labels is not whole in one hit."""
        return any(span.finding.verdict != "whole" for span in self.spans)


class Misses(msgspec.Struct, frozen=True, kw_only=True):
    """Hold the labels not retrieved whole in one of the first k hits, counted three ways.

    `sibling_misses`: an expected chunk was missed and another chunk of its document retrieved;
    `adjacent_misses`: that sibling is a direct neighbour; `cut_misses`: no chunk of the index and
    no hit holds the label whole. The three overlap; each share is of `total`.
    """

    total: int
    sibling_misses: int
    adjacent_misses: int
    cut_misses: int
    sibling_share: float
    adjacent_share: float
    cut_share: float


class DocumentMisses(msgspec.Struct, frozen=True, kw_only=True):
    """Hold how many labels a document has, and how many of them were missed, by kind."""

    doc_id: str
    labels: int
    misses: int
    sibling_misses: int
    adjacent_misses: int
    cut_misses: int


class FaultSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one kind of fault and its repair, with the questions that it costs."""

    kind: FaultKind
    repair: Repair
    labels: int
    lost_questions: tuple[str, ...]


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what the traces of one run say about its index, the worst faults first.

    Scored are questions that have a trace and a usable label; the others are counted by id.
    `metrics` are means over the scored questions, `inputs` says what the analysis had besides
    traces and labels, `notes` what the reader must know to trust the figures.
    """

    k: int
    inputs: tuple[str, ...]
    metrics: dict[str, Mean]
    misses: Misses
    verdicts: dict[str, int]
    faults: tuple[FaultSummary, ...]
    documents: tuple[DocumentMisses, ...]
    signals: tuple[Signal, ...]
    questions: tuple[QuestionResult, ...]
    traces: TraceCounts
    latency_ms: dict[str, float]
    context_characters: Mean
    label_problems: tuple[LabelProblem, ...] = ()
    unknown_ids: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    untraced: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> tuple[QuestionResult, ...]:
        """Return the questions with a label that was not retrieved whole."""
        return tuple(question for question in self.questions if question.lost)

    def question(self, question_id: str) -> QuestionResult:
        """Return one scored question by its id; `KeyError` where there is none."""
        for question in self.questions:
            if question.question_id == question_id:
                return question
        raise KeyError(question_id)
