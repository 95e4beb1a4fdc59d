"""A manifest as an SQLite file, looked up without being read whole."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ragtrace.index.manifest import Manifest, ManifestHeader, hit_of
from ragtrace.index.manifest_chunk import DocumentRecord, ManifestChunk
from ragtrace.index.manifest_rows import encode_chunk, read_chunk, read_header
from ragtrace.tracing.hit import Hit

_TABLES = """
create table header (row blob not null);
create table documents (doc_id text primary key, row blob not null) without rowid;
create table chunks (
    position integer primary key, chunk_id text not null, doc_id text not null,
    chunk_index integer not null, start integer not null, end integer not null, row blob not null
);
"""
_INDICES = """
create unique index chunks_by_id on chunks (chunk_id);
create index chunks_by_start on chunks (doc_id, start);
create index chunks_by_index on chunks (doc_id, chunk_index);
"""


def write_database(
    path: Path,
    header: ManifestHeader,
    documents: Iterable[DocumentRecord],
    chunks: Iterable[ManifestChunk],
) -> None:
    """Write a manifest to a new SQLite file."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.executescript(_TABLES)
            connection.execute("insert into header values (?)", (msgspec.json.encode(header),))
            connection.executemany(
                "insert into documents values (?, ?)",
                ((document.doc_id, msgspec.json.encode(document)) for document in documents),
            )
            connection.executemany(
                "insert into chunks values (null, ?, ?, ?, ?, ?, ?)",
                ((c.chunk_id, c.doc_id, c.index, c.start, c.end, encode_chunk(c)) for c in chunks),
            )
            connection.executescript(_INDICES)
    finally:
        connection.close()


def read_database(path: Path) -> Manifest:
    """Read the whole manifest out of an SQLite file."""
    with DatabaseManifest(path) as database:
        return Manifest(
            database.chunks, header=database.header, documents=dict(database.all_documents())
        )


class DatabaseManifest:
    """Look chunks up in a manifest on disk; the same look-ups as `Manifest`.

    Raises `ValueError` for a file that is not such a manifest. Use it in one thread, and as a
    context manager or with `close`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not Path(path).exists():
            raise FileNotFoundError(f"{os.fspath(path)}: no such manifest")
        self._connection = sqlite3.connect(f"file:{Path(path).as_posix()}?mode=ro", uri=True)
        try:
            [(row,)] = self._connection.execute("select row from header")
            self.header = read_header(row)
        except (sqlite3.DatabaseError, ValueError) as error:
            self._connection.close()
            raise ValueError(f"{os.fspath(path)}: not a manifest ({error})") from None

    def __enter__(self) -> "DatabaseManifest":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @property
    def chunks(self) -> Iterator[ManifestChunk]:
        """Read all chunks, one after the other."""
        return self._select("order by position")

    @property
    def by_id(self) -> Mapping[str, ManifestChunk]:
        """Return the chunks by the id that hits carry."""
        return _ById(self)

    def of_document(self, doc_id: str) -> list[ManifestChunk]:
        """Return the chunks of a document in order; none for a document that is not indexed."""
        return list(self._select("where doc_id = ? order by start, chunk_index", doc_id))

    def covering(self, doc_id: str, start: int, end: int) -> list[ManifestChunk]:
        """Return the chunks of a document that share text with a span, in order."""
        where = "where doc_id = ? and start < ? and end > ? order by start, chunk_index"
        return list(self._select(where, doc_id, end, start))

    def neighbours(self, chunk_id: str) -> tuple[ManifestChunk | None, ManifestChunk | None]:
        """Return the chunks before and after one; `None` at the ends of its document.

        Raises `KeyError` for an id that the manifest does not have.
        """
        chunk = self.by_id[chunk_id]
        return self._at(chunk.doc_id, chunk.index - 1), self._at(chunk.doc_id, chunk.index + 1)

    def chunk_at(self, doc_id: str, index: int) -> Hit | None:
        """Look a chunk up as a hit; what `merge_adjacent` wants as `chunk_at`."""
        chunk = self._at(doc_id, index)
        return None if chunk is None else hit_of(chunk)

    def text_of(self, doc_id: str) -> str | None:
        """Return the text of a document where it was kept; serves as `documents` elsewhere."""
        rows = self._connection.execute("select row from documents where doc_id = ?", (doc_id,))
        for (row,) in rows:
            return msgspec.json.decode(row, type=DocumentRecord).text
        return None

    def all_documents(self) -> Iterator[tuple[str, DocumentRecord]]:
        """Read what is known of every document."""
        for (row,) in self._connection.execute("select row from documents order by doc_id"):
            document = msgspec.json.decode(row, type=DocumentRecord)
            yield document.doc_id, document

    def _at(self, doc_id: str, index: int) -> ManifestChunk | None:
        return next(self._select("where doc_id = ? and chunk_index = ?", doc_id, index), None)

    def _select(self, where: str, *values: Any) -> Iterator[ManifestChunk]:
        for (row,) in self._connection.execute(f"select row from chunks {where}", values):
            yield read_chunk(row, self.header.splitter)


class _ById(Mapping[str, ManifestChunk]):
    def __init__(self, manifest: DatabaseManifest) -> None:
        self._manifest = manifest

    def __getitem__(self, chunk_id: str) -> ManifestChunk:
        for chunk in self._manifest._select("where chunk_id = ?", chunk_id):
            return chunk
        raise KeyError(chunk_id)

    def __iter__(self) -> Iterator[str]:
        for (chunk_id,) in self._manifest._connection.execute(
            "select chunk_id from chunks order by position"
        ):
            yield chunk_id

    def __len__(self) -> int:
        [(count,)] = self._manifest._connection.execute("select count(*) from chunks")
        return int(count)
