"""Read chunks that somebody already has: from files, or out of a live store."""

import glob
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ragtrace.boundary import read_chunks, read_store
from ragtrace.cli.objects import load_object, made

SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")


def read_given(
    paths: Iterable[str], store: str | None, columns: Iterable[str] = ()
) -> Iterator[Any]:
    """Yield the chunks of files, folders and globs, or of the store that `module:name` names.

    Raises `ValueError` where neither or both are given, and for a path that names nothing.
    """
    paths = list(paths)
    if bool(paths) == (store is not None):
        raise ValueError("give chunks as files or as --store module:name")
    if store is not None:
        # What reads a store looks for attributes, so a function here can only be what makes one.
        return read_store(made(load_object("--store", store), ("add_documents", "docstore")))
    named = dict(parse_column(column) for column in columns)
    return _read_files(list(find_chunk_files(paths)), named)


def parse_column(text: str) -> tuple[str, str]:
    """Read `text=body`: our name, the file's.

    >>> parse_column("text=body")
    ('text', 'body')
    """
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise ValueError(f"--column {text}: expected our name and the file's, as text=body")
    return ours, theirs


def find_chunk_files(patterns: Iterable[str]) -> Iterator[str]:
    """Yield the files that hold chunks; `-` stays as it is."""
    for pattern in patterns:
        path = Path(pattern)
        if pattern == "-" or path.is_file():
            yield pattern
            continue
        if path.is_dir():
            found = [
                str(file)
                for file in sorted(path.rglob("*"))
                if file.name.lower().removesuffix(".gz").endswith(SUFFIXES) and file.is_file()
            ]
        else:
            # Path.glob takes no absolute pattern; this one takes what a shell would.
            found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
        if not found:
            raise ValueError(f"{pattern}: no such file, and no folder or glob that holds chunks")
        yield from found


def _read_files(files: Iterable[str], columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for file in files:
        if file != "-":
            yield from read_chunks(file, columns=columns)
            continue
        # Chunks are read from files; a million of them need not fit the memory.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stdin.jsonl"
            with path.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
            yield from read_chunks(path, columns=columns)
