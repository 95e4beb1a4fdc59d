"""Check the chunks somebody already has: what their boundaries cut, lose or misplace."""

from ragtrace.boundary.comparison import BoundaryComparison, Change, compare_reports
from ragtrace.boundary.issue import KINDS, STRUCTURAL, Issue, IssueKind
from ragtrace.boundary.limits import BrokenLimit, Limit, check_limits, parse_limit
from ragtrace.boundary.output import (
    issue_event,
    read_report,
    to_events,
    to_json,
    to_prometheus,
)
from ragtrace.boundary.report import BoundaryReport, Group
from ragtrace.boundary.validate import validate

__all__ = [
    "KINDS",
    "STRUCTURAL",
    "BoundaryComparison",
    "BoundaryReport",
    "BrokenLimit",
    "Change",
    "Group",
    "Issue",
    "IssueKind",
    "Limit",
    "check_limits",
    "compare_reports",
    "issue_event",
    "parse_limit",
    "read_report",
    "to_events",
    "to_json",
    "to_prometheus",
    "validate",
]
