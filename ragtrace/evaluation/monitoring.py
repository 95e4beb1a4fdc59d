"""What live traffic shows without labels: rate, latency, empty answers, scores, worn-out chunks."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from ragtrace.evaluation.metrics import check_k
from ragtrace.evaluation.signals import Histogram, Signal, SignalTotals
from ragtrace.tracing import Trace

_MOST_COUNTED = 200_000
_SHOWN = 5


class Frequent(msgspec.Struct, frozen=True):
    """Hold a chunk and the share of retrievals that return it within the first k."""

    chunk_id: str
    share: float


class TraceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Hold the figures of some traces; shares are of `retrievals`, from 0 to 1.

    Retrievals inside another one, and what merging made of a retrieval, are left out. `estimated`
    is how many there were before sampling, `per_minute` their rate between
    the first and the last, at least a second apart.
    `latency_ms` are quantiles within 8 %, `score_spread` those of best minus last score within k.
    `frequent` are the chunks that come back most often: a few that answer everything are a sign of
    near-empty or boilerplate chunks.
    """

    retrievals: int
    estimated: float
    first_ts: float | None
    last_ts: float | None
    per_minute: float | None
    latency_ms: dict[str, float]
    empty: int
    empty_share: float
    failed: int
    failed_share: float
    score_spread: dict[str, float]
    narrow_share: float
    reversed_share: float
    splitters: dict[str, int]
    chunks: int
    frequent: tuple[Frequent, ...]
    signals: tuple[Signal, ...]


class MonitorLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what live traffic must keep; `None` turns a limit off. Shares are from 0 to 1.

    Of fewer than `min_retrievals` a share says little, and only mixed splitters are looked for.
    """

    max_p95_ms: float | None = None
    max_empty: float | None = None
    max_failed: float | None = None
    max_narrow: float | None = None
    max_reversed: float | None = None
    max_concentration: float | None = None
    min_retrievals: int = 20
    allow_mixed_splitters: bool = True


class Monitor:
    """Collect figures one trace at a time.

    >>> monitor = Monitor()
    >>> monitor.add(Trace(id="0" * 32, ts=0.0, query="Who?", top_k=5, hits=(), latency_ms=2.0))
    >>> monitor.figures().empty_share
    1.0
    """

    def __init__(self, k: int = 5) -> None:
        check_k(k)
        self._k = k
        self._totals = SignalTotals(k)
        self._spreads = Histogram()
        self._retrievals = self._empty = self._failed = 0
        self._estimated = 0.0
        self._first: float | None = None
        self._last: float | None = None
        self._chunks: Counter[str] = Counter()

    def add(self, trace: Trace) -> None:
        """Count one trace."""
        if trace.parent_id is not None or trace.stage == "merged":
            return
        self._retrievals += 1
        self._estimated += 1 / trace.sample_rate if trace.sample_rate else 1
        self._first = trace.ts if self._first is None else min(self._first, trace.ts)
        self._last = trace.ts if self._last is None else max(self._last, trace.ts)
        self._totals.add(trace)
        if trace.error is not None:
            self._failed += 1
        elif not trace.hits:
            self._empty += 1
        top = trace.hits[: self._k]
        scores = [hit.score for hit in top if hit.score is not None]
        if len(scores) > 1:
            self._spreads.add(max(scores) - min(scores))
        self._chunks.update({hit.chunk_id for hit in top})
        if len(self._chunks) > _MOST_COUNTED:
            # Rare chunks are forgotten: what matters is which come back all the time.
            self._chunks = Counter(dict(self._chunks.most_common(_MOST_COUNTED // 2)))

    def figures(self) -> TraceFigures:
        """Return the figures so far."""
        totals, count = self._totals, self._retrievals
        latency = totals.all_latencies()
        span = None if self._first is None or self._last is None else self._last - self._first
        return TraceFigures(
            retrievals=count,
            estimated=self._estimated,
            first_ts=self._first,
            last_ts=self._last,
            per_minute=60 * self._estimated / span if span and span >= 1 else None,
            latency_ms={name: latency.quantile(share) for name, share in _QUANTILES.items()},
            empty=self._empty,
            empty_share=self._empty / max(1, count),
            failed=self._failed,
            failed_share=self._failed / max(1, count),
            score_spread={name: self._spreads.quantile(_QUANTILES[name]) for name in ("p50", "p95")}
            if self._spreads.count
            else {},
            narrow_share=totals.narrow / max(1, totals.scored),
            reversed_share=totals.reversed / max(1, totals.directed),
            splitters=dict(totals.splitters),
            chunks=len(self._chunks),
            frequent=tuple(
                Frequent(name, number / count) for name, number in self._chunks.most_common(_SHOWN)
            ),
            signals=tuple(totals.signals()),
        )


_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def monitor(traces: Iterable[Trace], *, k: int = 5) -> TraceFigures:
    """Return the figures of some traces, within the first `k` hits of each."""
    collected = Monitor(k)
    for trace in traces:
        collected.add(trace)
    return collected.figures()


def check_figures(figures: TraceFigures, limits: MonitorLimits) -> list[str]:
    """Say in a line for each which limits are not kept."""
    broken = []
    if figures.retrievals >= max(1, limits.min_retrievals):
        broken += _over(figures, limits)
    if not limits.allow_mixed_splitters and len(figures.splitters) > 1:
        names = ", ".join(sorted(figures.splitters))
        broken.append(f"mixed splitters: chunks of {len(figures.splitters)} came back ({names})")
    return broken


def _over(figures: TraceFigures, limits: MonitorLimits) -> list[str]:
    broken = []
    p95 = figures.latency_ms["p95"]
    if limits.max_p95_ms is not None and p95 > limits.max_p95_ms:
        broken.append(f"latency p95: {p95:.1f} ms is over {limits.max_p95_ms:g} ms")
    shares = [
        ("empty results", figures.empty_share, limits.max_empty),
        ("failed retrievals", figures.failed_share, limits.max_failed),
        ("narrow scores", figures.narrow_share, limits.max_narrow),
        ("reversed scores", figures.reversed_share, limits.max_reversed),
    ]
    shares += [
        (f"retrievals that return {first.chunk_id}", first.share, limits.max_concentration)
        for first in figures.frequent[:1]
    ]
    broken += [
        f"{name}: {share:.1%} is over {most:.1%}"
        for name, share, most in shares
        if most is not None and share > most
    ]
    return broken
