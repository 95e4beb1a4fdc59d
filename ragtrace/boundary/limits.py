"""Limits that a report must keep, written as `no-sentence-end=5%`."""

from collections.abc import Iterable
from typing import cast

import msgspec

from ragtrace.boundary.issue import KINDS, IssueKind
from ragtrace.boundary.report import BoundaryReport

ISSUE_RATE = "issue-rate"


class Limit(msgspec.Struct, frozen=True):
    """Hold the highest share of chunks that may have a kind of issue (or any: `issue-rate`)."""

    kind: str
    most: float

    def __str__(self) -> str:
        return f"{self.kind}={self.most:.4g}"


class BrokenLimit(msgspec.Struct, frozen=True):
    """Hold a limit and the share that is over it."""

    limit: Limit
    share: float


def parse_limit(text: str) -> Limit:
    """Read a limit: a kind or `issue-rate`, and a share as `5%` or `0.05`.

    Raises `ValueError` for an unknown kind or a share outside 0 to 1.

    >>> parse_limit("no-sentence-end=5%")
    Limit(kind='no-sentence-end', most=0.05)
    """
    kind, equals, value = text.partition("=")
    kind, value = kind.strip(), value.strip()
    if kind not in (*KINDS, ISSUE_RATE):
        raise ValueError(f"unknown kind {kind!r} in limit: choose {ISSUE_RATE}, {', '.join(KINDS)}")
    try:
        share = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not equals or not 0 <= share <= 1:
        raise ValueError(f"limit {text!r}: write a share from 0 to 1 or 0% to 100%, as {kind}=5%")
    return Limit(kind, share)


def check_limits(report: BoundaryReport, limits: Iterable[Limit]) -> list[BrokenLimit]:
    """Return the limits that the report does not keep."""
    rates = report.rates
    broken: list[BrokenLimit] = []
    for limit in limits:
        share = (
            report.issue_rate if limit.kind == ISSUE_RATE else rates[cast(IssueKind, limit.kind)]
        )
        if share > limit.most:
            broken.append(BrokenLimit(limit, share))
    return broken
