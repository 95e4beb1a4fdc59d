"""Whether a difference between two runs over the same questions is more than chance."""

from collections.abc import Sequence

import msgspec
import numpy as np

from ragtrace.evaluation.statistics import SEED

_SAMPLES = 10_000
_EXACT = 16
"""With so few changed questions every assignment of signs is tried, else a sample of them."""

_DETECTABLE = 1.96 + 0.84  # two-sided 5 %, power 80 %
_FEWEST = 6  # questions that must change one way before the test says p < .05


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Hold a paired difference of means: after minus before, over `count` questions.

    `low` and `high` bound the difference with 95 % confidence (bootstrap). `p_value` is that of the
    two-sided sign-flip test. `detectable` is the smallest true difference that so many questions
    with such a spread would have shown four times in five.
    """

    before: float
    after: float
    difference: float
    low: float
    high: float
    p_value: float
    detectable: float
    changed: int
    count: int

    @property
    def p_fall(self) -> float:
        """Return the p-value of the one-sided test, which asks whether the mean fell."""
        return self.p_value / 2 if self.difference < 0 else 1 - self.p_value / 2


def compare_pairs(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare the values of the same questions in two runs.

    >>> compare_pairs([1, 1, 1, 0], [1, 0, 0, 0]).p_value
    0.5
    """
    if len(before) != len(after):
        raise ValueError(f"{len(before)} and {len(after)} values: pairs need as many of each")
    if not before:
        return Difference(
            before=0,
            after=0,
            difference=0,
            low=0,
            high=0,
            p_value=1,
            detectable=1,
            changed=0,
            count=0,
        )
    differences = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    random = np.random.default_rng(SEED)
    draws = random.choice(differences, size=(2000, len(differences))).mean(axis=1)
    low, high = np.percentile(draws, (2.5, 97.5))
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 1.0
    return Difference(
        before=float(np.mean(before)),
        after=float(np.mean(after)),
        difference=float(differences.mean()),
        low=float(low),
        high=float(high),
        p_value=sign_flip_test(differences.tolist()),
        detectable=min(
            1.0, max(_FEWEST / len(differences), _DETECTABLE * spread / len(differences) ** 0.5)
        ),
        changed=int(np.count_nonzero(differences)),
        count=len(differences),
    )


def sign_flip_test(differences: Sequence[float]) -> float:
    """Return how often random signs give a sum at least as far from zero: a two-sided p-value.

    Exact for up to 16 differences that are not zero, else from 10,000 samples of a fixed seed.

    >>> sign_flip_test([1.0] * 6), sign_flip_test([0.0, 0.0])
    (0.03125, 1.0)
    """
    changed = np.asarray([value for value in differences if value], dtype=float)
    if not len(changed):
        return 1.0
    observed = abs(changed.sum()) - 1e-9
    if len(changed) <= _EXACT:
        bits = np.arange(2 ** len(changed))[:, None] >> np.arange(len(changed)) & 1
        signs = 2.0 * bits - 1.0
        return float(np.mean(np.abs(signs @ changed) >= observed))
    random = np.random.default_rng(SEED)
    signs = random.choice((-1.0, 1.0), size=(_SAMPLES, len(changed)))
    # The observed assignment is one of the possible ones: a p-value is never 0.
    return float((np.sum(np.abs(signs @ changed) >= observed) + 1) / (_SAMPLES + 1))
