"""Means that say how sure they are."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

SAMPLES = 2000
SEED = 20_240_229
_CELLS = 4_000_000


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """Hold a mean over `count` questions and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float
    count: int


def bootstrap_means(columns: Mapping[str, Sequence[float]], *, seed: int = SEED) -> dict[str, Mean]:
    """Average each column, with a percentile interval over resampled questions.

    Columns of one length are resampled together. An empty column is 0 over 0 questions.

    >>> bootstrap_means({"recall": [1.0, 1.0]})["recall"]
    Mean(value=1.0, low=1.0, high=1.0, count=2)
    """
    by_length: dict[int, list[str]] = {}
    for name, values in columns.items():
        by_length.setdefault(len(values), []).append(name)
    means: dict[str, Mean] = {}
    for count, names in by_length.items():
        if not count:
            means |= {name: Mean(value=0.0, low=0.0, high=0.0, count=0) for name in names}
            continue
        table = np.array([columns[name] for name in names], dtype=np.float64)
        low, high = np.percentile(_resample(table, seed), (2.5, 97.5), axis=0)
        for row, name in enumerate(names):
            means[name] = Mean(
                value=float(table[row].mean()),
                low=float(low[row]),
                high=float(high[row]),
                count=count,
            )
    return {name: means[name] for name in columns}


def _resample(
    table: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", seed: int
) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    count = table.shape[1]
    random = np.random.default_rng(seed)
    block = max(1, _CELLS // (count * table.shape[0]))
    sampled = [
        table[:, random.integers(0, count, (min(block, SAMPLES - done), count))].mean(axis=2).T
        for done in range(0, SAMPLES, block)
    ]
    return np.concatenate(sampled)
