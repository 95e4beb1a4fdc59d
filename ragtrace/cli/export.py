"""`ragtrace export`: traces for other tools."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragtrace.tracing import Trace

FORMATS = ("otlp", "csv", "trec")
COLUMNS = (
    *("id", "ts", "query", "question_id", "run", "latency_ms", "error"),
    *("rank", "chunk_id", "doc_id", "score", "snippet"),
)
BATCH = 500
"""Spans in one line of OTLP; collectors take some megabytes at a time."""


def export_command(
    traces: Annotated[
        list[str], typer.Argument(help="Trace files, folders or globs; .gz is read, - is stdin.")
    ],
    to: Annotated[
        str, typer.Option(help="otlp (JSON lines of spans), csv (a row a hit), trec (a run).")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where it goes; - is standard output.")
    ] = "-",
    run: Annotated[str | None, typer.Option(help="Only traces of this run.")] = None,
    service: Annotated[str, typer.Option(help="otlp: the service's name.")] = "ragtrace",
) -> None:
    """Write traces as OpenTelemetry spans, as a table, or as a TREC run."""
    import msgspec

    from ragtrace.cli.split import open_output
    from ragtrace.evaluation import run_text
    from ragtrace.tracing import read_traces
    from ragtrace.tracing.otlp import to_otlp

    if to not in FORMATS:
        raise ValueError(f"--to {to}: choose {', '.join(FORMATS)}")
    readers = [read_traces(path) for path in traces]
    kept = (trace for reader in readers for trace in reader if run is None or trace.run == run)
    with open_output(output) as file:
        if to == "csv":
            file.write(csv_lines([COLUMNS]).encode())
        while batch := list(islice(kept, BATCH)):
            if to == "otlp":
                file.write(msgspec.json.encode(to_otlp(batch, service=service)) + b"\n")
            elif to == "csv":
                file.write(csv_lines(rows_of(batch)).encode("utf-8", "surrogatepass"))
            else:
                file.write(run_text(batch, tag=run or "ragtrace").encode())
    skipped = sum(len(reader.skipped) for reader in readers)
    if skipped:
        typer.echo(f"ragtrace: {skipped} lines were not read", err=True)


def rows_of(traces: "Iterable[Trace]") -> "Iterator[tuple[object, ...]]":
    """Yield a row for each hit, and one for each retrieval without a hit."""
    for trace in traces:
        error = trace.error.type if trace.error is not None else None
        start = (
            *(trace.id, trace.ts, trace.query, trace.question_id, trace.run),
            *(trace.latency_ms, error),
        )
        for hit in trace.hits:
            yield (*start, hit.rank, hit.chunk_id, hit.doc_id, hit.score, hit.snippet)
        if not trace.hits:
            yield (*start, *(None,) * 5)


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    r"""Write rows as CSV.

    >>> csv_lines([("a", 1, None)])
    'a,1,\r\n'
    """
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()
