import msgspec
import pytest

from ragtrace.evaluation import Analysis, EvalSet, analyze, compare
from tests.evaluation.making import GUIDE, ask, cut, trace

RETRY = "A retry waits twice as long as the one before."
AT = GUIDE.index(RETRY)
WHOLE = cut(GUIDE, 38, AT, AT + len(RETRY) + 1)
SLICED = cut(GUIDE, AT + 20)
DOCUMENTS = {"guide": GUIDE}


def run(hits, chunks, eval_set=None, **fields) -> Analysis:
    return analyze(
        [trace(hits, **fields)], eval_set or ask(RETRY), chunks=chunks, documents=DOCUMENTS, k=2
    )


BEFORE = run([WHOLE[2], WHOLE[0]], WHOLE)
AFTER = run([SLICED[0]], SLICED)


def test_a_question_lost_to_a_new_boundary_says_so_although_no_chunk_id_is_shared():
    (lost,) = compare(BEFORE, AFTER).lost
    assert lost.outcome == "lost"
    assert "a new boundary cuts the answer (guide#c0, guide#c1)" in lost.reasons[0]


def test_the_way_back_is_a_question_won():
    comparison = compare(AFTER, BEFORE)
    (won,) = comparison.won
    assert not comparison.lost
    assert won.reasons == ("the answer was cut and is now whole in guide#c2",)


def test_nothing_changed_is_nothing_lost_and_nothing_won():
    comparison = compare(BEFORE, BEFORE)
    assert not comparison.lost
    assert not comparison.won
    assert comparison.metrics["recall"].difference == 0
    assert comparison.latency_within


def test_slower_by_more_than_a_tenth_is_said():
    slow = run([WHOLE[2]], WHOLE, latency_ms=20.0)
    fast = run([WHOLE[2]], WHOLE, latency_ms=10.0)
    assert not compare(fast, slow).latency_within
    assert compare(slow, fast).latency_within


def test_questions_of_one_run_only_are_named_and_do_not_count():
    other = run([WHOLE[2]], WHOLE, ask(RETRY, name="new"), name="new")
    comparison = compare(BEFORE, other)
    assert (comparison.only_before, comparison.only_after) == (("q",), ("new",))
    assert comparison.paired == 0
    assert comparison.notes


def test_two_depths_cannot_be_compared():
    deeper = analyze([trace([WHOLE[2]])], ask(RETRY), chunks=WHOLE, k=5)
    with pytest.raises(ValueError, match="k is 2 before and 5 after"):
        compare(BEFORE, deeper)


def test_an_analysis_can_be_kept_as_json_and_compared_later():
    kept = msgspec.json.decode(msgspec.json.encode(BEFORE), type=Analysis)
    assert compare(kept, AFTER) == compare(BEFORE, AFTER)


def test_runs_without_questions_compare_to_nothing():
    empty = analyze([], EvalSet(questions=()), k=2)
    assert compare(empty, empty).paired == 0
