"""`ragtrace monitor`: what live traffic shows, without any label."""

import time
from collections.abc import Iterator
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from ragtrace.cli.options import JsonOption, KOption

if TYPE_CHECKING:
    from ragtrace.evaluation.monitoring import TraceFigures


def monitor_command(
    traces: Annotated[
        list[str], typer.Argument(help="Trace files, folders or globs; .gz is read, - is stdin.")
    ],
    every: Annotated[
        float | None,
        typer.Option(help="Go on: a line every so many seconds about what came since."),
    ] = None,
    times: Annotated[
        int | None, typer.Option(help="With --every: stop after so many lines.")
    ] = None,
    k: KOption = 5,
    max_p95_ms: Annotated[float | None, typer.Option(help="Latency p95 may be.")] = None,
    max_empty: Annotated[float | None, typer.Option(help="Share without a hit.")] = None,
    max_failed: Annotated[float | None, typer.Option(help="Share that raised.")] = None,
    max_narrow: Annotated[
        float | None, typer.Option(help="Share whose best and last score hardly differ.")
    ] = None,
    max_reversed: Annotated[
        float | None, typer.Option(help="Share whose scores run against their kind.")
    ] = None,
    max_concentration: Annotated[
        float | None, typer.Option(help="Share of retrievals that one chunk is in.")
    ] = None,
    min_retrievals: Annotated[
        int, typer.Option(help="Limits count from so many retrievals on.")
    ] = 20,
    fail_on_mixed_splitters: Annotated[
        bool, typer.Option(help="Old and new chunks in one index are a failure.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show rate, latency, empty results, scores and worn-out chunks; exit 1 over a limit."""
    import msgspec

    from ragtrace.cli.output import console, print_json
    from ragtrace.evaluation.monitoring import MonitorLimits, check_figures

    limits = MonitorLimits(
        max_p95_ms=max_p95_ms,
        max_empty=max_empty,
        max_failed=max_failed,
        max_narrow=max_narrow,
        max_reversed=max_reversed,
        max_concentration=max_concentration,
        min_retrievals=min_retrievals,
        allow_mixed_splitters=not fail_on_mixed_splitters,
    )
    for name, value in msgspec.to_builtins(limits).items():
        most = inf if name in ("max_p95_ms", "min_retrievals") else 1
        if value is not None and not 0 <= value <= most:
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} {value:g}: expected a number from 0 to {most}")
    if every is not None and every <= 0:
        raise ValueError(f"--every {every:g}: expected more than 0 seconds")
    if times is not None and every is None:
        raise ValueError("--times counts the lines of --every: give both")
    out = console()
    over = False
    for figures, skipped in observed(traces, every, times, k):
        broken = check_figures(figures, limits)
        over = over or bool(broken)
        if as_json and every is None:
            print_json({"figures": figures, "skipped": skipped, "broken_limits": broken})
        elif as_json:
            values = {"ts": time.time(), "figures": figures, "broken_limits": broken}
            typer.echo(msgspec.json.encode(values).decode())
        elif every is None:
            for line in describe(figures, skipped):
                out.print(line, markup=False)
        else:
            out.print(f"{datetime.now():%H:%M:%S}  {in_a_line(figures)}", markup=False)
        if not as_json:
            for line in broken:
                out.print(f"FAIL {line}", markup=False)
    if over:
        raise typer.Exit(1)


def observed(
    traces: list[str], every: float | None, times: int | None, k: int
) -> "Iterator[tuple[TraceFigures, int]]":
    """Yield the figures of all traces once, or again and again those of what came since.

    Beside them is how many lines were not read. Ends when it is interrupted.
    """
    from ragtrace.cli.following import Follower
    from ragtrace.evaluation.monitoring import Monitor, monitor
    from ragtrace.tracing import read_traces

    if every is None:
        collected = Monitor(k)
        skipped = 0
        for path in traces:
            reader = read_traces(path)
            for trace in reader:
                collected.add(trace)
            skipped += len(reader.skipped)
        yield collected.figures(), skipped
        return
    follower = Follower(traces)
    lines = 0
    try:
        while True:
            yield monitor(follower.new_traces(), k=k), 0
            lines += 1
            if lines == times:
                return
            time.sleep(every)
    except KeyboardInterrupt:
        return


def in_a_line(figures: "TraceFigures") -> str:
    """Write the figures that move in one line."""
    if not figures.retrievals:
        return "nothing new"
    latency = figures.latency_ms
    parts = [
        f"{figures.retrievals:,} retrievals",
        f"p50 {latency['p50']:.1f} ms, p95 {latency['p95']:.1f} ms",
        f"{figures.empty_share:.0%} empty",
        f"{figures.failed_share:.0%} failed",
    ]
    parts += [signal.kind for signal in figures.signals]
    return "; ".join(parts)


def describe(figures: "TraceFigures", skipped: int) -> Iterator[str]:
    """Write all figures, a line each."""
    if not figures.retrievals:
        yield "no retrieval in these traces"
        return
    rate = "" if figures.per_minute is None else f", {figures.per_minute:,.1f} a minute"
    sampled = figures.estimated > figures.retrievals * 1.001
    whole = f" (sampled; about {figures.estimated:,.0f} made)" if sampled else ""
    yield f"{figures.retrievals:,} retrievals{whole}{rate}"
    latency = figures.latency_ms
    yield (
        f"latency p50 {latency['p50']:.1f} ms, p95 {latency['p95']:.1f} ms,"
        f" p99 {latency['p99']:.1f} ms"
    )
    yield (
        f"{figures.empty:,} without a hit ({figures.empty_share:.1%}),"
        f" {figures.failed:,} failed ({figures.failed_share:.1%})"
    )
    if figures.score_spread:
        yield (
            f"best minus last score: p50 {figures.score_spread['p50']:.3g}; narrow in"
            f" {figures.narrow_share:.1%}, against their kind in {figures.reversed_share:.1%}"
        )
    if figures.splitters:
        names = ", ".join(f"{name} ({count:,})" for name, count in figures.splitters.items())
        yield f"splitters: {names}"
    yield f"{figures.chunks:,} chunks came back; most often:"
    for one in figures.frequent:
        yield f"  {one.share:6.1%}  {one.chunk_id}"
    for signal in figures.signals:
        yield f"note: {signal.message}"
    if skipped:
        yield f"note: {skipped:,} lines were not read"
