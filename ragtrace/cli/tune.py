"""`ragtrace tune`: which splitter, size and overlap answer most, and what each costs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragtrace.cli.options import JsonOption, KOption

if TYPE_CHECKING:
    from rich.console import Console

    from ragtrace.evaluation.tuning import Tuning


def tune_command(
    documents: Annotated[Path, typer.Option(help="The folder to cut.")],
    eval_set: Annotated[
        Path, typer.Option("--eval-set", "-e", help="Questions labelled by quotes or spans.")
    ],
    splitters: Annotated[
        str, typer.Option(help="Of sentence-aligned, heading-path and recursive (LangChain's).")
    ] = "sentence-aligned,heading-path",
    sizes: Annotated[str, typer.Option(help="Chunk sizes.")] = "200,400",
    overlaps: Annotated[
        str, typer.Option(help="Whole sentences to repeat; recursive: tenths of the size.")
    ] = "0",
    length: Annotated[
        str, typer.Option(help="Unit: a tiktoken encoding, characters, or words.")
    ] = "cl100k_base",
    retriever_factory: Annotated[
        str | None,
        typer.Option(help="module:name that makes a retriever of chunks; BM25 if not given."),
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Where trials are kept; what is there is not run again.")
    ] = Path("ragtrace-tune"),
    again: Annotated[bool, typer.Option(help="Run finished trials again.")] = False,
    k: KOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Cut, index, ask and judge a grid of settings; interrupt it, it goes on where it was."""
    from ragtrace.cli.candidates import candidate
    from ragtrace.cli.inputs import read_texts
    from ragtrace.cli.objects import load_object
    from ragtrace.cli.output import console, print_json, progress
    from ragtrace.evaluation import load_eval_set
    from ragtrace.evaluation.tuning import Candidate, tune

    grid = {
        Candidate(
            splitter=name, chunk_size=size, overlap_sentences=overlap, length=length
        ): candidate(name, chunk_size=size, length=length, overlap_sentences=overlap)
        for name in (part.strip() for part in splitters.split(","))
        for size in read_numbers("--sizes", sizes, least=1)
        for overlap in read_numbers("--overlaps", overlaps, least=0)
    }
    factory: Any = None
    if retriever_factory is not None:
        factory = load_object("--retriever-factory", retriever_factory)
        if not callable(factory):
            raise ValueError(f"--retriever-factory {retriever_factory}: not a function of chunks")
    questions = load_eval_set(eval_set)
    texts = read_texts([str(documents)])
    with progress() as bar:
        task = bar.add_task("", total=len(grid), completed=-1)
        tuning = tune(
            texts,
            questions,
            grid,
            folder=folder,
            k=k,
            retriever=factory,
            retriever_name=retriever_factory or "bm25",
            again=again,
            on_trial=lambda one: bar.update(task, description=one.name, advance=1),
        )
    if as_json:
        print_json(tuning)
    else:
        print_tuning(tuning, console(), folder=folder, unit=length)
    if any(trial.failed for trial in tuning.trials):
        raise typer.Exit(1)


def read_numbers(option: str, text: str, *, least: int) -> Sequence[int]:
    """Read whole numbers that commas divide.

    >>> read_numbers("--sizes", "200, 400", least=1)
    [200, 400]
    """
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < least:
        raise ValueError(f"{option} {text}: expected whole numbers of at least {least}, as 200,400")
    return numbers


def print_tuning(tuning: "Tuning", console: "Console", *, folder: Path, unit: str) -> None:
    """Print one row for each setting, those first that no other beats."""
    from ragtrace.cli.rendering import new_table, show_mean

    scored = max(trial.recall.count for trial in tuning.trials)
    table = new_table(
        *("", f">whole@{tuning.k}  [95 %]", f">recall@{tuning.k}", ">context"),
        *(">chunks", ">index", ">growth", ">p50 ms"),
    )
    for trial in tuning.trials:
        table.add_row(
            f"{'*' if trial.is_best else ' '} {trial.candidate.name}",
            show_mean(trial.whole_recall),
            f"{trial.recall.value:.3f}",
            f"{trial.context_characters:,.0f}",
            f"{trial.chunks:,}",
            f"{trial.index_length:,}",
            f"{trial.growth:.2f}",
            f"{trial.latency_ms['p50']:.1f}",
        )
    console.print(table)
    console.print(
        f"\n* no other is as good in whole answers, context characters and index size at once\n"
        f"{scored} questions scored; whole: the answer in one hit; index in units of {unit}"
    )
    first = tuning.trials[0]
    if first.stale:
        console.print(f"note: {first.stale} questions left out: their labels are stale")
    for trial in tuning.trials:
        if trial.failed:
            console.print(f"FAIL {trial.candidate.name}: {trial.failed} retrievals failed")
    reused = f", {tuning.reused} of them from before" if tuning.reused else ""
    console.print(f"{len(tuning.trials)} trials{reused}; chunks and traces of each in {folder}")
    files = folder / first.fingerprint
    console.print(
        f"next: ragtrace report {files}.traces.jsonl --chunks {files}.chunks.jsonl -e ... -o ...",
        soft_wrap=True,
    )
