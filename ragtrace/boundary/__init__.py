"""Check the chunks somebody already has: what their boundaries cut, lose or misplace."""

from ragtrace.boundary.comparison import BoundaryComparison, Change, compare_reports
from ragtrace.boundary.ingest import IngestValidator
from ragtrace.boundary.issue import KINDS, STRUCTURAL, Issue, IssueKind
from ragtrace.boundary.limits import BrokenLimit, Limit, check_limits, parse_limit
from ragtrace.boundary.output import (
    issue_event,
    read_report,
    to_events,
    to_json,
    to_prometheus,
)
from ragtrace.boundary.piece import in_reading_order
from ragtrace.boundary.readers import read_chunks
from ragtrace.boundary.report import BoundaryReport, Group
from ragtrace.boundary.side_by_side import SideBySide, validate_side_by_side
from ragtrace.boundary.stores import read_store
from ragtrace.boundary.validate import validate

__all__ = [
    "KINDS",
    "STRUCTURAL",
    "BoundaryComparison",
    "BoundaryReport",
    "BrokenLimit",
    "Change",
    "Group",
    "IngestValidator",
    "Issue",
    "IssueKind",
    "Limit",
    "SideBySide",
    "check_limits",
    "compare_reports",
    "in_reading_order",
    "issue_event",
    "parse_limit",
    "read_chunks",
    "read_report",
    "read_store",
    "to_events",
    "to_json",
    "to_prometheus",
    "validate",
    "validate_side_by_side",
]
