"""The gate in somebody's test suite."""

import json
import subprocess
import sys

import numpy  # noqa: F401  # pytester unloads what a run imports, and numpy loads only once
import pytest

pytest_plugins = ["pytester"]

SUITE = """
    def search(query, top_k):
        return [{"id": "a#c0", "text": "Keys rotate once a month.", "doc_id": "a", "score": 1.0}]

    def down(query, top_k):
        raise RuntimeError("no connection")
"""


@pytest.fixture
def suite(pytester):
    """Write an eval set with one question that the retriever answers and one that it does not."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    good = {"query": "How often do keys rotate?", "expected_chunk_ids": ["a#c0"]}
    bad = {"query": "Who keeps the logs?", "expected_chunk_ids": ["b#c0"], "must_pass": True}
    pytester.path.joinpath("good.json").write_text(json.dumps([good]))
    pytester.path.joinpath("both.json").write_text(json.dumps([good, bad]))

    def run(body: str) -> pytest.RunResult:
        pytester.makepyfile(SUITE + "\n    def test_retrieval(ragtrace_gate):\n        " + body)
        return pytester.runpytest_inprocess("-q")

    return run


def test_a_good_retriever_passes(suite):
    suite("assert ragtrace_gate(search, 'good.json').passed").assert_outcomes(passed=1)


def test_a_bad_one_fails_with_the_reasons_and_without_a_traceback(suite):
    result = suite("ragtrace_gate(search, 'both.json')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*the gate is shut*", "floor: recall@5 0.500 < 0.9*", "*Who keeps the logs?*"]
    )
    result.stdout.fnmatch_lines(["must-pass: 1 of 1 must-pass questions lost"])
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_limits_are_the_teams_own(suite, pytester):
    labels = json.loads(pytester.path.joinpath("both.json").read_text())
    labels[1]["must_pass"] = False
    pytester.path.joinpath("both.json").write_text(json.dumps(labels))
    suite("ragtrace_gate(search, 'both.json', limits={'min_recall': 0.5})").assert_outcomes(
        passed=1
    )
    suite("ragtrace_gate(search, 'both.json', limits={'recall': 0.5})").assert_outcomes(failed=1)


def test_a_run_is_kept_and_is_the_next_baseline(suite):
    suite("ragtrace_gate(search, 'good.json', save='last.json')").assert_outcomes(passed=1)
    suite(
        "report = ragtrace_gate(search, 'good.json', baseline='last.json')\n"
        "        assert report.comparison.paired == 1"
    ).assert_outcomes(passed=1)
    result = suite("ragtrace_gate(search, 'good.json', baseline='good.json')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*good.json is no*"])


def test_a_retriever_that_is_down_fails_the_test(suite):
    result = suite("ragtrace_gate(down, 'good.json')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 of 1 retrievals failed", "*RuntimeError: no connection*"])


def test_chunks_and_documents_may_be_values(suite):
    suite(
        "from ragtrace.chunking import split\n"
        "        from ragtrace.evaluation import EvalSet\n"
        "        from ragtrace.index import Bm25Retriever\n"
        "        text = 'Keys rotate once a month. Logs are kept for a year.'\n"
        "        chunks = split(text, chunk_size=5, length='words', doc_id='a')\n"
        "        questions = EvalSet.from_items(\n"
        "            [{'query': 'When do keys rotate?', 'gold': [{'quote': 'Keys rotate'}]}])\n"
        "        ragtrace_gate(Bm25Retriever(chunks), questions, chunks=chunks,\n"
        "                      documents={'a': text})"
    ).assert_outcomes(passed=1)


def test_loading_the_plugin_costs_nothing():
    code = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import ragtrace.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert found == ["ragtrace", "ragtrace.pytest_plugin"]
