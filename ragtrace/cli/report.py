"""`ragtrace report`: an analysis as one HTML file that can be sent to somebody."""

from pathlib import Path
from typing import Annotated

import typer

from ragtrace.cli.options import ChunksOption, DocumentsOption, EvalSetOption, KOption, RunOption


def report_command(
    run_path: Annotated[
        str, typer.Argument(metavar="RUN", help="Traces, or what analyze --json wrote.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")],
    eval_set: EvalSetOption = None,
    chunks: ChunksOption = None,
    documents: DocumentsOption = None,
    k: KOption = 5,
    run: RunOption = None,
    title: Annotated[str, typer.Option(help="The heading of the page.")] = "Retrieval report",
    most: Annotated[int, typer.Option(help="How many lost questions to show.")] = 50,
) -> None:
    """Write figures, causes, repairs and every lost question to a page without scripts."""
    from ragtrace.cli.inputs import read_chunks, read_texts
    from ragtrace.cli.runs import read_saved, require_traces
    from ragtrace.evaluation import analyze, collect, load_eval_set, what_if
    from ragtrace.report import render_report

    held = read_chunks(chunks) if chunks else None
    texts = read_texts([str(documents)]) if documents else None
    analysis = read_saved(run_path)
    traces = {}
    repairs = None
    if analysis is None:
        if eval_set is None:
            raise ValueError(f"{run_path} holds traces: name the labelled questions with -e")
        questions = load_eval_set(eval_set)
        analysis = analyze(run_path, questions, chunks=held, documents=texts, k=k, run=run)
        require_traces(analysis, run_path)
        traces = collect(run_path, questions, k=k, run=run).latest
        repairs = what_if(run_path, questions, chunks=held, documents=texts, k=k, run=run)
    page = render_report(
        analysis,
        title=title,
        traces=traces,
        chunks=held or (),
        documents=texts,
        repairs=repairs,
        most=most,
    )
    # A text may hold half a surrogate pair, which no encoding can write.
    output.write_text(page, encoding="utf-8", errors="replace")
    typer.echo(f"{output}: {len(analysis.questions)} questions scored, {len(analysis.lost)} lost")
