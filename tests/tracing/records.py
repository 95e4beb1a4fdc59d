"""Small records and hostile values that several tests write."""

import json
from pathlib import Path
from typing import Any

from ragtrace.tracing import Hit, Trace, TraceHit

ID = "0123456789abcdef0123456789abcdef"


def make_trace(**fields: Any) -> Trace:
    given: dict[str, Any] = {
        "id": ID,
        "ts": 1.5,
        "query": "how long?",
        "top_k": 5,
        "hits": (),
        "latency_ms": 2.5,
    }
    return Trace(**given | fields)


def make_trace_hit(**fields: Any) -> TraceHit:
    given: dict[str, Any] = {
        "rank": 1,
        "chunk_id": "guide#c0",
        "doc_id": "guide",
        "score": 0.5,
        "snippet": "Five seconds.",
    }
    return TraceHit(**given | fields)


def make_hits(count: int = 2, **fields: Any) -> list[Hit]:
    return [
        Hit(
            chunk_id=f"guide#c{number}",
            doc_id="guide",
            text=f"Text {number}.",
            score=1 - number / 100,
            rank=number + 1,
            **fields,
        )
        for number in range(count)
    ]


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def strict_lines(path: Path) -> list[Any]:
    """Read a file as the strictest reader would: UTF-8, JSON without NaN, one value per line."""
    raw = path.read_bytes()
    assert raw == b"" or raw.endswith(b"\n")
    return [
        json.loads(line.decode("utf-8"), parse_constant=refuse_constant)
        for line in raw.split(b"\n")
        if line
    ]
