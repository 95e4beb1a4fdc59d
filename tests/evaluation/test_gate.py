from xml.etree import ElementTree

import msgspec
import pytest

from ragtrace.chunking import Chunk
from ragtrace.evaluation import (
    EvalSet,
    GateLimits,
    GoldSpan,
    Question,
    analyze,
    check_gate,
    to_github,
    to_junit,
)
from tests.evaluation.making import trace

TEXT = "".join(f"Fact {number:04} is here. " for number in range(200))
CHUNKS = [Chunk("facts", n, n * 19, n * 19 + 18, TEXT[n * 19 : n * 19 + 18]) for n in range(200)]
OTHERS = [Chunk(f"other{n}", 0, 0, 8, f"Other {n:02}") for n in range(60)]


def questions(count: int, *, must_pass: bool = False) -> EvalSet:
    return EvalSet(
        questions=tuple(
            Question(
                question_id=f"q{n}",
                query=f"What is fact {n}?",
                gold=(GoldSpan(doc_id="facts", start=n * 19, end=n * 19 + 18),),
                must_pass=must_pass,
            )
            for n in range(count)
        )
    )


def run(count: int, found: int, *, wrong: list[Chunk] = OTHERS, must_pass: bool = False, **fields):
    traces = [
        trace([CHUNKS[n] if n < found else wrong[n]], name=f"q{n}", **fields) for n in range(count)
    ]
    return analyze(traces, questions(count, must_pass=must_pass), chunks=CHUNKS + OTHERS, k=1)


def rule(report, name):
    return next(one for one in report.rules if one.rule == name)


def test_a_good_run_passes():
    report = check_gate(run(20, 19))
    assert report.passed
    assert "recall@1 0.950 >= 0.9" in rule(report, "floor").message


def test_a_run_below_the_floor_fails_and_names_its_lost_questions():
    floor = rule(check_gate(run(20, 10)), "floor")
    assert not floor.passed
    assert "What is fact 19?" in floor.examples


def test_a_small_drop_is_not_significant_and_passes_with_what_could_have_been_seen():
    report = check_gate(run(20, 18), baseline=run(20, 20), limits=GateLimits(min_recall=None))
    drop = rule(report, "drop")
    assert drop.passed
    assert "inconclusive: could have detected" in drop.message


def test_a_large_drop_fails_with_the_questions_it_lost():
    report = check_gate(run(30, 20), baseline=run(30, 30), limits=GateLimits(min_recall=None))
    drop = rule(report, "drop")
    assert not drop.passed
    assert any(example.startswith("What is fact 29?") for example in drop.examples)


def test_one_lost_must_pass_question_needs_no_statistics():
    report = check_gate(run(20, 19, must_pass=True))
    assert not rule(report, "must-pass").passed
    assert not report.passed


def test_sibling_misses_alarm_from_ten_misses_on():
    neighbours = [CHUNKS[n + 100] for n in range(60)]
    few = check_gate(run(30, 21, wrong=neighbours), limits=GateLimits(min_recall=None))
    many = check_gate(run(30, 20, wrong=neighbours), limits=GateLimits(min_recall=None))
    assert rule(few, "sibling-share").passed
    assert not rule(many, "sibling-share").passed
    assert rule(many, "sibling-share").examples == ("facts",)


def test_two_splitters_in_one_run_fail():
    mixed = analyze(
        [
            trace([CHUNKS[0]], name="q0", splitter="old:1"),
            trace([CHUNKS[1]], name="q1", splitter="new:2"),
        ],
        questions(2),
        chunks=CHUNKS,
        k=1,
    )
    assert not rule(check_gate(mixed), "mixed-splitters").passed
    assert check_gate(mixed, limits=GateLimits(allow_mixed_splitters=True)).passed


def test_a_gate_without_anything_to_judge_does_not_pass():
    report = check_gate(analyze([], questions(3), k=1))
    assert not report.passed
    assert not rule(report, "scored").passed


def test_junit_holds_a_case_for_each_rule_whatever_the_queries_hold():
    hostile = EvalSet(
        questions=(
            Question(
                question_id="q0",
                query="<&>\x00\ud800]]>",
                gold=(GoldSpan(doc_id="facts", start=0, end=18),),
            ),
        )
    )
    report = check_gate(analyze([trace([OTHERS[0]], name="q0")], hostile, chunks=CHUNKS, k=1))
    suite = ElementTree.fromstring(to_junit(report))
    assert int(suite.attrib["tests"]) == len(report.rules)
    assert int(suite.attrib["failures"]) == 1
    assert suite.find("testcase/failure") is not None


def test_github_annotations_are_a_line_each():
    text = to_github(check_gate(run(20, 10)))
    assert text.startswith("::error title=ragtrace gate, floor::recall@1 0.500")
    assert text.count("\n") == 1
    assert not to_github(check_gate(run(20, 20)))


def test_a_report_is_json():
    report = check_gate(run(20, 10), baseline=run(20, 20))
    assert b'"rule":"floor"' in msgspec.json.encode(report)


@pytest.mark.parametrize("count", [20, 50])
def test_nothing_changed_never_fails_the_drop_rule(count):
    same = run(count, count - 3)
    report = check_gate(same, baseline=same, limits=GateLimits(min_recall=None))
    assert rule(report, "drop").passed
