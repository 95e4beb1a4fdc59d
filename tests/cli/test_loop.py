"""The loop: label, run, verdict, repair, diff, gate."""

import json
from xml.etree import ElementTree

import pytest

GUIDE = """# Limits

Requests time out after five seconds unless the client says otherwise. The limit can be set per
client, per route or for one call, and the smallest of the three wins.

# Retries

A retry waits twice as long as the one before. After four retries the client gives up and raises
an error that names the host and the port.

# Pools

The pool keeps eight sockets open for each host. An idle socket is closed after thirty seconds.
"""
QUESTIONS = [
    {
        "query": "How long does a retry wait?",
        "gold": [{"quote": "A retry waits twice as long as the one before."}],
    },
    {
        "query": "How many sockets does the pool keep open?",
        "gold": [{"quote": "The pool keeps eight sockets open for each host."}],
        "must_pass": True,
    },
    {
        "query": "When does a request time out?",
        "gold": [{"quote": "Requests time out … the client says otherwise."}],
    },
]


@pytest.fixture
def project(ragtrace, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE)
    (tmp_path / "eval.json").write_text(json.dumps(QUESTIONS))
    for name, size in (("small", 8), ("large", 60)):
        chunks = f"{name}.chunks.jsonl"
        split = ("split", "docs", "-o", chunks, "--chunk-size", size, "--length", "words")
        assert ragtrace(*split).returncode == 0
        run = ("eval", "run", "eval.json", "--chunks", chunks, "--trace-path", f"{name}.jsonl")
        assert ragtrace(*run).returncode == 0
    return tmp_path


def test_analyze_says_what_was_cut(ragtrace, project):
    result = ragtrace(
        "analyze", "small.jsonl", "-e", "eval.json", "--chunks", "small.chunks.jsonl", "--json"
    )
    analysis = json.loads(result.stdout)
    assert analysis["verdicts"].get("whole", 0) < 3
    assert analysis["misses"]["cut_misses"] > 0
    text = ragtrace("analyze", "small.jsonl", "-e", "eval.json", "--documents", "docs").stdout
    assert "How long does a retry wait?" in text


def test_inspect_shows_the_answer_and_every_hit(ragtrace, project):
    result = ragtrace("inspect", "small.jsonl", "-e", "eval.json", "--chunks", "small.chunks.jsonl")
    assert result.returncode == 0
    assert "answer, guide.md" in result.stdout
    assert "⟦" in result.stdout


def test_diff_shows_what_was_won(ragtrace, project):
    result = ragtrace(
        *("diff", "small.jsonl", "large.jsonl", "-e", "eval.json"),
        *("--chunks-before", "small.chunks.jsonl", "--chunks-after", "large.chunks.jsonl"),
    )
    assert result.returncode == 0
    assert "won: How long does a retry wait?" in result.stdout
    assert "the answer was cut and is now whole" in result.stdout


def test_the_gate_passes_what_is_good_and_fails_what_fell(ragtrace, project):
    good = ("gate", "large.jsonl", "-e", "eval.json", "--chunks", "large.chunks.jsonl")
    passed = ragtrace(*good, "--save", "baseline.json", "--junit", "junit.xml")
    assert passed.returncode == 0, passed.stdout
    assert ElementTree.parse(project / "junit.xml").getroot().attrib["failures"] == "0"
    bad = ("gate", "small.jsonl", "-e", "eval.json", "--chunks", "small.chunks.jsonl")
    failed = ragtrace(*bad, "--baseline", "baseline.json", "--github")
    assert failed.returncode == 1
    assert "::error title=ragtrace gate" in failed.stdout
    assert "FAIL" in failed.stdout


def test_questions_come_out_of_traces(ragtrace, project):
    result = ragtrace("eval", "from-traces", "small.jsonl", "-o", "asked.jsonl")
    assert result.returncode == 0
    lines = (project / "asked.jsonl").read_text().splitlines()
    assert len(lines) == 3


def test_eval_run_takes_a_retriever_of_ones_own(ragtrace, project):
    (project / "my_retrievers.py").write_text(
        "class Retriever:\n"
        "    def search(self, query, top_k):\n"
        "        return [{'id': 'guide.md#c0', 'text': 'x', 'score': 1.0}]\n"
        "def make():\n"
        "    return Retriever()\n"
        "def search(query, top_k):\n"
        "    raise RuntimeError('down')\n"
    )
    ours = ("eval", "run", "eval.json", "--trace-path", "mine.jsonl", "--retriever")
    assert ragtrace(*ours, "my_retrievers:make").returncode == 0
    broken = ragtrace(*ours, "my_retrievers:search")
    assert broken.returncode == 1
    assert "3 failed" in broken.stdout
