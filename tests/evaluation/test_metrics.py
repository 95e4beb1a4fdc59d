import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, P, R, Success, nDCG

from ragtrace.evaluation import bootstrap_means, score_ids, score_matches, score_text

NAMES = st.sampled_from("abcdefgh")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(NAMES, max_size=12),
    st.dictionaries(NAMES, st.integers(1, 3), min_size=1),
    st.integers(1, 10),
)
def test_ranking_metrics_equal_those_of_trec_eval(retrieved, relevant, k):
    ours = score_ids(retrieved, relevant, k)
    # trec_eval knows no repeated document: a repetition is a hit that is not relevant. It breaks
    # ties by id, so the order is given as scores.
    run = {}
    for rank, name in enumerate(retrieved, 1):
        run[name if name not in run else f"repeat {rank}"] = -float(rank)
    measures = [R @ k, Success @ k, P @ k, RR @ k, nDCG @ k]
    theirs = ir_measures.calc_aggregate(measures, {"q": relevant}, {"q": run} if run else {})
    assert ours.recall == pytest.approx(theirs[R @ k])
    assert ours.hit == pytest.approx(theirs[Success @ k])
    assert ours.precision == pytest.approx(theirs[P @ k])
    assert ours.reciprocal_rank == pytest.approx(theirs[RR @ k])
    assert ours.ndcg == pytest.approx(theirs[nDCG @ k])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 3)), max_size=8),
    st.lists(st.integers(1, 4), min_size=4, max_size=4),
    st.integers(1, 8),
)
def test_no_metric_leaves_zero_to_one_even_if_hits_match_several_labels(matches, grades, k):
    scores = score_matches(matches, grades, k)
    values = (scores.recall, scores.hit, scores.precision, scores.reciprocal_rank, scores.ndcg)
    assert all(0 <= value <= 1 for value in values)


SPANS = st.tuples(st.sampled_from("de"), st.integers(0, 30), st.integers(1, 20)).map(
    lambda parts: (parts[0], (parts[1], parts[1] + parts[2]))
)


@settings(max_examples=150, deadline=None)
@given(st.lists(SPANS, max_size=6), st.lists(SPANS, min_size=1, max_size=4))
def test_text_metrics_equal_a_count_of_single_characters(hits, gold):
    scores = score_text(hits, gold)
    wanted = {(doc, at) for doc, (start, end) in gold for at in range(start, end)}
    held = [(doc, at) for doc, (start, end) in hits for at in range(start, end)]
    shared = len(wanted & set(held))
    assert scores.recall == pytest.approx(shared / len(wanted))
    assert scores.precision == pytest.approx(shared / len(held) if held else 0)
    assert scores.iou == pytest.approx(shared / (len(held) + len(wanted - set(held))))


def test_a_repeated_id_is_counted_once():
    assert score_ids(["a", "a", "b"], ["a", "a"], 3).recall == 1.0
    assert score_ids(["a", "a"], ["a"], 2).precision == 0.5


def test_an_empty_retrieval_is_zero():
    scores = score_ids([], ["a"], 5)
    assert (scores.recall, scores.ndcg, scores.precision) == (0, 0, 0)


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_a_k_that_counts_no_hits_is_refused(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        score_ids(["a"], ["a"], k)


def test_a_question_without_labels_cannot_be_scored():
    with pytest.raises(ValueError, match="no label"):
        score_ids(["a"], [], 5)
    with pytest.raises(ValueError, match="no gold span"):
        score_text([], [])


def test_intervals_hold_the_mean_narrow_with_more_questions_and_repeat():
    few = bootstrap_means({"recall": [0.0, 1.0] * 10})["recall"]
    many = bootstrap_means({"recall": [0.0, 1.0] * 200})["recall"]
    assert few.low < few.value == 0.5 < few.high
    assert many.high - many.low < few.high - few.low
    # Known for a fair coin: half the width is about 1.96 · .5 / sqrt(n).
    assert few.high - few.low == pytest.approx(2 * 1.96 * 0.5 / 20**0.5, rel=0.15)
    assert bootstrap_means({"recall": [0.0, 1.0] * 10})["recall"] == few


def test_the_mean_of_no_questions_says_so():
    assert bootstrap_means({"recall": []})["recall"].count == 0
