"""`ragtrace split`: documents in, chunks out, one JSON line a chunk."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

FORMATS = "auto | prose | markdown | html | code"


def split_command(
    paths: Annotated[
        list[str], typer.Argument(help="Documents: files, folders, globs; .gz is read, - is stdin.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where the chunks go; - is standard output.")
    ] = "-",
    markup: Annotated[str, typer.Option("--format", help=FORMATS)] = "auto",
    language: Annotated[str | None, typer.Option(help="Programming language, for code.")] = None,
    chunk_size: Annotated[int, typer.Option(help="The most a chunk may hold.")] = 512,
    length: Annotated[
        str, typer.Option(help="Unit: a tiktoken encoding, characters, or words.")
    ] = "cl100k_base",
    overlap_sentences: Annotated[int, typer.Option(help="Whole sentences to repeat.")] = 0,
    chunk_overlap: Annotated[
        int | None, typer.Option(help="Repeat whole sentences up to so many units.")
    ] = None,
    oversize: Annotated[
        str, typer.Option(help="A block over the budget: split it, or keep it whole.")
    ] = "split",
    sections: Annotated[
        str | None, typer.Option(help="separate: no chunk crosses a heading; merge: it may.")
    ] = None,
    prepend_heading_path: Annotated[
        bool, typer.Option("--heading-path", help="Put the heading path before each chunk.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0 is one a core.")] = 0,
) -> None:
    """Split documents into chunks that never cut what belongs together."""
    from ragtrace.cli.inputs import find_files
    from ragtrace.cli.splitting import header_line, split_files

    settings: dict[str, Any] = {
        "format": markup,
        "language": language,
        "chunk_size": chunk_size,
        "length": length,
        "overlap_sentences": overlap_sentences,
        "chunk_overlap": chunk_overlap,
        "oversize": oversize,
        "prepend_heading_path": prepend_heading_path,
    }
    if sections is not None:
        settings["sections"] = sections
    files = list(find_files(paths))
    failures: list[str] = []
    with open_output(output) as file:
        file.write(header_line(settings))
        for lines in split_files(files, settings, jobs=jobs, failures=failures):
            file.write(lines)
            file.flush()
    if output != "-":
        typer.echo(
            f"{output}: {len(files) - len(failures)} of {len(files)} documents split", err=True
        )
    for failure in failures:
        typer.echo(f"ragtrace: {failure}", err=True)
    if failures:
        typer.echo(f"ragtrace: {len(failures)} of {len(files)} documents not split", err=True)
        raise typer.Exit(1)


@contextmanager
def open_output(output: str) -> Iterator[BinaryIO]:
    """Open the file to write; `-` is standard output."""
    if output == "-":
        yield sys.stdout.buffer
    else:
        with Path(output).open("wb") as file:
            yield file
