"""Show what the boundary validator found to a person."""

from rich.console import Console
from rich.text import Text

from ragtrace.boundary import BoundaryComparison, BoundaryReport, SideBySide
from ragtrace.cli.rendering import new_table

EXAMPLES = 2


def print_report(report: BoundaryReport, console: Console, *, most: int = 10) -> None:
    """Print the headline, the kinds, the documents, and the worst example of each kind."""
    console.print(
        f"issue rate {report.issue_rate:.1%}: {report.flawed:,} of {report.chunks:,} chunks"
        f" ({report.characters:,} characters, {len(report.by_document):,} documents)"
    )
    if report.checked_exactly:
        console.print(
            f"{report.checked_exactly:,} chunks compared with their documents, of which"
            f" {report.located:,} were found by their text"
        )
    else:
        console.print("judged by the chunks alone; --documents makes the findings exact")
    _print_kinds(report, console)
    _print_groups(report, console, most)
    _print_worst(report, console, most)


def _print_kinds(report: BoundaryReport, console: Console) -> None:
    found = [kind for kind, count in report.kinds.items() if count]
    if not found:
        return
    table = new_table("kind", ">chunks", ">share")
    for kind in sorted(found, key=lambda kind: -report.kinds[kind]):
        table.add_row(kind, f"{report.kinds[kind]:,}", f"{report.rates[kind]:.1%}")
    console.print()
    console.print(table)


def _print_groups(report: BoundaryReport, console: Console, most: int) -> None:
    for title, groups in (("document", report.by_document), ("splitter", report.by_splitter)):
        flawed = sorted(
            ((name, group) for name, group in groups.items() if group.flawed),
            key=lambda item: (-item[1].flawed, item[0]),
        )
        if len(groups) < 2 or not flawed:
            continue
        table = new_table(title, ">chunks", ">flawed", ">issue rate", "mostly")
        for name, group in flawed[:most]:
            mostly = max(group.kinds, key=lambda kind: group.kinds[kind])
            row = (f"{group.chunks:,}", f"{group.flawed:,}", f"{group.issue_rate:.1%}", mostly)
            table.add_row(Text(name or "unknown"), *row)
        console.print()
        console.print(table)
        if len(flawed) > most:
            console.print(f"... and {len(flawed) - most:,} more")


def _print_worst(report: BoundaryReport, console: Console, most: int) -> None:
    kinds = sorted(report.worst, key=lambda kind: -report.kinds[kind])
    for kind in kinds[:most]:
        console.print(Text(f"\n{kind}", style="bold"))
        for issue in report.worst[kind][:EXAMPLES]:
            console.print(Text(f"  {issue.chunk_id or issue.doc_id}: {issue.message}"))
            if issue.excerpt:
                excerpt = " ".join(issue.excerpt.split())
                console.print(Text(f"    {excerpt}", style="dim"))


def print_side_by_side(table: SideBySide, console: Console, *, size: str) -> None:
    """Print one column for each splitter."""
    console.print(f"\nThe same documents, cut anew at {size}:")
    shown = new_table("", *(f">{name}" for name in table.names))
    shown.add_row("chunks", *(f"{report.chunks:,}" for report in table.reports.values()))
    for row in table.rows:
        shown.add_row(row.kind, *(f"{share:.1%}" for share in row.shares))
    console.print(shown)
    console.print(f"lowest issue rate: {table.best}")


def print_comparison(comparison: BoundaryComparison, console: Console) -> None:
    """Print what moved by more than noise, where, and under which changed setting."""
    console.print()
    if comparison.passed:
        console.print("ok   nothing got worse than in the baseline by more than noise")
    for mark, changes in (("FAIL", comparison.worse), ("ok  ", comparison.better)):
        for change in changes:
            where = f"; most in {', '.join(change.documents)}" if change.documents else ""
            console.print(
                Text(
                    f"{mark} {change.kind} {change.before:.1%} -> {change.after:.1%}"
                    f" (p = {change.p_value:.2g}){where}"
                )
            )
    for line in comparison.settings:
        console.print(Text(f"     changed: {line}"))
