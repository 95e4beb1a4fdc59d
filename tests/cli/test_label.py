"""Marking passages in the terminal, by hand or by script."""

import json
import signal
import subprocess
import sys

import pytest

from ragtrace.evaluation import anchor, load_eval_set
from tests.cli.test_loop import GUIDE

INTERRUPTED = """
import sys
from ragtrace.cli import main
sys.argv = ["ragtrace", "eval", "label", "eval.jsonl", "--documents", "docs"]
main()
"""
RETRY = "A retry waits twice as long as the one before."


@pytest.fixture
def files(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE, encoding="utf-8")
    (tmp_path / "docs" / "page.html").write_text("<h1>Keys</h1><p>Keys <b>rotate</b> weekly.</p>")
    questions = [
        "How long does a retry wait?",
        "How many sockets are open?",
        "How often do keys rotate?",
    ]
    lines = [json.dumps({"query": query, "note": 1}) for query in questions]
    (tmp_path / "eval.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def quotes(folder):
    questions = load_eval_set(folder / "eval.jsonl")
    return [[label.quote for label in question.gold] for question in questions]


def label(ragtrace, *typed, given=("--documents", "docs")):
    return ragtrace("eval", "label", "eval.jsonl", *given, given="\n".join(typed) + "\n")


def test_a_passage_is_marked_by_its_lines_its_words_or_whole(ragtrace, files):
    result = label(ragtrace, "1 8-9", "1 After … gives up", "", "1", "", "1")
    assert result.returncode == 0, result.stderr
    first, second, third = quotes(files)
    assert first[0].startswith(RETRY)
    assert first[0].endswith("the host and the port.")
    assert first[1] == "After four retries the client gives up"
    assert second[0].startswith("The pool keeps eight sockets")  # below its heading
    assert third == ["Keys rotate weekly."]
    assert "4 labels written to eval.jsonl; 0 questions have none" in result.stdout
    documents = {"guide.md": GUIDE, "page.html": "# Keys\n\nKeys rotate weekly.\n"}
    assert not anchor(load_eval_set(files / "eval.jsonl"), documents=documents).problems


def test_the_next_call_goes_on_with_what_is_left(ragtrace, files):
    assert "[1/3]" in label(ragtrace, "", "1", "q").stdout
    again = label(ragtrace, "1")
    assert "2 of 3 questions to label" in again.stdout
    assert "sockets" not in again.stdout.split("Pools")[0].split("[1/2]")[1].splitlines()[0]
    assert [len(found) for found in quotes(files)] == [1, 1, 0]
    assert "1 questions have none" in again.stdout
    label(ragtrace, "1")
    assert "every question of eval.jsonl has a label" in label(ragtrace, "1").stdout


def test_other_words_are_searched_more_is_shown_and_marks_are_taken_back(ragtrace, files):
    result = label(ragtrace, "/idle socket", "1", "u", "m", "q")
    assert "taken back:" in result.stdout
    assert "no more passages share a word with 'idle socket'" in result.stdout
    assert quotes(files) == [[], [], []]
    assert "0 labels written" in result.stdout


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("7", "there is no passage 7"),
        ("1 700-800", "has no text in lines 700 to 800"),
        ("1 no such words", "does not hold these words"),
        ("1 the", "holds these words"),
        ("u", "nothing was marked"),
        ("what", "? says what can be typed"),
        ("?", "mark these lines"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_question_stays(ragtrace, files, typed, told):
    result = label(ragtrace, typed, "1", "1", "q")
    assert told in result.stdout
    assert "this is marked already" in result.stdout
    assert [len(found) for found in quotes(files)] == [1, 0, 0]


def test_a_labelled_question_can_be_chosen_and_a_manifest_searched(ragtrace, files):
    ragtrace("split", "docs/guide.md", "-o", "chunks.jsonl", "--length", "words", "-j", "1")
    label(ragtrace, "1", "q")
    chosen = ("--chunks", "chunks.jsonl", "-q", "RETRY")
    assert "1 of 3 questions" in label(ragtrace, f"1 {RETRY}", given=chosen).stdout
    assert quotes(files)[0][1] == RETRY


def test_wrong_use_is_one_line(ragtrace, files):
    for given in ((), ("--chunks", "c.jsonl", "--documents", "docs"), ("--documents", "nowhere")):
        result = label(ragtrace, given=given)
        assert result.returncode == 2
        assert len(result.stderr.strip().splitlines()) == 1


def test_nothing_is_lost_when_it_is_interrupted(files):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=files,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("1\n")
    process.stdin.flush()
    while "marked in" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "1 labels written to eval.jsonl; 2 questions have none" in rest
    assert [len(found) for found in quotes(files)] == [1, 0, 0]
    assert sorted(file.name for file in files.iterdir()) == ["docs", "eval.jsonl"]
