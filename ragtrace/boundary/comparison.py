"""Compare two reports: what got worse by more than noise, where, and under which setting."""

from math import erfc, sqrt

import msgspec

from ragtrace.boundary.issue import KINDS, IssueKind
from ragtrace.boundary.report import BoundaryReport, Group

_DOCUMENTS = 5


class Change(msgspec.Struct, frozen=True):
    """Hold how the share of chunks with one kind of issue moved.

    `kind` is a kind or `issue-rate`. `documents` names those that moved most, worst first.
    """

    kind: str
    before: float
    after: float
    p_value: float
    documents: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """Return the change of the share: positive is worse."""
        return self.after - self.before


class BoundaryComparison(msgspec.Struct, frozen=True):
    """Hold what got worse and what got better between two reports, and the settings that changed.

    `settings` has a line for each: the chunk size, the length, the splitters' fingerprints.
    """

    worse: tuple[Change, ...]
    better: tuple[Change, ...]
    settings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Tell whether nothing got worse."""
        return not self.worse


def compare_reports(
    before: BoundaryReport,
    after: BoundaryReport,
    *,
    minimum_effect: float = 0.01,
    significance: float = 0.01,
) -> BoundaryComparison:
    """Find the step changes: larger than `minimum_effect` and unlikely to be noise.

    A share counts as moved when a two-proportion test gives a p-value below `significance`, divided
    by the number of kinds tested (Bonferroni), and it moved by at least `minimum_effect`.
    """
    changes = [
        _change("issue-rate", (before.flawed, before.chunks), (after.flawed, after.chunks))
    ] + [
        _change(
            kind,
            (before.kinds.get(kind, 0), before.chunks),
            (after.kinds.get(kind, 0), after.chunks),
        )
        for kind in KINDS
    ]
    moved = [
        msgspec.structs.replace(change, documents=_documents(change, before, after))
        for change in changes
        if abs(change.difference) >= minimum_effect and change.p_value < significance / len(changes)
    ]
    worse = sorted((c for c in moved if c.difference > 0), key=lambda c: -c.difference)
    better = sorted((c for c in moved if c.difference < 0), key=lambda c: c.difference)
    return BoundaryComparison(tuple(worse), tuple(better), tuple(_settings(before, after)))


def proportions_p_value(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p-value of two shares, each given as (successes, trials), being one.

    >>> round(proportions_p_value((50, 1000), (80, 1000)), 4)
    0.0065
    """
    (a, n), (b, m) = first, second
    if not n or not m:
        return 1.0
    pooled = (a + b) / (n + m)
    spread = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return erfc(abs(a / n - b / m) / spread / sqrt(2)) if spread else 1.0


def _change(kind: str, before: tuple[int, int], after: tuple[int, int]) -> Change:
    shares = [count / chunks if chunks else 0.0 for count, chunks in (before, after)]
    return Change(kind, shares[0], shares[1], proportions_p_value(before, after))


def _documents(change: Change, before: BoundaryReport, after: BoundaryReport) -> tuple[str, ...]:
    def count(group: Group | None) -> int:
        if group is None:
            return 0
        if change.kind == "issue-rate":
            return group.flawed
        kinds: dict[IssueKind, int] = group.kinds
        return sum(number for kind, number in kinds.items() if kind == change.kind)

    sign = 1 if change.difference > 0 else -1
    names = before.by_document.keys() | after.by_document.keys()
    moved = [
        (sign * (count(after.by_document.get(name)) - count(before.by_document.get(name))), name)
        for name in names
    ]
    ranked = sorted((-number, name) for number, name in moved if number > 0)
    return tuple(name for _, name in ranked[:_DOCUMENTS])


def _settings(before: BoundaryReport, after: BoundaryReport) -> list[str]:
    lines = [
        f"{name}: {old} -> {new}"
        for name, old, new in (
            ("chunk size", before.chunk_size, after.chunk_size),
            ("length", before.length, after.length),
        )
        if old != new
    ]
    old_names, new_names = sorted(before.by_splitter), sorted(after.by_splitter)
    if old_names != new_names:
        lines.append(f"splitter: {_join(old_names)} -> {_join(new_names)}")
    if len(new_names) > 1:
        lines.append(f"chunks of {len(new_names)} splitters are mixed: {_join(new_names)}")
    return lines


def _join(names: list[str]) -> str:
    return ", ".join(name or "unknown" for name in names)
