"""`ragtrace export`: what other tools read."""

import csv
import json

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragtrace.tracing import Trace
from ragtrace.tracing.otlp import to_otlp
from ragtrace.tracing.schema import TraceError, TraceHit

ID = "0192f0c1a5b87c3e9d2b6f4a1c8e7d55"
QUERY = 'How long, "exactly",\nis it?'
HIT = TraceHit(rank=1, chunk_id="a#c0", doc_id="a", score=0.5, snippet="Five seconds, é.")
TRACE = Trace(id=ID, ts=12.5, query=QUERY, top_k=5, hits=(HIT,), latency_ms=3.25, run="first")
FAILED = Trace(
    id="f" * 32,
    ts=13.0,
    query="down",
    top_k=None,
    hits=(),
    latency_ms=1.0,
    error=TraceError(type="RuntimeError", message="no connection"),
)


@pytest.fixture
def traced(tmp_path):
    import msgspec

    lines = [msgspec.json.encode(trace) for trace in (TRACE, FAILED)]
    (tmp_path / "t.jsonl").write_bytes(b"\n".join([*lines, b"torn", b""]))


def parse(request):
    """Read OTLP as protobuf does; only ids differ, which OTLP writes in hexadecimal digits."""
    import base64

    request = json.loads(json.dumps(request))
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return ParseDict(request, ExportTraceServiceRequest()).resource_spans[0].scope_spans[0].spans


def test_spans_are_what_the_protocol_says():
    span, failed = parse(to_otlp([TRACE, FAILED]))
    assert span.trace_id.hex() == ID
    assert len(span.span_id) == 8
    assert span.end_time_unix_nano - span.start_time_unix_nano == 3_250_000
    values = {one.key: one.value for one in span.attributes}
    assert values["input.value"].string_value == QUERY
    assert values["gen_ai.retrieval.top_k"].int_value == 5
    assert values["retrieval.documents.0.document.id"].string_value == "a#c0"
    assert values["retrieval.documents.0.document.score"].double_value == 0.5
    documents = json.loads(values["gen_ai.retrieval.documents"].string_value)
    assert documents == [{"id": "a#c0", "score": 0.5}]
    assert failed.status.message == "RuntimeError: no connection"
    assert "gen_ai.retrieval.top_k" not in {one.key for one in failed.attributes}


def test_parts_of_a_retrieval_are_spans_below_it():
    inner = Trace(id="a" * 32, ts=1.0, query="q", top_k=1, hits=(), latency_ms=1.0, parent_id=ID)
    merged = Trace(id=ID, ts=1.0, query="q", top_k=1, hits=(), latency_ms=1.0, stage="merged")
    outer, below, after = parse(to_otlp([TRACE, inner, merged]))
    assert below.parent_span_id == outer.span_id == after.parent_span_id
    assert len({outer.span_id, below.span_id, after.span_id}) == 3
    assert to_otlp([TRACE]) == to_otlp([TRACE])


def test_the_three_formats(ragtrace, traced, tmp_path):
    otlp = ragtrace("export", "t.jsonl", "--to", "otlp", "--service", "shop")
    assert otlp.returncode == 0
    assert "1 lines were not read" in otlp.stderr
    (line,) = otlp.stdout.splitlines()
    assert len(parse(json.loads(line))) == 2
    table = ragtrace("export", "t.jsonl", "--to", "csv", "-o", "t.csv")
    assert table.returncode == 0
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        hit, failed = csv.DictReader(file)
    assert (hit["query"], hit["chunk_id"], hit["snippet"]) == (QUERY, "a#c0", "Five seconds, é.")
    assert (failed["error"], failed["chunk_id"]) == ("RuntimeError", "")
    trec = ragtrace("export", "t.jsonl", "--to", "trec", "--run", "first")
    assert trec.stdout == f"{ID} Q0 a#c0 1 -1 first\n"


def test_a_mistake_is_one_line_that_names_it(ragtrace, traced):
    for arguments, named in (
        (("t.jsonl", "--to", "xml"), "xml"),
        (("nowhere.jsonl", "--to", "csv"), "nowhere.jsonl"),
        (("t.jsonl",), "--to"),
    ):
        result = ragtrace("export", *arguments)
        assert result.returncode == 2
        assert named in result.stderr
