"""From traces to the cause, and to the repair."""

from ragtrace.evaluation.analysis import analyze, analyze_collected
from ragtrace.evaluation.anchors import Anchored, LabelProblem, anchor
from ragtrace.evaluation.causes import Fault, Limits
from ragtrace.evaluation.collecting import TraceCollector, TraceCounts, collect
from ragtrace.evaluation.eval_set import EvalSet, GoldSpan, Question, normalize_query
from ragtrace.evaluation.exports import run_text, write_eval_set
from ragtrace.evaluation.formats import load_eval_set
from ragtrace.evaluation.from_traces import from_traces
from ragtrace.evaluation.harness import FailedQuestion, RunSummary, run_eval
from ragtrace.evaluation.metrics import (
    RankingScores,
    TextScores,
    score_ids,
    score_matches,
    score_text,
)
from ragtrace.evaluation.repairs import Outcome, WhatIf, what_if
from ragtrace.evaluation.results import (
    Analysis,
    DocumentMisses,
    FaultSummary,
    Misses,
    QuestionResult,
    SpanResult,
)
from ragtrace.evaluation.signals import Signal
from ragtrace.evaluation.statistics import Mean, bootstrap_means
from ragtrace.evaluation.trec import load_qrels, read_run
from ragtrace.evaluation.verdicts import Finding

__all__ = [
    "Analysis",
    "Anchored",
    "DocumentMisses",
    "EvalSet",
    "FailedQuestion",
    "Fault",
    "FaultSummary",
    "Finding",
    "GoldSpan",
    "LabelProblem",
    "Limits",
    "Mean",
    "Misses",
    "Outcome",
    "Question",
    "QuestionResult",
    "RankingScores",
    "RunSummary",
    "Signal",
    "SpanResult",
    "TextScores",
    "TraceCollector",
    "TraceCounts",
    "WhatIf",
    "analyze",
    "analyze_collected",
    "anchor",
    "bootstrap_means",
    "collect",
    "from_traces",
    "load_eval_set",
    "load_qrels",
    "normalize_query",
    "read_run",
    "run_eval",
    "run_text",
    "score_ids",
    "score_matches",
    "score_text",
    "what_if",
    "write_eval_set",
]
