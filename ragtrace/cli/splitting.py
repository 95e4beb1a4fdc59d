"""Split many files on all cores, in the order they were named."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ragtrace.chunking import split
from ragtrace.chunking.documents import SplitSettings
from ragtrace.chunking.html import convert_html
from ragtrace.cli.inputs import LANGUAGES, TEXT_SUFFIXES, read_text, suffix_of
from ragtrace.cli.output import progress
from ragtrace.index.manifest import SCHEMA, ManifestHeader
from ragtrace.index.manifest_chunk import describe_chunks, document_record
from ragtrace.index.manifest_rows import encode_chunk


def header_line(settings: dict[str, Any]) -> bytes:
    """Write the first line of a manifest. Raises `ValueError` for settings `split` refuses."""
    splitter = splitter_name(settings)
    kept = {name: value for name, value in settings.items() if value is not None}
    return (
        msgspec.json.encode(ManifestHeader(schema=SCHEMA, splitter=splitter, settings=kept)) + b"\n"
    )


def splitter_name(settings: dict[str, Any]) -> str:
    """Return the fingerprint of these settings."""
    checked = dict(settings)
    if checked["format"] == "auto":
        checked["format"] = "prose"  # each file's format is told by its name
    if checked["format"] == "code" and checked["language"] is None:
        checked["language"] = "python"
    return SplitSettings(**checked).fingerprint(f"split-{settings['format']}")


def split_files(
    files: Sequence[tuple[Path, str]],
    settings: dict[str, Any],
    *,
    jobs: int,
    failures: list[str],
) -> Iterator[bytes]:
    """Yield the lines of each file's chunks; what could not be read is named in `failures`."""
    work = partial(split_file, settings=settings, splitter=splitter_name(settings))
    workers = min(jobs or os.cpu_count() or 1, len(files))
    with progress() as bar:
        task = bar.add_task("splitting", total=len(files))
        for lines, failure in run(work, files, workers):
            bar.advance(task)
            if failure:
                failures.append(failure)
            else:
                yield lines


def run(work: Any, files: Sequence[tuple[Path, str]], workers: int) -> Iterator[tuple[bytes, str]]:
    """Work here for one worker, else in so many processes."""
    if workers <= 1:
        yield from map(work, files)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(work, files, chunksize=max(1, len(files) // (workers * 16)))


def split_file(
    file: tuple[Path, str], settings: dict[str, Any], splitter: str
) -> tuple[bytes, str]:
    """Split one file; return its lines, or why it could not be read."""
    path, doc_id = file
    chosen = dict(settings)
    if chosen["format"] == "auto":
        chosen["format"] = TEXT_SUFFIXES.get(suffix_of(path), "prose")
    if chosen["format"] == "code" and chosen["language"] is None:
        chosen["language"] = LANGUAGES.get(suffix_of(path))
    lines = []
    try:
        text = read_text(path)
        if chosen["format"] == "html":
            # Offsets refer to the converted text, which no other file holds.
            text = convert_html(text)
            chosen["format"] = "markdown"
            lines.append(msgspec.json.encode(document_record(doc_id, text)) + b"\n")
        chunks = split(text, doc_id=doc_id, **chosen)
    except (ValueError, OSError, ImportError) as error:
        return b"", str(error) if str(path) in str(error) else f"{path}: {error}"
    lines += [encode_chunk(c) + b"\n" for c in describe_chunks(chunks, splitter=splitter)]
    return b"".join(lines), ""
