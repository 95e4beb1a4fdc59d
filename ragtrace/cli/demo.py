"""`ragtrace demo`: two splitters on real documents, side by side."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ragtrace.demo.run import Change, DemoReport, IndexReport


def demo_command(
    framework: Annotated[str, typer.Option(help="langchain or llama-index.")] = "langchain",
    chunk_size: Annotated[int, typer.Option(help="Tokens in a chunk.")] = 200,
    folder: Annotated[
        Path | None, typer.Option(help="Where traces and manifests go; a temporary folder if not.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Ask 81 questions of Python's own language reference, chunked in two ways."""
    from ragtrace.cli.output import console, print_json, progress
    from ragtrace.demo.run import run_demo

    target = folder or Path(tempfile.mkdtemp(prefix="ragtrace-demo-"))
    target.mkdir(parents=True, exist_ok=True)
    with progress() as bar:
        task = bar.add_task("indexing", total=None)
        report = run_demo(
            target,
            framework=framework,
            chunk_size=chunk_size,
            on_step=lambda step: bar.update(task, description=step),
        )
    if as_json:
        print_json(report)
    else:
        print_report(report, console())


def print_report(report: "DemoReport", console: "Console") -> None:
    """Print the two indexes side by side, then what lies behind the figures."""
    console.print(
        f"{report.documents} documents ({report.characters:,} characters) that every Python"
        f" carries, {report.questions} questions, {report.framework}, BM25\n"
    )
    _print_table(report, console)
    if report.stale:
        console.print(
            f"\n{report.stale} questions left out: their quotes are not in this Python's text"
        )
    for index in (report.before, report.after):
        _print_causes(index, console)
    for change in report.changes:
        _print_change(change, report, console)
    console.print(f"\nTraces and manifests: {Path(report.before.trace_path).parent}")


def _print_table(report: "DemoReport", console: "Console") -> None:
    from ragtrace.cli.rendering import new_table

    before, after = report.before, report.after
    table = new_table("", f">{before.splitter}", f">{after.splitter}")

    def row(name: str, first: str, second: str) -> None:
        table.add_row(name, first, second)

    row("chunks", f"{before.chunks:,}", f"{after.chunks:,}")
    row("index size, tokens", f"{before.tokens:,}", f"{after.tokens:,}")
    for name, label in (("recall", "recall@5"), ("whole_recall", "answer whole in one hit@5")):
        row(label, *(f"{index.analysis.metrics[name].value:.3f}" for index in (before, after)))
    for name, label in (
        ("total", "misses"),
        ("cut_misses", "  cut_misses"),
        ("adjacent_misses", "  adjacent_misses"),
        ("sibling_misses", "  sibling_misses"),
    ):
        row(label, *(str(getattr(index.analysis.misses, name)) for index in (before, after)))
    row(
        "context characters",
        *(f"{index.analysis.context_characters.value:,.0f}" for index in (before, after)),
    )
    row("latency p50", *(f"{i.analysis.latency_ms['p50']:.1f} ms" for i in (before, after)))
    console.print(table)
    recall = report.comparison.metrics["recall"]
    verdict = "more than chance" if recall.p_value < 0.05 else "may be chance"
    console.print(
        f"\nrecall@5 {recall.difference:+.3f} [{recall.low:+.2f}, {recall.high:+.2f}], p ="
        f" {recall.p_value:.2f}: {verdict}; so many questions would have shown"
        f" {100 * recall.detectable:.0f} points"
    )


def _print_causes(index: "IndexReport", console: "Console") -> None:
    from ragtrace.cli.rendering import new_table

    console.print(f"\n{index.splitter}: why questions were lost")
    table = new_table("cause", ">questions", "repair to try first")
    for fault in index.analysis.faults:
        if fault.lost_questions:
            table.add_row(fault.kind, str(len(fault.lost_questions)), fault.repair)
    console.print(table)
    best = index.repairs.best
    if best is not None:
        console.print(
            f"best repair: {best.repair} ({best.detail}) wins {len(best.won)}, loses"
            f" {len(best.lost)}; context {best.context_characters_before:,.0f} ->"
            f" {best.context_characters:,.0f} characters"
        )


def _print_change(change: "Change", report: "DemoReport", console: "Console") -> None:
    from rich.text import Text

    console.print()
    console.print(Text(change.query, style="bold"))
    for splitter, verdict, chunk in (
        (report.before.splitter, change.verdict_before, change.chunk_before),
        (report.after.splitter, change.verdict_after, change.chunk_after),
    ):
        console.print(Text(f"{splitter}: {verdict}, {chunk.chunk_id if chunk else 'no chunk'}"))
        if chunk is not None:
            console.print(marked(chunk.text, change.gold))


def marked(text: str, gold: str) -> "Text":
    """Show a chunk behind a rule, the part of the answer that it holds in reverse."""
    from rich.text import Text

    from ragtrace.report.passages import held_part

    shown = Text(text)
    held = held_part(text, gold)
    at = text.find(held) if held else -1
    if at >= 0:
        shown.stylize("reverse", at, at + len(held))
    lines = [Text("  | ", style="dim").append_text(line) for line in shown.split("\n")]
    return Text("\n").join(lines)
