"""Cuts judged by the text on both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.boundary.cuts import goes_on, judge_cut, judge_start

ENDS = [
    ("The pump stopped.", " It was late."),
    ("Why did it stop?", " nobody knew."),
    ('"It stopped!"', " He left."),
    ("It stopped (as planned).", " We left."),
    ("She lives in Bonn etc.", " The rest moved."),
    ("Costs rose 4 %.[3]", " Wages fell."),
    ("水泵停了。", "没有人知道。"),
    ("何時ですか？", "「三時です。」"),
    ("It works 😀", " Try it."),
    ("It works.😀", " Try it."),
    ("Write to ops@pump.example", " We answer daily."),
    ("See https://pump.example/a.b", " The manual is there."),
    ("Sent 03/02/2021 14:05", " Dear all"),
    ("Kind regards,", " Anna"),
    ("## Getting started", "\nInstall it."),
    ("- tighten the bolts", "\n- open the valve"),
    ("The steps are:", "\n- open the valve"),
    ("| a | b |", "\n\nThen"),
    ("return value;", "\nif (x) {"),
    ("a paragraph without a stop", "\n\nAnother one"),
    ("a paragraph without a stop", "\n\nlower case starts it"),
    ("**Handling**", "\nUpon request"),
    ("[docs]: https://a.example", "\nText"),
    ("Figure 3: The pump", "\nIt has two valves."),
    ("", "Anything"),
]

INSIDE = [
    ("The pump stopped and", " it was late."),
    ("The pump sto", "pped."),
    ("The pump, the valve,", " the pipe."),
    ("Dr.", " Okafor left."),
    ("It needs wiring, e.g.", " for the servers."),
    ("Set it in config.", "prod.yaml now."),
    ("It rose by 3.", "5 percent."),
    ('"Is there a key?"', " he asked."),
    ("「もう食べました。」", "と弟が言った。"),
    ("See Fig.", " 3 for details."),
    ("Note:", " the valve is open."),
    ("The pump stopped (because", " it was old)."),
    ("1.", " Open the valve."),
    ("Call ops@pump", ".example now."),
    ("Some words of a wrapped\nline that", "\ngoes on below."),
    ("The list of the", "\n\nparts follows."),
    ("- open the valve and", "\n  close the tap"),
    ("He met John", " Smith at noon."),
    ("It costs 5", " % more."),
]


@pytest.mark.parametrize(("before", "after"), ENDS)
def test_a_true_end_is_not_taken_for_a_cut(before: str, after: str) -> None:
    assert judge_cut(before, after) != "inside"


@pytest.mark.parametrize(("before", "after"), INSIDE)
def test_a_cut_inside_a_sentence_is_seen(before: str, after: str) -> None:
    assert judge_cut(before, after) == "inside"


@pytest.mark.parametrize(
    "text",
    ["The pump.", "iPhone sales rose.", "- item", "def f():", "https://a.example", "", "3 pumps"],
)
def test_a_start_that_stands_alone_is_not_taken_for_a_cut(text: str) -> None:
    assert judge_start(text) != "inside"


@pytest.mark.parametrize("text", ["and the valve.", ", which is old.", ") is old."])
def test_a_start_that_continues_is_seen(text: str) -> None:
    assert judge_start(text) == "inside"


def test_what_visibly_was_to_go_on_is_told_from_a_signature() -> None:
    assert goes_on("Close the valve and")
    assert not goes_on("Kind regards,")
    assert not goes_on("Anna")


def test_nothing_is_code_where_a_paragraph_is_known() -> None:
    cut = "Call `hide();", " to hide it."
    assert judge_cut(*cut) == "end"
    assert judge_cut(*cut, in_paragraph=True) != "end"


@given(
    st.text(alphabet=" \n.aB\"'()[]`|#-*:1,。「」é\ud800"),
    st.text(alphabet=" \n.aB\"'()|#-1。」\ud800"),
)
def test_every_text_gets_a_verdict(before: str, after: str) -> None:
    assert judge_cut(before, after) in ("end", "inside", "unsure")
    assert judge_cut(before, None) in ("end", "inside", "unsure")
    assert judge_start(after) in ("end", "inside", "unsure")
