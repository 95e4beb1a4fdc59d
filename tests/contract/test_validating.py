"""Both frameworks say the same of the same chunks on their way into an index."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.side import Side, Stored

CHUNKS = (
    Stored("The lease ends in", {"doc_id": "lease", "chunk_id": "lease#c0"}, "lease#c0"),
    Stored("September. Renew it.", {"doc_id": "lease", "chunk_id": "lease#c1"}, "lease#c1"),
    Stored("Keys are kept by the porter.", {"doc_id": "keys", "chunk_id": "keys#c0"}, "keys#c0"),
)


def test_chunks_pass_through_unchanged(side: Side) -> None:
    assert [one.content for one in side.validate(CHUNKS, [].append)] == [
        chunk.content for chunk in CHUNKS
    ]


def test_both_frameworks_write_equal_events(sides: list[Side]) -> None:
    written: list[list[dict[str, Any]]] = []
    for side in sides:
        written.append([])
        side.validate(CHUNKS, written[-1].append, run="nightly", clock=lambda: 7.0)
    assert written[0] == written[1]
    summary, *issues = written[0]
    assert (summary["run"], summary["ts"]) == ("nightly", 7.0)
    assert summary["issue_rate"] == pytest.approx(2 / 3)
    assert {issue["chunk_id"] for issue in issues} == {"lease#c0", "lease#c1"}


def test_events_go_to_a_file_as_lines(side: Side, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    side.validate(CHUNKS, path)
    side.validate(CHUNKS[2:], path)
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [e["issue_rate"] for e in events if e["event"] == "boundary.summary"] == [
        pytest.approx(2 / 3), 0.0,
    ]  # fmt: skip


def test_events_that_cannot_be_written_break_nothing(side: Side, tmp_path: Path) -> None:
    assert len(side.validate(CHUNKS, tmp_path / "no folder" / "events.jsonl")) == 3


def test_wrong_settings_are_refused_when_they_are_given(side: Side) -> None:
    with pytest.raises(ValueError, match="chunk_size"):
        side.validate(CHUNKS, [].append, chunk_size=0)
