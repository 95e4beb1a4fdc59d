"""`ragtrace monitor`: one look, or one line after another."""

import gzip
import json
import threading
import time

import pytest

from ragtrace.cli.following import Follower
from ragtrace.tracing import TracedRetriever, Tracer, TraceWriter


def ask(path, *queries, found=1):
    with TraceWriter(path) as writer:
        retriever = TracedRetriever(
            lambda query, top_k: [{"id": "a#c0", "text": "x", "score": 0.5}] * found,
            Tracer(writer),
        )
        for query in queries:
            retriever.retrieve(query)


def test_one_look_shows_everything(ragtrace, tmp_path):
    ask(tmp_path / "t.jsonl", *map(str, range(30)))
    with (tmp_path / "t.jsonl").open("a") as file:
        file.write("torn\n")
    result = ragtrace("monitor", "t.jsonl")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("30 retrievals")
    for text in ("latency p50", "0 without a hit", "100.0%  a#c0", "1 lines were not read"):
        assert text in result.stdout
    figures = json.loads(ragtrace("monitor", "t.jsonl", "--json").stdout)["figures"]
    assert figures["retrievals"] == 30
    (tmp_path / "none.jsonl").write_text("")
    assert "no retrieval" in ragtrace("monitor", "none.jsonl").stdout


def test_a_limit_that_is_broken_fails(ragtrace, tmp_path):
    ask(tmp_path / "t.jsonl", *map(str, range(30)), found=0)
    broken = ragtrace("monitor", "t.jsonl", "--max-empty", "0.1")
    assert broken.returncode == 1
    assert "FAIL empty results: 100.0% is over 10.0%" in broken.stdout
    assert ragtrace("monitor", "t.jsonl", "--max-failed", "0").returncode == 0


def test_live_lines_are_about_what_came_since(ragtrace, tmp_path):
    ask(tmp_path / "t.jsonl", "a", "b")

    def later():
        time.sleep(0.2)
        ask(tmp_path / "t.jsonl", "c")

    writer = threading.Thread(target=later)
    writer.start()
    result = ragtrace("monitor", "t.jsonl", "--every", "0.5", "--times", "3", "--json")
    writer.join()
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["figures"]["retrievals"] for line in lines] == [2, 1, 0]
    text = ragtrace("monitor", "t.jsonl", "--every", "0.01", "--times", "2").stdout
    assert "3 retrievals" in text.splitlines()[0]
    assert "nothing new" in text.splitlines()[1]


def test_a_follower_reads_whole_lines_once_and_files_that_are_started_anew(tmp_path):
    path = tmp_path / "t.jsonl"
    ask(path, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    follower = Follower([str(tmp_path)])
    assert [trace.query for trace in follower.new_traces()] == ["a"]
    with path.open("ab") as file:
        file.write(whole[-10:])
    assert [trace.query for trace in follower.new_traces()] == ["b"]
    assert list(follower.new_traces()) == []
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(whole))
    assert [trace.query for trace in follower.new_traces()] == ["a", "b"]
    assert list(follower.new_traces()) == []
    path.unlink()
    ask(path, "c", "d", "e", "f")
    assert [trace.query for trace in follower.new_traces()] == ["c", "d", "e", "f"]
    path.write_bytes(whole)
    assert [trace.query for trace in follower.new_traces()] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("nowhere.jsonl",), "nowhere.jsonl"),
        (("nowhere.jsonl", "--every", "1"), "nowhere.jsonl"),
        (("-", "--every", "1"), "--every"),
        (("t.jsonl", "--every", "0"), "--every"),
        (("t.jsonl", "--times", "2"), "--every"),
        (("t.jsonl", "--max-empty", "5"), "--max-empty"),
        (("t.jsonl", "--max-p95-ms", "-1"), "--max-p95-ms"),
        (("t.jsonl", "-k", "0"), "k"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(ragtrace, tmp_path, arguments, named):
    (tmp_path / "t.jsonl").write_text("")
    result = ragtrace("monitor", *arguments)
    assert result.returncode == 2, result.stdout
    assert named in result.stderr
    assert len(result.stderr.splitlines()) == 1
