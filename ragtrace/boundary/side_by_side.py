"""Validate what several splitters made of the same documents, one column each."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ragtrace.boundary.issue import KINDS, IssueKind
from ragtrace.boundary.limits import ISSUE_RATE
from ragtrace.boundary.report import BoundaryReport
from ragtrace.boundary.validate import validate

Chunks = Iterable[Any] | Mapping[str, Iterable[Any]]


class Row(msgspec.Struct, frozen=True):
    """Hold one line of the table: a kind (or `issue-rate`) and its share in every column."""

    kind: str
    shares: tuple[float, ...]


class SideBySide(msgspec.Struct, frozen=True):
    """Hold one report for each splitter, and the table that compares them.

    `rows` has the issue rate first and then every kind that any of them has, most frequent in the
    first column first.
    """

    reports: dict[str, BoundaryReport]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the splitters' names, in the order given."""
        return tuple(self.reports)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the table."""
        reports = list(self.reports.values())
        rates = [report.rates for report in reports]
        found: list[IssueKind] = [kind for kind in KINDS if any(rate[kind] for rate in rates)]
        found.sort(key=lambda kind: -rates[0][kind])
        total = Row(ISSUE_RATE, tuple(report.issue_rate for report in reports))
        return (total, *(Row(kind, tuple(rate[kind] for rate in rates)) for kind in found))

    @property
    def best(self) -> str:
        """Return the splitter with the lowest issue rate; of equals the first."""
        return min(self.reports, key=lambda name: self.reports[name].issue_rate)


def validate_side_by_side(chunkings: Mapping[str, Chunks], **settings: Any) -> SideBySide:
    """Validate several splitters' chunks alike; `settings` are those of `validate`.

    Raises `ValueError` where there is none to validate.

    >>> table = validate_side_by_side({"cut": ["One is", "two."], "whole": ["One is two."]})
    >>> table.rows[0]
    Row(kind='issue-rate', shares=(1.0, 0.0))
    """
    if not chunkings:
        raise ValueError("no chunks to compare: give at least one splitter's")
    return SideBySide({name: validate(chunks, **settings) for name, chunks in chunkings.items()})
