"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

EvalSetOption = Annotated[
    Path | None,
    typer.Option("--eval-set", "-e", help="Questions with labels: JSON, JSONL, CSV, ..."),
]
ChunksOption = Annotated[
    Path | None, typer.Option("--chunks", help="The manifest of the index: exact verdicts.")
]
DocumentsOption = Annotated[
    Path | None,
    typer.Option("--documents", help="The folder the index was built from: places quotes."),
]
KOption = Annotated[int, typer.Option("-k", help="How many hits count.")]
RunOption = Annotated[str | None, typer.Option("--run", help="Only traces of this run.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
StoreOption = Annotated[
    str | None,
    typer.Option("--store", help="Or a live store: module:name, or what makes one."),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option("--column", help="Our name and the file's, as text=body; repeatable."),
]
