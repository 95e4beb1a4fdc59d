"""The demo: real documents, labelled questions, honest figures."""

import json
from pydoc_data.topics import topics

import pytest

from ragtrace.demo import load_documents, load_questions
from ragtrace.evaluation import anchor


def test_the_corpus_is_what_this_python_carries():
    assert load_documents() == topics


def test_at_least_forty_questions_have_a_place_in_this_python():
    anchored = anchor(load_questions(), documents=load_documents())
    stale = {problem.question_id for problem in anchored.problems if problem.is_stale}
    assert len(load_questions()) - len(stale) >= 40
    documents = {
        place.doc_id
        for question in anchored.eval_set
        for label in question.gold
        for place in (label, *label.alternatives)
    }
    assert len(documents) > len(load_documents()) / 2


@pytest.mark.parametrize("framework", ["langchain", "llama-index"])
def test_the_demo_compares_two_splitters(ragtrace, tmp_path, framework):
    result = ragtrace("demo", "--framework", framework, "--folder", tmp_path / "d", "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    for side in ("before", "after"):
        index = report[side]
        assert index["chunks"] > 300
        assert index["tokens"] > 90_000
        assert 0 < index["analysis"]["metrics"]["recall"]["value"] < 1
        assert len(index["analysis"]["questions"]) == report["questions"] - report["stale"]
    assert len(list((tmp_path / "d").glob("*.traces.jsonl"))) == 2


def test_the_demo_prints_verdicts_causes_and_the_best_repair(ragtrace):
    result = ragtrace("demo")
    assert result.returncode == 0, result.stderr
    for text in ("recall@5", "cut_misses", "context characters", "repair to try first"):
        assert text in result.stdout
