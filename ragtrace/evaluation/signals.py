"""What all traces together say beside the labels: latency, scores, mixed splitters."""

from collections import Counter
from math import ceil, comb, log
from typing import Literal

import msgspec

from ragtrace.tracing import Trace
from ragtrace.tracing.scores import run_backwards

SignalKind = Literal[
    "narrow-scores", "reversed-scores", "slow-long-queries", "failing-document", "mixed-splitters"
]

NARROW_SPREAD = 0.02
_FUSION_SCORE = 0.05  # reciprocal rank fusion scores lie below and are narrow by nature
_GROWTH = 1.08
_BUCKETS = 1 / log(_GROWTH)
_SLOW_FACTOR = 2.0
_FEWEST = 20


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one secondary finding: what it is, in words, and its figures."""

    kind: SignalKind
    message: str
    figures: dict[str, float] = msgspec.field(default_factory=dict)
    examples: tuple[str, ...] = ()


class Histogram:
    """Count durations in buckets that are 8 % wide, so that partial results can be added.

    >>> histogram = Histogram()
    >>> for milliseconds in (1.0, 2.0, 100.0):
    ...     histogram.add(milliseconds)
    >>> 1.8 < histogram.quantile(0.5) < 2.2
    True
    """

    def __init__(self) -> None:
        self.buckets: Counter[int] = Counter()

    def add(self, value: float) -> None:
        """Count one duration."""
        self.buckets[ceil(log(value) * _BUCKETS) if value > 1e-6 else -200] += 1

    def quantile(self, share: float) -> float:
        """Return the duration that so many are below, within 8 %; 0 where there is none."""
        count = sum(self.buckets.values())
        below = 0
        for bucket in sorted(self.buckets):
            below += self.buckets[bucket]
            if below >= share * count:
                return float(_GROWTH ** (bucket - 0.5))
        return 0.0

    @property
    def count(self) -> int:
        """Return how many durations were counted."""
        return sum(self.buckets.values())


class SignalTotals:
    """Collect what the signals need, one trace at a time; partial totals can be merged."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.scored = 0
        self.narrow = 0
        self.fused = 0
        self.directed = 0
        self.reversed = 0
        self.splitters: Counter[str] = Counter()
        self.latency: dict[int, Histogram] = {}

    def add(self, trace: Trace) -> None:
        """Count one trace."""
        size = max(1, len(trace.query)).bit_length()
        histogram = self.latency.get(size)
        if histogram is None:
            histogram = self.latency[size] = Histogram()
        histogram.add(trace.latency_ms)
        hits = trace.hits
        if trace.splitter is not None:
            self.splitters[trace.splitter] += 1
        elif metadata := [hit.metadata for hit in hits if hit.metadata]:
            names = {one["splitter"] for one in metadata if isinstance(one.get("splitter"), str)}
            self.splitters.update(names)
        scores = [hit.score for hit in hits if hit.score is not None]
        top = scores[: self.k]
        if len(top) < 2:
            return
        low, high = min(top), max(top)
        self.scored += 1
        if high - low < NARROW_SPREAD:
            self.narrow += 1
            self.fused += abs(high) < _FUSION_SCORE
        kind = trace.score_kind
        if kind is not None and kind != "unknown" and low < high:
            self.directed += 1
            self.reversed += run_backwards(scores, kind)

    def merge(self, other: "SignalTotals") -> None:
        """Add what another part of the traces gave."""
        for name in ("scored", "narrow", "fused", "directed", "reversed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.splitters += other.splitters
        for size, histogram in other.latency.items():
            self.latency.setdefault(size, Histogram()).buckets.update(histogram.buckets)

    def all_latencies(self) -> Histogram:
        """Join the latencies of all query lengths."""
        together = Histogram()
        for histogram in self.latency.values():
            together.buckets.update(histogram.buckets)
        return together

    def signals(self) -> list[Signal]:
        """Say what is conspicuous."""
        found = (self._mixed(), self._reversed(), self._narrow(), self._slow())
        return [signal for signal in found if signal is not None]

    def _mixed(self) -> Signal | None:
        if len(self.splitters) < 2:
            return None
        return Signal(
            kind="mixed-splitters",
            message=(
                f"{len(self.splitters)} splitter fingerprints in one run: old and new chunks are "
                "mixed in the index; remove the old ones"
            ),
            figures={name: float(count) for name, count in self.splitters.most_common()},
        )

    def _reversed(self) -> Signal | None:
        if not self.directed or self.reversed / self.directed <= 0.5:
            return None
        return Signal(
            kind="reversed-scores",
            message=(
                f"scores run against their stated direction in {self.reversed} of "
                f"{self.directed} retrievals: is the score kind right (similarity or distance)?"
            ),
            figures={"reversed": self.reversed, "of": self.directed},
        )

    def _narrow(self) -> Signal | None:
        if not self.scored or self.narrow / self.scored <= 0.25 or self.fused == self.narrow:
            return None
        return Signal(
            kind="narrow-scores",
            message=(
                f"in {self.narrow} of {self.scored} retrievals the best and the last score differ "
                f"by less than {NARROW_SPREAD}: the order of these hits is close to chance"
            ),
            figures={"narrow": self.narrow, "of": self.scored},
        )

    def _slow(self) -> Signal | None:
        sizes = sorted(size for size, part in self.latency.items() if part.count >= _FEWEST)
        if len(sizes) < 2:
            return None
        short, long = self.latency[sizes[0]].quantile(0.5), self.latency[sizes[-1]].quantile(0.5)
        if long < _SLOW_FACTOR * short or long - short < 1:
            return None
        return Signal(
            kind="slow-long-queries",
            message=(
                f"queries of {1 << (sizes[-1] - 1)} characters and more take {long:.0f} ms, those "
                f"under {1 << sizes[0]} take {short:.0f} ms (medians)"
            ),
            figures={
                f"median_ms_under_{1 << size}": round(self.latency[size].quantile(0.5), 3)
                for size in sizes
            },
        )


def failing_documents(labels: dict[str, tuple[int, int]]) -> list[Signal]:
    """Name the documents whose labels are missed far more often than the others'.

    `labels` gives labels and misses per document. Reported are at least three misses, at twice the
    rate of the other documents, less likely than 1 % to be chance (binomial tail).
    """
    all_labels = sum(count for count, _ in labels.values())
    all_misses = sum(missed for _, missed in labels.values())
    found = []
    for doc_id, (count, missed) in sorted(labels.items()):
        others = all_labels - count
        if missed < 3 or not others:
            continue
        rate = (all_misses - missed + 0.5) / (others + 1)
        if missed / count < 2 * rate or _tail(count, missed, rate) > 0.01 / len(labels):
            continue
        found.append(
            Signal(
                kind="failing-document",
                message=(
                    f"{doc_id} fails far more than the other documents: {missed} of {count} "
                    f"labels missed, elsewhere {all_misses - missed} of {others}"
                ),
                figures={"missed": missed, "labels": count, "elsewhere": rate},
                examples=(doc_id,),
            )
        )
    return found


def _tail(count: int, missed: int, rate: float) -> float:
    rate = min(rate, 1.0)
    return sum(
        comb(count, number) * rate**number * (1 - rate) ** (count - number)
        for number in range(missed, count + 1)
    )
