"""A report for programs: JSON to keep, events for a log, figures for Prometheus."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ragtrace.boundary.issue import KINDS, Issue
from ragtrace.boundary.report import BoundaryReport, Group

SCHEMA = "ragtrace-boundary/1"


def to_json(report: BoundaryReport) -> bytes:
    """Write a report as one JSON object; `read_report` reads it back.

    The rates are written out for other readers, and are worked out anew when read back.
    """
    values = {"schema": SCHEMA, "issue_rate": report.issue_rate, "rates": report.rates}
    return msgspec.json.encode(values | msgspec.to_builtins(report))


def read_report(source: Path | str | bytes) -> BoundaryReport:
    """Read a report that `to_json` wrote, from a path or from its bytes.

    Raises `ValueError` for anything else, `OSError` where the file cannot be read.
    """
    name = "the report" if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        schema = msgspec.json.decode(data, type=_Schema).schema
        if schema != SCHEMA:
            raise ValueError(f"{name} has schema {schema!r}, not {SCHEMA!r}: write it again")
        return msgspec.json.decode(data, type=BoundaryReport)
    except msgspec.DecodeError as error:
        raise ValueError(
            f"{name} is no report of `ragtrace validate --json` ({error}): write it again"
        ) from None


def to_events(
    report: BoundaryReport, *, sample: int | None = 200, run: str | None = None, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield a report as flat events for a log: one summary, then a sample of its issues.

    Every event has `event`, `chunk_size`, `length` and, where given, `run`; an issue's has its
    document and its splitter where all chunks had one. The sample is the same for the same `seed`.
    """
    tags = {
        key: value
        for key, value in (
            ("run", run),
            ("chunk_size", report.chunk_size),
            ("length", report.length),
            ("splitter", next(iter(report.by_splitter)) if len(report.by_splitter) == 1 else None),
        )
        if value
    }
    yield {
        "event": "boundary.summary",
        **tags,
        "chunks": report.chunks,
        "flawed": report.flawed,
        "issue_rate": report.issue_rate,
        **{kind: count for kind, count in report.kinds.items() if count},
    }
    issues = list(report.issues)
    if sample is not None and len(issues) > sample:
        chosen = sorted(random.Random(seed).sample(range(len(issues)), sample))
        issues = [issues[number] for number in chosen]
    for issue in issues:
        yield issue_event(issue, **tags)


def issue_event(issue: Issue, **tags: Any) -> dict[str, Any]:
    """Write one issue as a flat event."""
    return {"event": "boundary.issue", **tags, **msgspec.to_builtins(issue)}


def to_prometheus(report: BoundaryReport, *, prefix: str = "ragtrace_boundary") -> str:
    """Write the figures in Prometheus' text format, for a textfile collector or a push gateway.

    Figures by splitter are labelled; documents are not, since there may be very many.
    """
    lines: list[str] = []

    def family(name: str, help_text: str, samples: list[tuple[dict[str, str], float]]) -> None:
        lines.append(f"# HELP {prefix}_{name} {help_text}")
        lines.append(f"# TYPE {prefix}_{name} gauge")
        for labels, value in samples:
            shown = ",".join(f'{key}="{_escape(text)}"' for key, text in labels.items())
            lines.append(f"{prefix}_{name}{{{shown}}} {value:.10g}")

    groups: list[tuple[dict[str, str], Group]] = [
        (_labels(report, splitter), group) for splitter, group in sorted(report.by_splitter.items())
    ]
    family("chunks", "Chunks checked.", [(labels, g.chunks) for labels, g in groups])
    family(
        "issue_rate",
        "Share of chunks with at least one structural issue.",
        [(labels, g.issue_rate) for labels, g in groups],
    )
    family(
        "chunks_with_issue",
        "Chunks that have an issue of a kind.",
        [
            ({**labels, "kind": kind}, group.kinds.get(kind, 0))
            for labels, group in groups
            for kind in KINDS
        ],
    )
    return "\n".join(lines) + "\n"


def _labels(report: BoundaryReport, splitter: str) -> dict[str, str]:
    labels = {"splitter": splitter or "unknown"}
    if report.chunk_size is not None:
        labels |= {"chunk_size": str(report.chunk_size), "length": report.length or ""}
    return labels


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class _Schema(msgspec.Struct):
    schema: str = ""
