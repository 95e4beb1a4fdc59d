import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.evaluation import compare_pairs, sign_flip_test


def test_equal_runs_differ_in_nothing():
    same = compare_pairs([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert (same.difference, same.p_value, same.changed) == (0.0, 1.0, 0)


def test_one_changed_question_proves_nothing():
    assert sign_flip_test([-1.0]) == 1.0


@pytest.mark.parametrize("count", [3, 6, 10])
def test_few_changes_are_counted_exactly(count):
    assert sign_flip_test([1.0] * count) == pytest.approx(2 / 2**count)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), max_size=8))
def test_the_exact_test_is_what_counting_by_hand_gives(differences):
    changed = [value for value in differences if value]
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, changed, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(changed))
    ]
    expected = sum(one >= abs(sum(changed)) - 1e-9 for one in sums) / len(sums)
    assert sign_flip_test(differences) == pytest.approx(expected)


def test_many_changes_in_one_direction_are_significant_and_never_certain():
    p_value = sign_flip_test([1.0] * 40)
    assert 0 < p_value < 0.001


def test_fewer_questions_could_have_detected_less():
    few = compare_pairs([0.0, 1.0] * 5, [1.0, 0.0] * 5)
    many = compare_pairs([0.0, 1.0] * 50, [1.0, 0.0] * 50)
    assert few.detectable > many.detectable


def test_pairs_need_partners():
    with pytest.raises(ValueError, match="as many of each"):
        compare_pairs([1.0], [1.0, 0.0])


def test_two_equal_questions_could_have_shown_nothing():
    assert compare_pairs([1.0, 1.0], [1.0, 1.0]).detectable == 1.0
