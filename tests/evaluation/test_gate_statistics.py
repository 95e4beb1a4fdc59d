"""The drop rule keeps quiet when nothing changed, and sees what really fell."""

import numpy as np
import pytest

from benchmarks.gate import alarm_rate
from ragtrace.evaluation import GateLimits
from ragtrace.evaluation.paired import compare_pairs

ROUNDS = 400


@pytest.fixture(scope="module")
def two_runs():
    """Give the recall of 235 questions in two runs; a quarter of them changed."""
    random = np.random.default_rng(11)
    one = random.choice([0.0, 0.5, 1.0], 235, p=[0.15, 0.1, 0.75])
    changed = random.random(235) < 0.28
    other = np.where(changed, random.choice([0.0, 0.5, 1.0], 235, p=[0.4, 0.1, 0.5]), one)
    return one.tolist(), other.tolist()


def alarms(two_runs, count, drop=0.0, **limits):
    return alarm_rate(*two_runs, count=count, drop=drop, rounds=ROUNDS, limits=GateLimits(**limits))


@pytest.mark.parametrize("count", [20, 30, 50])
def test_nothing_changed_alarms_in_at_most_one_of_twenty_runs(two_runs, count):
    assert alarms(two_runs, count) <= 0.05
    # The same runs under a rule that asks for no significance: this test can fail.
    assert alarms(two_runs, count, alpha=1.0) > 0.2


def test_more_questions_see_more_drops_and_large_drops_are_seen(two_runs):
    few, many = (alarms(two_runs, count, drop=0.2) for count in (20, 50))
    assert few < many
    assert many > 0.8
    assert alarms(two_runs, 50, drop=0.05) < many


def test_a_rise_is_no_fall():
    rose, fell = compare_pairs([0.0] * 6, [1.0] * 6), compare_pairs([1.0] * 6, [0.0] * 6)
    assert fell.p_fall == fell.p_value / 2 < 0.05
    assert rose.p_fall > 0.95
