"""Join traces to questions in one pass over any number of them."""

import os
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from ragtrace.evaluation.eval_set import EvalSet, normalize_query
from ragtrace.evaluation.signals import SignalTotals
from ragtrace.tracing import Trace, read_traces

StageChoice = Literal["last", "retrieved", "merged"]

Traces = Iterable[Trace] | str | os.PathLike[str]

_REMEMBERED_QUERIES = 10_000
_UNJOINED_EXAMPLES = 10


class TraceCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what became of the traces read.

    `inner` are retrievals inside another one (an ensemble's members), which are left out;
    `superseded` are earlier ones of the same question; `skipped` are lines that were not read.
    """

    read: int
    joined: int
    superseded: int
    unjoined: int
    inner: int
    failed: int
    skipped: int
    unjoined_examples: tuple[str, ...] = ()


class TraceCollector:
    """Keep the latest trace of every question, and totals of all; parts can be merged.

    `run` keeps one run's traces only. `stage` chooses between what was retrieved and what merging
    made of it; by default the last stage counts, which is what the reader of the context got.
    """

    def __init__(
        self, eval_set: EvalSet, *, k: int, run: str | None = None, stage: StageChoice = "last"
    ) -> None:
        self.latest: dict[str, Trace] = {}
        self.totals = SignalTotals(k)
        self.read = self.inner = self.unjoined = self.superseded = self.failed = self.skipped = 0
        self.unjoined_examples: dict[str, None] = {}
        self._run = run
        self._stage = stage
        self._ids = frozenset(question.question_id for question in eval_set)
        self._by_query: dict[str, tuple[str, ...]] = {}
        for question in eval_set:
            text = normalize_query(question.query)
            self._by_query[text] = (*self._by_query.get(text, ()), question.question_id)
        self._by_raw_query: dict[str, tuple[str, ...]] = {}

    def add(self, trace: Trace) -> None:
        """Take one trace into account."""
        if self._run is not None and trace.run != self._run:
            return
        if self._stage != "last" and (trace.stage or "retrieved") != self._stage:
            return
        self.read += 1
        if trace.parent_id is not None:
            self.inner += 1
            return
        self.totals.add(trace)
        self.failed += trace.error is not None
        question_ids = self._questions_of(trace)
        if not question_ids:
            self.unjoined += 1
            if len(self.unjoined_examples) < _UNJOINED_EXAMPLES:
                self.unjoined_examples[trace.query] = None
        for question_id in question_ids:
            self._keep(question_id, trace)

    def merge(self, other: "TraceCollector") -> None:
        """Add what another part of the traces gave; of two equally old traces the other's wins."""
        for name in ("read", "inner", "unjoined", "superseded", "failed", "skipped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.totals.merge(other.totals)
        examples = [*self.unjoined_examples, *other.unjoined_examples]
        self.unjoined_examples = dict.fromkeys(examples[:_UNJOINED_EXAMPLES])
        for question_id, trace in other.latest.items():
            self._keep(question_id, trace)

    @property
    def counts(self) -> TraceCounts:
        """Say what became of the traces."""
        return TraceCounts(
            read=self.read,
            joined=len(self.latest),
            superseded=self.superseded,
            unjoined=self.unjoined,
            inner=self.inner,
            failed=self.failed,
            skipped=self.skipped,
            unjoined_examples=tuple(self.unjoined_examples),
        )

    def _keep(self, question_id: str, trace: Trace) -> None:
        kept = self.latest.get(question_id)
        if kept is not None:
            self.superseded += 1
            if _order(kept) > _order(trace):
                return
        self.latest[question_id] = trace

    def _questions_of(self, trace: Trace) -> tuple[str, ...]:
        if trace.question_id is not None and trace.question_id in self._ids:
            return (trace.question_id,)
        found = self._by_raw_query.get(trace.query)
        if found is None:
            found = self._by_query.get(normalize_query(trace.query), ())
            if len(self._by_raw_query) < _REMEMBERED_QUERIES:
                self._by_raw_query[trace.query] = found
        return found


def _order(trace: Trace) -> tuple[float, bool]:
    return trace.ts, trace.stage == "merged"


def collect(
    traces: Traces | Iterable[str | os.PathLike[str]],
    eval_set: EvalSet,
    *,
    k: int,
    run: str | None = None,
    stage: StageChoice = "last",
) -> TraceCollector:
    """Read traces (values, a path, or paths) once and join them to the questions."""
    collector = TraceCollector(eval_set, k=k, run=run, stage=stage)
    add = collector.add
    if isinstance(traces, str | os.PathLike):
        collector.skipped += _add_file(traces, collector)
        return collector
    for item in traces:
        if isinstance(item, str | os.PathLike):
            collector.skipped += _add_file(item, collector)
        else:
            add(item)
    return collector


def _add_file(path: str | os.PathLike[str], collector: TraceCollector) -> int:
    reader = read_traces(path)
    add = collector.add
    for trace in reader:
        add(trace)
    return len(reader.skipped)


def read_all(traces: Traces | Iterable[str | os.PathLike[str]]) -> Iterator[Trace]:
    """Yield traces from values, a path, or paths."""
    for item in (traces,) if isinstance(traces, str | os.PathLike) else traces:
        if isinstance(item, str | os.PathLike):
            yield from read_traces(item)
        else:
            yield item
