"""Feedback is a file of its own and joins on what traces already say."""

from pathlib import Path

import pytest

from ragtrace.tracing import Feedback, FeedbackWriter, TraceWriter, read_feedback, read_traces
from tests.tracing.records import ID, make_trace, make_trace_hit, strict_lines


def test_feedback_joins_its_trace_and_its_hit(tmp_path: Path) -> None:
    hits = (make_trace_hit(), make_trace_hit(rank=2, chunk_id="guide#c9"))
    with TraceWriter(tmp_path / "t.jsonl", strict=True) as traces:
        traces.write(make_trace(hits=hits))
    with FeedbackWriter(tmp_path / "f.jsonl", strict=True) as feedback:
        feedback.write(Feedback(id=ID, ts=2.0, name="helpful", rank=2, score=1.0))
        feedback.write(Feedback(id=ID, ts=3.0, name="relevant", chunk_id="guide#c0", label="no"))
        feedback.write(Feedback(id=ID, ts=4.0, name="answer", label="wrong", comment="\ud800"))
    (trace,) = read_traces(tmp_path / "t.jsonl")
    judged = {
        said.name: [
            hit.chunk_id
            for hit in trace.hits
            if said.id == trace.id and (hit.rank == said.rank or hit.chunk_id == said.chunk_id)
        ]
        for said in read_feedback(tmp_path / "f.jsonl", strict=True)
    }
    assert judged == {"helpful": ["guide#c9"], "relevant": ["guide#c0"], "answer": []}
    assert strict_lines(tmp_path / "f.jsonl")[0] == {
        "schema": "ragtrace-feedback/1", "id": ID, "ts": 2.0, "name": "helpful", "rank": 2,
        "score": 1.0,
    }  # fmt: skip


def test_feedback_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="give a score or a label"):
        Feedback(id=ID, ts=0.0, name="helpful")


def test_feedback_and_traces_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    with TraceWriter(path, strict=True) as traces, FeedbackWriter(path, strict=True) as feedback:
        traces.write(make_trace())
        feedback.write(Feedback(id=ID, ts=2.0, name="helpful", score=1.0))
    for reader in (read_traces(path), read_feedback(path)):
        assert len(list(reader)) == 1
        assert len(reader.skipped) == 1


def test_torn_feedback_is_skipped_and_what_follows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    said = Feedback(id=ID, ts=2.0, name="helpful", score=1.0)
    with FeedbackWriter(path, strict=True) as feedback:
        feedback.write(said)
    path.write_bytes(path.read_bytes()[:30] + path.read_bytes())
    reader = read_feedback(path)
    assert list(reader) == [said]
    assert len(reader.skipped) == 1


def test_keys_of_later_versions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(
        '{"schema":"ragtrace-feedback/1","id":"x","ts":1,"name":"n","label":"l","by":"me"}\n'
    )
    (said,) = read_feedback(path, strict=True)
    assert said.extra == {"by": "me"}
