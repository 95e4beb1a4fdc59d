"""Manifests as files: lines of JSON, or an SQLite file for corpora that should not be read whole.

The first line names the schema and the splitter's settings; then come a line for each document that
was described and a line for each chunk. A path that ends in `.gz` is compressed, one that ends in
`.sqlite` or `.db` is a database.
"""

import gzip
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ragtrace.chunking.chunk import Chunk
from ragtrace.index.manifest import SCHEMA, Manifest, ManifestHeader
from ragtrace.index.manifest_chunk import (
    DocumentRecord,
    Documents,
    ManifestChunk,
    describe_chunks,
    document_records,
)
from ragtrace.index.manifest_database import read_database, write_database
from ragtrace.index.manifest_rows import encode_chunk, read_chunk, read_header


def write_manifest(
    chunks: Iterable[Chunk],
    path: str | os.PathLike[str],
    *,
    splitter: str | None = None,
    settings: Mapping[str, Any] | None = None,
    documents: Documents | None = None,
    keep_texts: bool = False,
) -> None:
    """Write what an index holds; the file appears whole or not at all.

    `splitter` is a fingerprint. `documents` (texts, or `document_record`s with version, time,
    permissions and metadata) are checked against the chunks; their texts are written only with
    `keep_texts`.

    Raises `ValueError` for a chunk that is not its document's text and for an id that comes twice.
    """
    records = document_records(documents)
    manifest = Manifest(
        describe_chunks(chunks, splitter=splitter, documents=records),
        header=ManifestHeader(schema=SCHEMA, splitter=splitter, settings=dict(settings or {})),
        documents=records,
    )
    save_manifest(manifest, path, keep_texts=keep_texts)


def save_manifest(
    manifest: Manifest, path: str | os.PathLike[str], *, keep_texts: bool = True
) -> None:
    """Write a manifest to a file; raise `ValueError` for an id that comes twice."""
    kept = [
        document if keep_texts else msgspec.structs.replace(document, text=None)
        for document in manifest.documents.values()
    ]
    chunks = without_repeated_ids(manifest.chunks)
    path = Path(path)
    with replacing(path) as partial:
        if is_database(path):
            write_database(partial, manifest.header, kept, chunks)
        else:
            with writing(partial, compressed=path.suffix == ".gz") as file:
                for row in (manifest.header, *kept):
                    file.write(msgspec.json.encode(row) + b"\n")
                for chunk in chunks:
                    file.write(encode_chunk(chunk) + b"\n")


def without_repeated_ids(chunks: Iterable[ManifestChunk]) -> Iterator[ManifestChunk]:
    """Pass chunks on; raise `ValueError` at the first id that came before."""
    seen: set[str] = set()
    for chunk in chunks:
        if chunk.chunk_id in seen:
            raise ValueError(
                f"two chunks have the id {chunk.chunk_id!r}: give every document its own id"
            )
        seen.add(chunk.chunk_id)
        yield chunk


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Read a manifest whole; `DatabaseManifest` looks one up on disk.

    Raises `ValueError` that names the line and what is wrong with it; unknown keys are ignored, and
    the header may be missing.
    """
    path = Path(path)
    if is_database(path):
        return read_database(path)
    header = ManifestHeader(schema=SCHEMA)
    documents: dict[str, DocumentRecord] = {}
    chunks: list[ManifestChunk] = []
    for number, line in numbered_lines(path):
        try:
            first_key = line[1:].lstrip()
            if first_key.startswith(b'"schema"'):
                header = read_header(line)
            elif first_key.startswith(b'"document"'):
                document = msgspec.json.decode(line, type=DocumentRecord)
                documents[document.doc_id] = document
            else:
                chunks.append(read_chunk(line, header.splitter))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    try:
        return Manifest(without_repeated_ids(chunks), header=header, documents=documents)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                line = line.removeprefix(b"\xef\xbb\xbf").strip()
                if line:
                    yield number, line
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: not a whole gzip file ({error})") from None


def writing(path: Path, *, compressed: bool) -> BinaryIO | gzip.GzipFile:
    """Open a file; the same content under one name gives the same bytes."""
    return gzip.GzipFile(path, "wb", mtime=0) if compressed else path.open("wb")


def is_database(path: Path) -> bool:
    """Say whether a path names an SQLite file."""
    return path.suffix in (".sqlite", ".db")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `path` if nothing goes wrong."""
    partial = path.with_name(path.name + ".partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
