"""Show an analysis to a person: the figures, the causes, and the questions that were lost."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragtrace.evaluation import Analysis, Mean, QuestionResult
from ragtrace.report.names import metric_name


def new_table(*columns: str, title: str | None = None) -> Table:
    """Start a table; a column whose name begins with `>` is right-aligned."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, show_edge=False)
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
    return table


def show_mean(mean: Mean) -> str:
    """Write a mean with its interval."""
    return f"{mean.value:.3f}  [{mean.low:.2f}, {mean.high:.2f}]"


def print_analysis(analysis: Analysis, console: Console, *, most: int = 10) -> None:
    """Print the analysis, the worst first, at most so many lost questions."""
    _print_figures(analysis, console)
    _print_faults(analysis, console)
    _print_documents(analysis, console, most)
    _print_lost(analysis, console, most)
    _print_notes(analysis, console)


def _print_figures(analysis: Analysis, console: Console) -> None:
    scored = len(analysis.questions)
    console.print(
        f"{scored} questions scored, {len(analysis.lost)} lost; the analysis had"
        f" {', '.join(analysis.inputs)}"
    )
    table = new_table("", ">mean  [95 % interval]")
    for name, mean in analysis.metrics.items():
        if mean.count:
            table.add_row(metric_name(name, analysis.k), show_mean(mean))
    table.add_row("context characters", f"{analysis.context_characters.value:.0f}")
    for quantile, milliseconds in analysis.latency_ms.items():
        table.add_row(f"latency {quantile}", f"{milliseconds:.1f} ms")
    console.print(table)
    misses = analysis.misses
    console.print()
    console.print(
        f"Misses: {misses.total}; sibling_misses {misses.sibling_misses}"
        f" ({misses.sibling_share:.0%}), adjacent_misses {misses.adjacent_misses}"
        f" ({misses.adjacent_share:.0%}), cut_misses {misses.cut_misses} ({misses.cut_share:.0%})"
    )


def _print_faults(analysis: Analysis, console: Console) -> None:
    faults = [fault for fault in analysis.faults if fault.lost_questions]
    if not faults:
        return
    console.print()
    table = new_table("cause", ">lost questions", "repair to try first")
    for fault in faults:
        table.add_row(fault.kind, str(len(fault.lost_questions)), fault.repair)
    console.print(table)


def _print_documents(analysis: Analysis, console: Console, most: int) -> None:
    documents = [document for document in analysis.documents if document.misses]
    if not documents:
        return
    console.print()
    table = new_table("document", ">labels", ">misses", ">sibling", ">adjacent", ">cut")
    for document in documents[:most]:
        counts = (
            document.labels,
            document.misses,
            document.sibling_misses,
            document.adjacent_misses,
            document.cut_misses,
        )
        table.add_row(document.doc_id, *map(str, counts))
    console.print(table)


def _print_lost(analysis: Analysis, console: Console, most: int) -> None:
    for question in analysis.lost[:most]:
        console.print()
        print_question(question, console)
    if len(analysis.lost) > most:
        console.print(f"\n... and {len(analysis.lost) - most} more lost questions")


def print_question(question: QuestionResult, console: Console) -> None:
    """Print one question: its verdict, cause and repair, label by label."""
    console.print(Text(question.query, style="bold"))
    for span in question.spans:
        rank = "" if span.finding.rank is None else f", rank {span.finding.rank}"
        console.print(Text(f"  {span.finding.verdict}{rank}: {span.fault.message}"))
        console.print(Text(f"  cause {span.fault.kind}; try {span.fault.repair}"))


def _print_notes(analysis: Analysis, console: Console) -> None:
    lines = [*analysis.notes, *(signal.message for signal in analysis.signals)]
    lines += [problem.message for problem in analysis.label_problems]
    for title, names in (
        ("questions without a trace", analysis.untraced),
        ("questions without a label", analysis.unlabelled),
        ("questions whose labels are all stale", analysis.stale),
        ("queries that stand more than once in the eval set", analysis.duplicates),
    ):
        if names:
            lines.append(f"{len(names)} {title}: {', '.join(names[:5])}")
    if lines:
        console.print()
    for line in lines[:20]:
        console.print(Text(f"note: {line}"))
    if len(lines) > 20:
        console.print(f"note: and {len(lines) - 20} more")
