"""Both frameworks write the same trace of the same retrieval."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ragtrace.tracing.json_schema import SCHEMA_FILE
from tests.contract.side import Side, Stored

STORED = (
    Stored(
        "Guide > Timeouts\n\nA timeout is 5 seconds. It can be set.",
        {
            "doc_id": "guide.md",
            "chunk_id": "guide.md#c1",
            "chunk_index": 1,
            "start_index": 40,
            "end_index": 78,
            "heading_path": "Guide > Timeouts",
            "prefix_length": 18,
            "suffix_length": 0,
            "splitter": "sentence-aligned:abc123",
        },
        "guide.md#c1",
        0.875,
    ),
    Stored(
        "x" * 500,
        {
            "doc_id": "notes.txt",
            "chunk_id": "notes.txt#c7",
            "chunk_index": 7,
            "start_index": 0,
            "end_index": 500,
            "heading_path": "",
            "prefix_length": 0,
            "suffix_length": 0,
            "splitter": "sentence-aligned:abc123",
        },
        "notes.txt#c7",
        0.5,
    ),
    Stored("The third, \u2028 never asked for.", {"doc_id": "c"}, "c-1", 0.25),
)


SCHEMA = Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def lines_of(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    for line in lines:
        SCHEMA.validate(line)
    return lines


def comparable(line: dict[str, Any]) -> dict[str, Any]:
    """Leave out what differs between any two calls, and the names of the frameworks' classes."""
    ours = ("id", "ts", "latency_ms", "retriever", "score_kind")
    return {key: value for key, value in line.items() if key not in ours}


def test_both_frameworks_write_equal_lines(sides: list[Side], tmp_path: Path) -> None:
    written = []
    for side in sides:
        path = tmp_path / f"{side.name}.jsonl"
        side.trace(side.make_retriever(STORED, 2), ["how long?", "what?"], path, run="baseline")
        written.append([comparable(line) for line in lines_of(path)])
    assert written[0] == written[1]
    assert len(written[0]) == 2


def test_a_line_holds_what_the_store_knew(side: Side, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    side.trace(side.make_retriever(STORED, 2), ["how long?"], path)
    (line,) = lines_of(path)
    assert next(iter(line)) == "schema"
    assert line["schema"] == "ragtrace/1"
    assert line["query"] == "how long?"
    assert line["top_k"] == 2
    assert line["splitter"] == "sentence-aligned:abc123"
    assert line["latency_ms"] > 0
    first, second = line["hits"]
    assert (first["rank"], first["chunk_id"], first["doc_id"]) == (1, "guide.md#c1", "guide.md")
    assert (first["start"], first["end"], first["chunk_index"]) == (40, 78, 1)
    assert first["heading_path"] == ["Guide", "Timeouts"]
    assert first["snippet"] == "A timeout is 5 seconds. It can be set."
    assert first["score"] == 0.875
    assert second["snippet"] == "x" * 200
    assert second["rank"] == 2


def test_the_kind_of_the_scores_can_be_named(side: Side, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    side.trace(side.make_retriever(STORED, 2), ["q"], path, score_kind="distance")
    (line,) = lines_of(path)
    assert line["score_kind"] == "distance"


def test_what_comes_back_is_what_the_retriever_returned(side: Side, tmp_path: Path) -> None:
    retriever = side.make_retriever(STORED, 3)
    bare = side.observe(retriever, ["q"], tmp_path / "observed.jsonl")
    (traced,) = side.trace(retriever, ["q"], tmp_path / "traced.jsonl")
    assert side.answers(traced) == side.answers(bare[0])
    assert [stored.content for stored in side.answers(traced)] == [s.content for s in STORED]
    assert [stored.metadata for stored in side.answers(traced)] == [s.metadata for s in STORED]


async def test_async_calls_write_the_same_lines(side: Side, tmp_path: Path) -> None:
    retriever = side.make_retriever(STORED, 2)
    await side.atrace(retriever, ["q", "r"], tmp_path / "async.jsonl")
    side.trace(retriever, ["q", "r"], tmp_path / "sync.jsonl")
    assert [comparable(line) for line in lines_of(tmp_path / "async.jsonl")] == [
        comparable(line) for line in lines_of(tmp_path / "sync.jsonl")
    ]


def test_the_handler_sees_what_the_wrapper_sees(side: Side, tmp_path: Path) -> None:
    retriever = side.make_retriever(STORED, 2)
    side.observe(retriever, ["q"], tmp_path / "handler.jsonl")
    side.trace(retriever, ["q"], tmp_path / "wrapper.jsonl")
    (handler,) = lines_of(tmp_path / "handler.jsonl")
    (wrapper,) = lines_of(tmp_path / "wrapper.jsonl")
    # LangChain's events carry neither scores nor k; they do carry tags and a run.
    for line in (handler, wrapper):
        line.pop("top_k")
        line.pop("tags", None)
        line.pop("trace_id", None)
        for hit in line["hits"]:
            hit.pop("score")
    assert comparable(handler) == comparable(wrapper)


@pytest.mark.parametrize("way", ["trace_merged", "observe_merged"])
def test_what_merging_leaves_is_a_stage_of_the_same_retrieval(
    sides: list[Side], tmp_path: Path, way: str
) -> None:
    neighbours = [
        Stored(
            text,
            {"doc_id": "a", "chunk_id": f"a#c{index}", "chunk_index": index, "splitter": "s:1"},
            f"a#c{index}",
            0.5,
        )
        for index, text in ((4, "It is five."), (9, "Ends."), (3, "A timeout exists."))
    ]
    written = []
    for side in sides:
        path = tmp_path / f"{side.name}.jsonl"
        results = getattr(side, way)(side.make_retriever(neighbours, 3), ["q", "r"], path)
        assert [stored.content for stored in side.answers(results[0])] == [
            "A timeout exists.\n\nIt is five.", "Ends.",
        ]  # fmt: skip
        lines = lines_of(path)
        for retrieved, merged in (lines[:2], lines[2:]):
            assert (retrieved.get("stage"), merged["stage"]) == (None, "merged")
            assert merged["latency_ms"] > retrieved["latency_ms"]
            same = ("id", "ts", "query", "retriever", "top_k", "parent_id", "score_kind")
            assert [merged.get(key) for key in same] == [retrieved.get(key) for key in same]
        if way == "observe_merged":  # events carry neither scores nor k
            for line in lines:
                line.pop("top_k")
                line.pop("tags", None)
                line.pop("trace_id", None)
                for hit in line["hits"]:
                    hit.pop("score")
        written.append([comparable(line) for line in lines])
    assert written[0] == written[1]


def test_a_failure_is_recorded_and_still_raised(side: Side, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    retriever = side.make_retriever(STORED, 2, error=LookupError("index is gone"))
    with pytest.raises(LookupError, match="index is gone"):
        side.trace(retriever, ["q"], path, sample_rate=0.0)
    (line,) = lines_of(path)
    assert line["error"] == {"type": "LookupError", "message": "index is gone"}
    assert line["hits"] == []


def test_an_empty_answer_is_a_record(side: Side, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    side.trace(side.make_retriever((), 2), ["q"], path)
    assert [line["hits"] for line in lines_of(path)] == [[]]


def test_tracing_that_cannot_write_breaks_nothing(side: Side, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    (result,) = side.trace(side.make_retriever(STORED, 1), ["q"], blocked / "t.jsonl")
    assert [stored.content for stored in side.answers(result)] == [STORED[0].content]


def test_a_redact_hook_that_fails_drops_the_line(side: Side, tmp_path: Path) -> None:
    def fail(trace: Any) -> Any:
        raise RuntimeError("no")

    path = tmp_path / "t.jsonl"
    (result,) = side.trace(side.make_retriever(STORED, 1), ["q"], path, redact=fail)
    assert len(side.answers(result)) == 1
    assert not path.exists() or not lines_of(path)


def test_nothing_is_written_when_sampled_out(side: Side, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    side.trace(side.make_retriever(STORED, 1), ["q", "r"], path, sample_rate=0.0)
    assert not path.exists() or not lines_of(path)
