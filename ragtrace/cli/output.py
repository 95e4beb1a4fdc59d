"""Where the commands print: tables for people, JSON for programs, progress for terminals."""

import os
import sys

import msgspec
from rich.console import Console
from rich.progress import Progress


def print_json(value: object) -> None:
    """Write one JSON document, indented, to standard output."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2)
    sys.stdout.write(text.decode() + "\n")


def console() -> Console:
    """Return a console on standard output; a pipe is 120 wide unless `COLUMNS` says otherwise."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console(width=None if known else 120, highlight=False)


def progress() -> Progress:
    """Return a progress bar on standard error, silent unless that is a terminal."""
    return Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
