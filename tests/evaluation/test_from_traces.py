import pytest

from ragtrace.evaluation import from_traces, load_eval_set, write_eval_set
from ragtrace.tracing import Feedback, FeedbackWriter
from tests.evaluation.making import trace

ASKED = [
    trace(["a"], query=query, name=f"t{number}", question_id=None)
    for number, query in enumerate(
        ["How long?", "how LONG? ", "How long?", "Why?", "why?", "Where is it?"]
    )
]


def judge(number, **values):
    return Feedback(id=ASKED[number].id, ts=0.0, name="helpful", **values)


def test_the_questions_asked_most_come_first_in_their_commonest_spelling():
    eval_set = from_traces(ASKED, limit=2)
    assert [(one.query, one.metadata["asked"]) for one in eval_set] == [
        ("How long?", 3),
        ("Why?", 2),
    ]
    assert eval_set.unlabelled == tuple(one.question_id for one in eval_set)


def test_the_questions_judged_badly_come_first_and_alone(tmp_path):
    path = tmp_path / "feedback.jsonl"
    with FeedbackWriter(path) as writer:
        for one in (
            judge(5, label="thumbs-down"),
            judge(3, score=0.0),
            judge(5, score=-1),
            judge(0, score=1),
        ):
            writer.write(one)
    eval_set = from_traces(ASKED, order="bad", feedback=path)
    assert [(one.query, one.metadata["bad"]) for one in eval_set] == [
        ("Where is it?", 2),
        ("Why?", 1),
    ]
    assert eval_set.questions[0].metadata["trace_id"] == ASKED[5].id


def test_what_is_bad_can_be_said():
    eval_set = from_traces(
        ASKED, order="bad", feedback=[judge(0, score=2)], bad=lambda one: (one.score or 0) < 3
    )
    assert [one.query for one in eval_set] == ["How long?"]


def test_inner_retrievals_are_nobodys_questions():
    assert len(from_traces([trace(["a"], query="sub query", parent_id="outer")])) == 0


def test_the_questions_are_an_eval_set_to_be_labelled(tmp_path):
    eval_set = from_traces(ASKED)
    write_eval_set(eval_set, tmp_path / "e.jsonl", format="jsonl")
    assert load_eval_set(tmp_path / "e.jsonl") == eval_set


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match="give the feedback file"):
        from_traces(ASKED, order="bad")
    with pytest.raises(ValueError, match="limit must be at least 1"):
        from_traces(ASKED, limit=0)
