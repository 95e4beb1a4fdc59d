"""`ragtrace gate`: exit 1 where a run may not replace the last one."""

from pathlib import Path
from typing import Annotated

import typer

from ragtrace.cli.options import (
    ChunksOption,
    DocumentsOption,
    EvalSetOption,
    JsonOption,
    KOption,
    RunOption,
)

MOST = 10
"""Examples printed for a failed rule; the JSON holds all."""


def gate_command(
    run_path: Annotated[
        str, typer.Argument(metavar="RUN", help="Traces, or what analyze --json wrote.")
    ],
    eval_set: EvalSetOption = None,
    baseline: Annotated[
        str | None, typer.Option(help="The last run: traces, or what analyze --json wrote.")
    ] = None,
    chunks: ChunksOption = None,
    documents: DocumentsOption = None,
    k: KOption = 5,
    run: RunOption = None,
    min_recall: Annotated[float, typer.Option(help="Floor under recall@k.")] = 0.9,
    max_drop: Annotated[
        float, typer.Option(help="How far recall may fall, if the fall is significant.")
    ] = 0.02,
    alpha: Annotated[float, typer.Option(help="What counts as significant.")] = 0.05,
    max_sibling_share: Annotated[
        float, typer.Option(help="Share of misses where the right document's wrong chunk came.")
    ] = 0.30,
    allow_mixed_splitters: Annotated[
        bool, typer.Option(help="Do not fail on old and new chunks in one index.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(help="Write the analysis here, the next baseline.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here.")] = None,
    github: Annotated[bool, typer.Option(help="Print annotations for a GitHub workflow.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Hold a run against its limits and against the run before it."""
    import msgspec

    from ragtrace.cli.output import print_json
    from ragtrace.cli.runs import read_run
    from ragtrace.evaluation import GateLimits, check_gate, load_eval_set, to_github, to_junit

    questions = load_eval_set(eval_set) if eval_set else None
    analysis = read_run(run_path, questions, chunks=chunks, documents=documents, k=k, run=run)
    before = None
    if baseline is not None:
        before = read_run(baseline, questions, chunks=chunks, documents=documents, k=k)
    limits = GateLimits(
        min_recall=min_recall,
        max_drop=max_drop,
        alpha=alpha,
        max_sibling_share=max_sibling_share,
        allow_mixed_splitters=allow_mixed_splitters,
    )
    report = check_gate(analysis, baseline=before, limits=limits)
    if save is not None:
        save.write_bytes(msgspec.json.encode(analysis))
    if junit is not None:
        junit.write_text(to_junit(report), encoding="utf-8")
    if as_json:
        print_json(report)
    elif github:
        typer.echo(to_github(report), nl=False)
    if not as_json:
        for rule in report.rules:
            typer.echo(f"{'ok  ' if rule.passed else 'FAIL'} {rule.rule}: {rule.message}")
            if not rule.passed:
                for example in rule.examples[:MOST]:
                    typer.echo(f"       {example}")
                if len(rule.examples) > MOST:
                    typer.echo(f"       and {len(rule.examples) - MOST} more")
    if not report.passed:
        raise typer.Exit(1)
