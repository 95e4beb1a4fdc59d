"""`ragtrace eval`: ask labelled questions, find questions worth labelling, and label them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ragtrace.cli.help import show_help_without_command
from ragtrace.cli.label import label_command
from ragtrace.cli.objects import load_object, made
from ragtrace.cli.options import JsonOption

eval_app = typer.Typer(
    help="Ask labelled questions; find questions to label, and label them.",
    invoke_without_command=True,
)
eval_app.callback()(show_help_without_command)
eval_app.command("label")(label_command)


@eval_app.command("run")
def run_command(
    eval_set: Annotated[Path, typer.Argument(help="Questions with labels.")],
    retriever: Annotated[
        str | None,
        typer.Option(help="Where yours is: module:name, a retriever or what makes one."),
    ] = None,
    chunks: Annotated[
        Path | None, typer.Option(help="Or a manifest, which is then searched by BM25.")
    ] = None,
    trace_path: Annotated[Path, typer.Option(help="Where the traces go.")] = Path("run.jsonl"),
    top_k: Annotated[int, typer.Option(help="Hits to ask for.")] = 8,
    run: Annotated[str | None, typer.Option(help="A name for this run.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask every question and write one trace each; `ragtrace analyze` says what they show."""
    from ragtrace.cli.output import print_json, progress
    from ragtrace.evaluation import load_eval_set, run_eval

    questions = load_eval_set(eval_set)
    asked = find_retriever(retriever, chunks)
    with progress() as bar:
        task = bar.add_task("asking", total=len(questions))
        summary = run_eval(
            asked,
            questions,
            top_k=top_k,
            trace_path=trace_path,
            run=run,
            on_question=lambda question: bar.advance(task),
        )
    if as_json:
        print_json(summary)
    else:
        typer.echo(
            f"{summary.questions} questions, {len(summary.empty)} without a hit,"
            f" {len(summary.failed)} failed; traces of run {summary.run} in {summary.trace_path}"
        )
        for failure in summary.failed[:10]:
            typer.echo(f"failed: {failure.question_id}: {failure.error}")
    if summary.failed:
        raise typer.Exit(1)


def find_retriever(name: str | None, chunks: Path | None) -> Any:
    """Return the retriever that was named, or BM25 over a manifest.

    Raises `ValueError` where neither or both are given, and where the name leads nowhere.
    """
    if (name is None) == (chunks is None):
        raise ValueError("give one of --retriever module:name and --chunks chunks.jsonl")
    if chunks is not None:
        from ragtrace.cli.inputs import read_chunks
        from ragtrace.index import Bm25Retriever

        return Bm25Retriever(read_chunks(chunks))
    assert name is not None
    return made(load_object("--retriever", name), ("search", "invoke", "retrieve"))


@eval_app.command("from-traces")
def from_traces_command(
    traces: Annotated[list[str], typer.Argument(help="Trace files, folders or globs.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the questions go: JSONL or JSON.")
    ],
    most: Annotated[int, typer.Option(help="How many questions.")] = 50,
    feedback: Annotated[
        Path | None, typer.Option(help="A feedback file: badly rated questions come first.")
    ] = None,
) -> None:
    """Take real questions out of traces, the frequent ones first; they are then yours to label."""
    from ragtrace.evaluation import from_traces, write_eval_set

    found = from_traces(
        traces, feedback=feedback, limit=most, order="bad" if feedback else "frequent"
    )
    write_eval_set(found, output, format="jsonl")
    typer.echo(f"{len(found)} questions in {output}; they have no labels yet")
