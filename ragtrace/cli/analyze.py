"""`ragtrace analyze`: what the traces of a run say about its index."""

from pathlib import Path
from typing import Annotated

import typer


def analyze_command(
    traces: Annotated[
        list[str], typer.Argument(help="Trace files, folders or globs; .gz is read, - is stdin.")
    ],
    eval_set: Annotated[
        Path, typer.Option("--eval-set", "-e", help="Questions with labels: JSON, JSONL, CSV, ...")
    ],
    chunks: Annotated[
        Path | None, typer.Option(help="The manifest of the index (chunks.jsonl): exact verdicts.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="The folder the index was built from: places quotes.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many hits count.")] = 5,
    run: Annotated[str | None, typer.Option(help="Only traces of this run.")] = None,
    most: Annotated[int, typer.Option(help="How many lost questions to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Say per question what happened, why, and what would repair it."""
    from ragtrace.cli.inputs import read_chunks, read_texts
    from ragtrace.cli.output import console, print_json
    from ragtrace.cli.rendering import print_analysis
    from ragtrace.cli.runs import require_traces
    from ragtrace.evaluation import analyze, load_eval_set

    analysis = analyze(
        traces,
        load_eval_set(eval_set),
        chunks=read_chunks(chunks) if chunks else None,
        documents=read_texts([str(documents)]) if documents else None,
        k=k,
        run=run,
    )
    require_traces(analysis, ", ".join(traces))
    if as_json:
        print_json(analysis)
    else:
        print_analysis(analysis, console(), most=most)
