"""Traces as OpenTelemetry spans, in OTLP's JSON form: any collector reads them, none is needed.

A span carries both vocabularies, OpenInference's (`retrieval.documents.N.document.id`) and that of
OpenTelemetry's generative AI conventions (`gen_ai.retrieval.documents`).
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from ragtrace import __version__
from ragtrace.tracing.schema import Trace, TraceHit

_CLIENT = 3
_ERROR = 2


def to_otlp(traces: Iterable[Trace], *, service: str = "ragtrace") -> dict[str, Any]:
    """Return an `ExportTraceServiceRequest`, to be written as JSON or sent to `/v1/traces`.

    Ids come from the traces, so what is exported twice is the same span twice.

    >>> trace = Trace(id="ab" * 16, ts=1.0, query="Who?", top_k=5, hits=(), latency_ms=2.0)
    >>> span = to_otlp([trace])["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    >>> span["traceId"], span["endTimeUnixNano"]
    ('abababababababababababababababab', '1002000000')
    """
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes({"service.name": service})},
                "scopeSpans": [
                    {
                        "scope": {"name": "ragtrace", "version": __version__},
                        "spans": [_span(trace) for trace in traces],
                    }
                ],
            }
        ]
    }


def _span(trace: Trace) -> dict[str, Any]:
    start = round(trace.ts * 1_000_000_000)
    span: dict[str, Any] = {
        "traceId": trace.trace_id or trace.id,
        "spanId": _span_id(trace.id),
        "name": f"retrieval {trace.retriever}" if trace.retriever else "retrieval",
        "kind": _CLIENT,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + round(trace.latency_ms * 1_000_000)),
        "attributes": _attributes(dict(_values(trace))),
    }
    if trace.parent_id is not None:
        span["parentSpanId"] = _span_id(trace.parent_id)
    if trace.stage == "merged":
        # Merging is a record with the id of its retrieval; as a span it is a part of it.
        span |= {"spanId": _span_id(trace.id + "merged"), "parentSpanId": _span_id(trace.id)}
        span["name"] = "merge"
    if trace.error is not None:
        span["status"] = {"code": _ERROR, "message": f"{trace.error.type}: {trace.error.message}"}
    return span


def _span_id(trace_id: str) -> str:
    return blake2b(trace_id.encode(), digest_size=8).hexdigest()


def _values(trace: Trace) -> Iterator[tuple[str, Any]]:
    yield "openinference.span.kind", "RETRIEVER"
    yield "input.value", trace.query
    yield "gen_ai.operation.name", "retrieval"
    yield "gen_ai.retrieval.query.text", trace.query
    yield "gen_ai.retrieval.top_k", trace.top_k
    documents = [_document(hit) for hit in trace.hits]
    yield "gen_ai.retrieval.documents", msgspec.json.encode(documents).decode()
    for number, hit in enumerate(trace.hits):
        prefix = f"retrieval.documents.{number}.document"
        yield f"{prefix}.id", hit.chunk_id
        yield f"{prefix}.score", hit.score
        yield f"{prefix}.content", hit.text if hit.text is not None else hit.snippet
        yield f"{prefix}.metadata", msgspec.json.encode({"doc_id": hit.doc_id}).decode()
    yield "session.id", trace.session_id
    yield "ragtrace.id", trace.id
    yield "ragtrace.run", trace.run
    yield "ragtrace.question_id", trace.question_id
    yield "ragtrace.score_kind", trace.score_kind
    yield "ragtrace.splitter", trace.splitter
    yield "ragtrace.sample_rate", trace.sample_rate
    if trace.error is not None:
        yield "error.type", trace.error.type


def _document(hit: TraceHit) -> dict[str, Any]:
    return {"id": hit.chunk_id} if hit.score is None else {"id": hit.chunk_id, "score": hit.score}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _value(value)} for key, value in values.items() if value is not None
    ]


def _value(value: str | int | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    # 64-bit integers are text in protobuf's JSON.
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}
