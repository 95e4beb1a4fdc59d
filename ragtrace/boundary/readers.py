"""Read chunks from files: JSON lines (a manifest too), CSV, Parquet; one at a time."""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

_FIELD_LIMIT = 2**31 - 1  # the csv module refuses fields over 128 kB by default


def read_chunks(
    path: Path | str, *, columns: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    r"""Yield the chunks of a `.jsonl`, `.csv` or `.parquet` file (the first two also as `.gz`).

    `columns` maps our names (`text`, `doc_id`, `chunk_id`, `chunk_index`, `start`, `end`,
    `splitter`, …) to the file's, where they differ. Raises `ValueError` for a file of another kind,
    a row that cannot be read (naming it) and a named column that is not there.

    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("body,source\nHello.,guide\n")
    ...     file.flush()
    ...     list(read_chunks(file.name, columns={"text": "body", "doc_id": "source"}))
    [{'text': 'Hello.', 'doc_id': 'guide'}]
    """
    path = Path(path)
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    match suffix.lower():
        case ".jsonl" | ".ndjson":
            rows = _read_lines(path)
        case ".csv" | ".tsv":
            rows = _read_csv(path, "\t" if suffix.lower() == ".tsv" else ",")
        case ".parquet":
            rows = _read_parquet(path)
        case _:
            raise ValueError(f"{path}: chunks are read from .jsonl, .csv, .tsv or .parquet files")
    return _named(rows, columns or {}, path)


def _named(
    rows: Iterator[tuple[str, dict[str, Any]]], columns: Mapping[str, str], path: Path
) -> Iterator[dict[str, Any]]:
    theirs = {their: our for our, their in columns.items()}
    for where, row in rows:
        missing = [their for their in theirs if their not in row]
        if missing:
            found = ", ".join(row)
            raise ValueError(f"{path}, {where}: no column {missing[0]!r}; it has {found}")
        yield {theirs.get(name, name): value for name, value in row.items() if value is not None}


def _read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = msgspec.json.decode(line)
            except msgspec.DecodeError as error:
                raise ValueError(f"{path}, line {number}: not JSON ({error})") from None
            if not isinstance(row, dict):
                raise ValueError(f"{path}, line {number}: expected one JSON object a line")
            # A manifest starts with its settings and its documents.
            if "schema" in row or "document" in row:
                continue
            yield f"line {number}", row


def _read_csv(path: Path, delimiter: str) -> Iterator[tuple[str, dict[str, Any]]]:
    csv.field_size_limit(_FIELD_LIMIT)
    with _open(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        for number, row in enumerate(csv.DictReader(text, delimiter=delimiter), 1):
            if None in row:
                raise ValueError(f"{path}, row {number}: more fields than the header has")
            yield f"row {number}", {name: value for name, value in row.items() if value != ""}


def _read_parquet(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ImportError(f"{path}: Parquet needs pyarrow: pip install pyarrow") from None
    number = 0
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                number += 1
                yield f"row {number}", row


def _open(path: Path) -> Any:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")
