"""Split many files on all cores, in the order they were named."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ragtrace.chunking import Chunk, split
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
    try:
        cut = cut_file(path, doc_id, settings)
    except (ValueError, OSError, ImportError) as error:
        return b"", str(error) if str(path) in str(error) else f"{path}: {error}"
    lines = [encode_chunk(c) + b"\n" for c in describe_chunks(cut.chunks, splitter=splitter)]
    if cut.is_converted:
        # Offsets refer to the converted text, which no other file holds.
        lines.insert(0, msgspec.json.encode(document_record(doc_id, cut.text)) + b"\n")
    return b"".join(lines), ""


class CutFile(NamedTuple):
    """The chunks of one file, and the text that their offsets refer to."""

    chunks: list[Chunk]
    text: str
    is_converted: bool


def cut_file(path: Path, doc_id: str, settings: Mapping[str, Any]) -> CutFile:
    """Read one file and split it by the format its name tells; HTML is converted first."""
    chosen = dict(settings)
    if chosen["format"] == "auto":
        chosen["format"] = TEXT_SUFFIXES.get(suffix_of(path), "prose")
    if chosen["format"] == "code" and chosen.get("language") is None:
        chosen["language"] = LANGUAGES.get(suffix_of(path))
    text = read_text(path)
    is_converted = chosen["format"] == "html"
    if is_converted:
        text = convert_html(text)
        chosen["format"] = "markdown"
    return CutFile(split(text, doc_id=doc_id, **chosen), text, is_converted)
