"""The schema of a line is written down, shipped, and stays readable for ever."""

import importlib.resources
import json
from pathlib import Path
from typing import Any

import pytest

from ragtrace.tracing import Hit, TraceError, Tracer, TraceWriter, read_traces, trace_context
from ragtrace.tracing.json_schema import SCHEMA_FILE, make_json_schema, schema_text
from tests.tracing.records import ID, make_trace, make_trace_hit, strict_lines

GOLDEN = Path(__file__).parent / "golden" / "ragtrace-1.jsonl"

FULL = make_trace(
    hits=(
        make_trace_hit(
            chunk_index=0,
            start=0,
            end=13,
            heading_path=("Guide", "Time > out"),
            length=13,
            doc_version="2",
            text="Five seconds.",
            merged_ids=("guide#c0", "guide#c1"),
            metadata={"page": 3},
        ),
        make_trace_hit(rank=2, chunk_id="notes#c7", doc_id=None, score=None, snippet="\u2028"),
    ),
    question_id="q7",
    score_kind="similarity",
    retriever="BM25",
    run="nightly",
    trace_id="f" * 32,
    parent_id="e" * 32,
    session_id="s",
    splitter="sentence-aligned:abc123",
    stage="merged",
    sample_rate=0.5,
    tags=("a", "b"),
    metadata={"model": "m", "nested": {"deep": [1, None]}},
)
FAILED = make_trace(
    top_k=None, query="caf\u00e9?", error=TraceError(type="LookupError", message="gone")
)


def test_the_shipped_schema_is_what_the_structs_say() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), (
        "run python -m ragtrace.tracing.json_schema"
    )
    shipped = importlib.resources.files("ragtrace.tracing") / "ragtrace-1.schema.json"
    assert json.loads(shipped.read_text(encoding="utf-8")) == make_json_schema()


def validate(line: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(make_json_schema()).validate(line)


def test_every_kind_of_record_fits_the_schema(tmp_path: Path) -> None:
    tracer = Tracer(
        tmp_path / "t.jsonl", metadata_keys="*", keep_text=True, sample_rate=0.999, strict=True
    )
    hit = Hit(chunk_id="a", text="\ud800", metadata={"x": float("nan")}, merged_ids=("a", "b"))
    with trace_context(run="r", question_id="q", session_id="s", trace_id="t", tags=("x",)):
        for number in range(20):
            call = tracer.start("q", id=f"span-{number}", parent_id="span")
            tracer.finish(call, lambda: [hit], score_kind="distance")
        tracer.fail(tracer.start("q"), ValueError("x"))
    tracer.writer.write(FULL)
    lines = strict_lines(tracer.writer.path)
    assert len(lines) > 10
    for line in lines:
        validate(line)
        validate(line | {"a_later_key": 1})


def test_the_schema_refuses_what_is_no_trace(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    with TraceWriter(tmp_path / "t.jsonl", strict=True) as writer:
        writer.write(FULL)
    (line,) = strict_lines(writer.path)
    for change in ({"schema": "ragtrace/2"}, {"id": "x"}, {"hits": [{}]}, {"top_k": "many"}):
        with pytest.raises(jsonschema.ValidationError):
            validate(line | change)
    for name in ("schema", "id", "ts", "query", "top_k", "hits", "latency_ms"):
        with pytest.raises(jsonschema.ValidationError):
            validate({key: value for key, value in line.items() if key != name})


def test_the_golden_file_is_read_as_it_always_was() -> None:
    """Never change the file: it is what versions that are in use have written."""
    reader = read_traces(GOLDEN, strict=True)
    assert list(reader) == [make_trace(), FULL, FAILED]


def test_the_golden_file_is_what_is_written(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.jsonl", strict=True) as writer:
        for trace in (make_trace(), FULL, FAILED):
            writer.write(trace)
    assert writer.path.read_bytes() == GOLDEN.read_bytes()


def test_a_trace_is_a_value() -> None:
    assert make_trace() == make_trace()
    assert make_trace().id == ID
    with pytest.raises(AttributeError):
        make_trace().query = "other"  # type: ignore[misc]  # what is tested
