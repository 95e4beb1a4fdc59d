"""`ragtrace diff`: what the second run lost and won against the first."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragtrace.cli.options import DocumentsOption, EvalSetOption, JsonOption, KOption

if TYPE_CHECKING:
    from rich.console import Console

    from ragtrace.evaluation import Comparison


def diff_command(
    before: Annotated[str, typer.Argument(help="Traces, or what analyze --json wrote.")],
    after: Annotated[str, typer.Argument(help="The same of the second run.")],
    eval_set: EvalSetOption = None,
    chunks_before: Annotated[
        Path | None, typer.Option(help="The manifest of the first index.")
    ] = None,
    chunks_after: Annotated[
        Path | None, typer.Option(help="The manifest of the second index.")
    ] = None,
    documents: DocumentsOption = None,
    k: KOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Pair the questions of two runs, also over indexes that are cut differently."""
    from ragtrace.cli.output import console, print_json
    from ragtrace.cli.runs import read_run, require_traces
    from ragtrace.evaluation import compare, load_eval_set

    questions = load_eval_set(eval_set) if eval_set else None
    comparison = compare(
        require_traces(
            read_run(before, questions, chunks=chunks_before, documents=documents, k=k), before
        ),
        require_traces(
            read_run(after, questions, chunks=chunks_after, documents=documents, k=k), after
        ),
    )
    if as_json:
        print_json(comparison)
    else:
        print_comparison(comparison, console())


def print_comparison(comparison: "Comparison", console: "Console") -> None:
    """Print lost and won questions first, then the means."""
    from rich.text import Text

    from ragtrace.cli.rendering import new_table
    from ragtrace.report.names import metric_name

    console.print(
        f"{comparison.paired} questions in both runs: {len(comparison.lost)} lost,"
        f" {len(comparison.won)} won"
    )
    for change in (*comparison.lost, *comparison.won):
        mark = " (must pass)" if change.must_pass else ""
        console.print(Text(f"\n{change.outcome}{mark}: {change.query}", style="bold"))
        for reason in change.reasons:
            console.print(Text(f"  {reason}"))
    console.print()
    table = new_table("", ">before", ">after", ">difference  [95 %]", ">p", ">detectable")
    for name, change_of in comparison.metrics.items():
        table.add_row(
            metric_name(name, comparison.k),
            f"{change_of.before:.3f}",
            f"{change_of.after:.3f}",
            f"{change_of.difference:+.3f}  [{change_of.low:+.2f}, {change_of.high:+.2f}]",
            f"{change_of.p_value:.3f}",
            f"{change_of.detectable:.3f}",
        )
    context = comparison.context_characters
    table.add_row("context characters", f"{context.before:.0f}", f"{context.after:.0f}")
    table.add_row(
        "latency p50",
        f"{comparison.latency_before:.1f} ms",
        f"{comparison.latency_after:.1f} ms",
    )
    console.print(table)
    if not comparison.latency_within:
        console.print("note: latency p50 is more than 10 % slower")
    for name, ids in (("before", comparison.only_before), ("after", comparison.only_after)):
        if ids:
            console.print(f"note: {len(ids)} questions only in the run {name}")
    for note in comparison.notes:
        console.print(Text(f"note: {note}"))
