"""The gate: whether this run may replace the last one."""

from typing import Literal
from xml.etree import ElementTree

import msgspec

from ragtrace.evaluation.comparison import Comparison, compare
from ragtrace.evaluation.paired import Difference
from ragtrace.evaluation.results import Analysis

Rule = Literal["floor", "drop", "must-pass", "sibling-share", "mixed-splitters", "scored"]
FEWEST_MISSES = 10
"""A share of fewer misses than this says nothing."""


class GateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what a gate demands; `None` turns a rule off.

    `min_recall` is the floor under recall@k. `max_drop` is how far the mean recall may fall against
    the baseline, if the fall is significant (`alpha`, one-sided paired sign-flip test).
    `max_sibling_share` bounds the share of misses where another chunk of the right document came.
    """

    min_recall: float | None = 0.9
    max_drop: float | None = 0.02
    alpha: float = 0.05
    max_sibling_share: float | None = 0.30
    allow_mixed_splitters: bool = False


class RuleResult(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one rule, whether the run passes it, and the reason in one line."""

    rule: Rule
    passed: bool
    message: str
    examples: tuple[str, ...] = ()


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """Hold the rules of a gate and what a baseline comparison showed."""

    rules: tuple[RuleResult, ...]
    comparison: Comparison | None = None

    @property
    def passed(self) -> bool:
        """Tell whether every rule is passed."""
        return all(rule.passed for rule in self.rules)


def check_gate(
    analysis: Analysis, *, baseline: Analysis | None = None, limits: GateLimits | None = None
) -> GateReport:
    """Hold a run against its limits and, if there is one, against the run before.

    A fall of the mean alone proves little over a few dozen questions, so a drop must be both larger
    than allowed and significant; questions marked `must_pass` need no statistics.
    """
    limits = limits or GateLimits()
    comparison = None if baseline is None else compare(baseline, analysis)
    rules = [_scored(analysis)]
    if limits.min_recall is not None:
        rules.append(_floor(analysis, limits.min_recall))
    if comparison is not None and limits.max_drop is not None:
        rules.append(_drop(comparison, limits.max_drop, limits.alpha))
    rules.append(_must_pass(analysis))
    if limits.max_sibling_share is not None:
        rules.append(_sibling_share(analysis, limits.max_sibling_share))
    if not limits.allow_mixed_splitters:
        rules.append(_mixed(analysis))
    return GateReport(rules=tuple(rules), comparison=comparison)


def _scored(analysis: Analysis) -> RuleResult:
    count = len(analysis.questions)
    return RuleResult(
        rule="scored",
        passed=count > 0,
        message=f"{count} questions scored"
        if count
        else "no question has both a trace and a usable label: there is nothing to judge",
    )


def _floor(analysis: Analysis, least: float) -> RuleResult:
    recall = analysis.metrics["recall"]
    passed = recall.value >= least
    relation = ">=" if passed else "<"
    return RuleResult(
        rule="floor",
        passed=passed,
        message=(
            f"recall@{analysis.k} {recall.value:.3f} {relation} {least:g}"
            f" (95 % interval {recall.low:.2f}-{recall.high:.2f}, {recall.count} questions)"
        ),
        examples=() if passed else tuple(q.query for q in analysis.lost),
    )


def is_drop(recall: Difference, most: float, alpha: float) -> bool:
    """Tell whether recall fell by more than allowed and by more than chance.

    Only a fall fails a gate, so the test is one-sided: it keeps false alarms under `alpha` and sees
    more real drops than a two-sided one, over 20 questions half as many again.
    """
    return -recall.difference > most and recall.p_fall < alpha


def _drop(comparison: Comparison, most: float, alpha: float) -> RuleResult:
    recall = comparison.metrics.get("recall")
    if recall is None:
        return RuleResult(rule="drop", passed=True, message="no question is in both runs")
    failed = is_drop(recall, most, alpha)
    message = (
        f"recall@{comparison.k} {recall.before:.3f} -> {recall.after:.3f}"
        f" ({recall.difference:+.3f}, p = {recall.p_fall:.3f}, {recall.changed} of"
        f" {recall.count} questions changed)"
    )
    if -recall.difference > most and not failed:
        message += f"; inconclusive: could have detected >= {100 * recall.detectable:.0f} points"
    return RuleResult(
        rule="drop",
        passed=not failed,
        message=message,
        examples=tuple(
            f"{change.query}: {'; '.join(change.reasons)}" for change in comparison.lost
        ),
    )


def _must_pass(analysis: Analysis) -> RuleResult:
    marked = [question for question in analysis.questions if question.must_pass]
    lost = [question for question in marked if question.metrics["recall"] < 1]
    return RuleResult(
        rule="must-pass",
        passed=not lost,
        message=f"{len(lost)} of {len(marked)} must-pass questions lost",
        examples=tuple(question.query for question in lost),
    )


def _sibling_share(analysis: Analysis, most: float) -> RuleResult:
    misses = analysis.misses
    enough = misses.total >= FEWEST_MISSES
    passed = not enough or misses.sibling_share <= most
    message = (
        f"sibling_misses {misses.sibling_misses} of {misses.total} misses"
        f" ({misses.sibling_share:.0%}, at most {most:.0%})"
    )
    if not enough:
        message += f"; counted from {FEWEST_MISSES} misses on"
    documents = [document.doc_id for document in analysis.documents if document.sibling_misses]
    return RuleResult(
        rule="sibling-share",
        passed=passed,
        message=message,
        examples=() if passed else tuple(documents[:5]),
    )


def _mixed(analysis: Analysis) -> RuleResult:
    mixed = [signal for signal in analysis.signals if signal.kind == "mixed-splitters"]
    return RuleResult(
        rule="mixed-splitters",
        passed=not mixed,
        message=mixed[0].message if mixed else "all hits come from one splitter, or none is named",
    )


def to_junit(report: GateReport) -> str:
    """Write a report as JUnit XML, a test case for each rule."""
    failures = sum(not rule.passed for rule in report.rules)
    suite = ElementTree.Element(
        "testsuite", name="ragtrace gate", tests=str(len(report.rules)), failures=str(failures)
    )
    for rule in report.rules:
        case = ElementTree.SubElement(suite, "testcase", classname="ragtrace.gate", name=rule.rule)
        if rule.passed:
            ElementTree.SubElement(case, "system-out").text = _printable(rule.message)
        else:
            failure = ElementTree.SubElement(case, "failure", message=_printable(rule.message))
            failure.text = _printable("\n".join(rule.examples))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def to_github(report: GateReport) -> str:
    """Write the failed rules as annotations of a GitHub workflow, a line each."""
    lines = []
    for rule in report.rules:
        if not rule.passed:
            text = "\n".join((rule.message, *rule.examples[:10]))
            escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            lines.append(f"::error title=ragtrace gate, {rule.rule}::{escaped}\n")
    return "".join(lines)


def _printable(text: str) -> str:
    """Drop what XML 1.0 cannot hold."""
    return "".join(
        character
        for character in text
        if character in "\t\n\r" or (character >= " " and not "\ud800" <= character <= "\udfff")
        if character not in "\ufffe\uffff"
    )
