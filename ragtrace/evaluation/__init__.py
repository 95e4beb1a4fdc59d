"""From traces to the cause, and to the repair."""

from ragtrace.evaluation.analysis import analyze, analyze_collected
from ragtrace.evaluation.anchors import Anchored, LabelProblem, anchor
from ragtrace.evaluation.causes import Fault, Limits
from ragtrace.evaluation.collecting import TraceCollector, TraceCounts, collect
from ragtrace.evaluation.comparison import Comparison, QuestionChange, compare
from ragtrace.evaluation.eval_set import EvalSet, GoldSpan, Question, normalize_query
from ragtrace.evaluation.exports import run_text, write_eval_set
from ragtrace.evaluation.formats import load_eval_set
from ragtrace.evaluation.from_traces import from_traces
from ragtrace.evaluation.gate import (
    GateLimits,
    GateReport,
    RuleResult,
    check_gate,
    to_github,
    to_junit,
)
from ragtrace.evaluation.harness import FailedQuestion, RunSummary, run_eval
from ragtrace.evaluation.metrics import (
    RankingScores,
    TextScores,
    score_ids,
    score_matches,
    score_text,
)
from ragtrace.evaluation.monitoring import (
    Monitor,
    MonitorLimits,
    TraceFigures,
    check_figures,
    monitor,
)
from ragtrace.evaluation.paired import Difference, compare_pairs, sign_flip_test
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
from ragtrace.evaluation.splitters import splitters_like
from ragtrace.evaluation.statistics import Mean, bootstrap_means
from ragtrace.evaluation.trec import load_qrels, read_run
from ragtrace.evaluation.tuning import Candidate, Trial, Tuning, tune
from ragtrace.evaluation.verdicts import Finding

__all__ = [
    "Analysis",
    "Anchored",
    "Candidate",
    "Comparison",
    "Difference",
    "DocumentMisses",
    "EvalSet",
    "FailedQuestion",
    "Fault",
    "FaultSummary",
    "Finding",
    "GateLimits",
    "GateReport",
    "GoldSpan",
    "LabelProblem",
    "Limits",
    "Mean",
    "Misses",
    "Monitor",
    "MonitorLimits",
    "Outcome",
    "Question",
    "QuestionChange",
    "QuestionResult",
    "RankingScores",
    "RuleResult",
    "RunSummary",
    "Signal",
    "SpanResult",
    "TextScores",
    "TraceCollector",
    "TraceCounts",
    "TraceFigures",
    "Trial",
    "Tuning",
    "WhatIf",
    "analyze",
    "analyze_collected",
    "anchor",
    "bootstrap_means",
    "check_figures",
    "check_gate",
    "collect",
    "compare",
    "compare_pairs",
    "from_traces",
    "load_eval_set",
    "load_qrels",
    "monitor",
    "normalize_query",
    "read_run",
    "run_eval",
    "run_text",
    "score_ids",
    "score_matches",
    "score_text",
    "sign_flip_test",
    "splitters_like",
    "to_github",
    "to_junit",
    "tune",
    "what_if",
    "write_eval_set",
]
