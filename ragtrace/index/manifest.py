"""The manifest: what an index holds, looked up in memory."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from ragtrace.chunking.chunk import Chunk
from ragtrace.index.manifest_chunk import DocumentRecord, ManifestChunk, describe_chunks
from ragtrace.tracing.hit import Hit

SCHEMA = "ragtrace-manifest/1"


class ManifestHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hold what is true of the whole index: the splitter's fingerprint and its settings."""

    schema: str = ""
    splitter: str | None = None
    settings: dict[str, Any] = msgspec.field(default_factory=dict)


class Manifest:
    """Look chunks up by id, document, index and span.

    >>> manifest = Manifest([Chunk("guide", 0, 0, 5, "Hello"), Chunk("guide", 1, 6, 9, "you")])
    >>> manifest.by_id["guide#c1"].text, [c.index for c in manifest.covering("guide", 2, 7)]
    ('you', [0, 1])
    """

    def __init__(
        self,
        chunks: Iterable[Chunk],
        *,
        header: ManifestHeader | None = None,
        documents: Mapping[str, DocumentRecord] | None = None,
    ) -> None:
        self.header = header or ManifestHeader(schema=SCHEMA)
        self.documents = dict(documents or {})
        self.chunks: tuple[ManifestChunk, ...] = tuple(
            chunk
            if isinstance(chunk, ManifestChunk)
            else next(describe_chunks([chunk], splitter=self.header.splitter))
            for chunk in chunks
        )

    @cached_property
    def by_id(self) -> Mapping[str, ManifestChunk]:
        """Return the chunks by the id that hits carry."""
        return {chunk.chunk_id: chunk for chunk in self.chunks}

    @cached_property
    def _by_document(self) -> dict[str, list[ManifestChunk]]:
        grouped: dict[str, list[ManifestChunk]] = {}
        for chunk in self.chunks:
            grouped.setdefault(chunk.doc_id, []).append(chunk)
        for group in grouped.values():
            group.sort(key=lambda chunk: (chunk.start, chunk.index))
        return grouped

    @cached_property
    def _by_index(self) -> dict[tuple[str, int], ManifestChunk]:
        return {(chunk.doc_id, chunk.index): chunk for chunk in self.chunks}

    def of_document(self, doc_id: str) -> list[ManifestChunk]:
        """Return the chunks of a document in order; none for a document that is not indexed."""
        return list(self._by_document.get(doc_id, ()))

    def covering(self, doc_id: str, start: int, end: int) -> list[ManifestChunk]:
        """Return the chunks of a document that share text with a span, in order."""
        group = self._by_document.get(doc_id, [])
        last = bisect_right(group, end, key=lambda chunk: chunk.start)
        return [chunk for chunk in group[:last] if chunk.start < end and start < chunk.end]

    def neighbours(self, chunk_id: str) -> tuple[ManifestChunk | None, ManifestChunk | None]:
        """Return the chunks before and after one; `None` at the ends of its document.

        Raises `KeyError` for an id that the manifest does not have.
        """
        chunk = self.by_id[chunk_id]
        by_index = self._by_index
        return (
            by_index.get((chunk.doc_id, chunk.index - 1)),
            by_index.get((chunk.doc_id, chunk.index + 1)),
        )

    def chunk_at(self, doc_id: str, index: int) -> Hit | None:
        """Look a chunk up as a hit; what `merge_adjacent` wants as `chunk_at`."""
        chunk = self._by_index.get((doc_id, index))
        return None if chunk is None else hit_of(chunk)

    def text_of(self, doc_id: str) -> str | None:
        """Return the text of a document where it was kept; serves as `documents` elsewhere."""
        document = self.documents.get(doc_id)
        return None if document is None else document.text


def hit_of(chunk: Chunk, *, score: float | None = None, rank: int = 0) -> Hit:
    """Make a hit of a chunk."""
    splitter = getattr(chunk, "splitter", None)
    return Hit(
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        text=chunk.text,
        score=score,
        rank=rank,
        chunk_index=chunk.index,
        start=chunk.start,
        end=chunk.end,
        heading_path=chunk.heading_path,
        doc_version=getattr(chunk, "doc_version", None),
        metadata={} if splitter is None else {"splitter": splitter},
    )
