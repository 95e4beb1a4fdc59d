"""Look chunks up by id, text, document and span."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from statistics import median

from ragtrace.chunking import Chunk, parse_chunk_id
from ragtrace.evaluation.spans import Span, holds, touches
from ragtrace.tracing.schema import SNIPPET_LENGTH


def canonical_id(chunk_id: str) -> str:
    """Write an id as it is compared: `doc#7` and `doc#c7` are the same chunk.

    >>> canonical_id("guide#7"), canonical_id("0b5c")
    ('guide#c7', '0b5c')
    """
    place = locate_id(chunk_id)
    return chunk_id if place is None else f"{place[0]}#c{place[1]}"


def locate_id(chunk_id: str) -> tuple[str, int] | None:
    """Read document id and index out of a chunk id, where it has them."""
    if "#" not in chunk_id:
        return None
    try:
        return parse_chunk_id(chunk_id)
    except ValueError:
        return None


class ChunkLookup:
    """Answer where chunks lie and what lies beside them.

    >>> lookup = ChunkLookup([Chunk("d", 0, 0, 5, "Hello"), Chunk("d", 1, 6, 11, "world")])
    >>> [chunk.chunk_id for chunk in lookup.touching("d", (3, 9))]
    ['d#c0', 'd#c1']
    """

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._by_id: dict[str, Chunk] = {}
        documents: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            if self._by_id.setdefault(chunk.chunk_id, chunk) is chunk:
                documents[chunk.doc_id].append(chunk)
        self._documents = dict(documents)
        self._sorted: dict[str, tuple[list[Chunk], list[int], int]] = {}
        self._texts: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._documents

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._by_id.values())

    @property
    def document_ids(self) -> Iterable[str]:
        """Name the documents that have chunks."""
        return self._documents.keys()

    def get(self, chunk_id: str) -> Chunk | None:
        """Return the chunk with this id, in either spelling."""
        return self._by_id.get(chunk_id) or self._by_id.get(canonical_id(chunk_id))

    def with_text(self, text: str, doc_id: str | None = None) -> Chunk | None:
        """Return the one chunk that begins with `text`, for stores whose ids say nothing.

        Returns `None` where there are several and the document does not decide.
        """
        found = self._by_beginning.get(_beginning(text), [])
        if len(found) > 1:
            found = [chunk for chunk in found if chunk.doc_id == doc_id]
        return found[0] if len(found) == 1 else None

    def knows_text(self, text: str) -> bool:
        """Tell whether any chunk begins with `text`, several perhaps."""
        return _beginning(text) in self._by_beginning

    @cached_property
    def _by_beginning(self) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in self._by_id.values():
            for text in {_beginning(chunk.text), _beginning(chunk.content)} - {""}:
                found[text].append(chunk)
        return dict(found)

    def of_document(self, doc_id: str) -> list[Chunk]:
        """Return the chunks of a document in order of their starts."""
        return self._in_order(doc_id)[0]

    def touching(self, doc_id: str, span: Span) -> list[Chunk]:
        """Return the chunks that hold some of a span."""
        return [
            chunk for chunk in self._near(doc_id, span) if touches((chunk.start, chunk.end), span)
        ]

    def holding(self, doc_id: str, span: Span) -> list[Chunk]:
        """Return the chunks that hold a span whole."""
        return [
            chunk for chunk in self._near(doc_id, span) if holds((chunk.start, chunk.end), span)
        ]

    def neighbours(self, chunk: Chunk) -> list[Chunk]:
        """Return the chunk before and the chunk after, where there are such."""
        around = (self.at(chunk.doc_id, chunk.index + step) for step in (-1, 1))
        return [neighbour for neighbour in around if neighbour is not None]

    def at(self, doc_id: str, index: int) -> Chunk | None:
        """Return the chunk with this index in its document, whatever its id."""
        return self._by_index.get((doc_id, index))

    @cached_property
    def _by_index(self) -> dict[tuple[str, int], Chunk]:
        return {(chunk.doc_id, chunk.index): chunk for chunk in self._by_id.values()}

    @cached_property
    def median_length(self) -> float:
        """Return the middle of the chunks' lengths, in code points of their text."""
        return median([len(chunk.text) for chunk in self._by_id.values()] or [0])

    def document(self, doc_id: str) -> str:
        """Piece a document together from its chunks; what no chunk holds becomes line ends."""
        if doc_id in self._texts:
            return self._texts[doc_id]
        pieces: list[str] = []
        position = 0
        for chunk in self.of_document(doc_id):
            if chunk.end <= position:
                continue
            if chunk.start > position:
                pieces.append("\n" * (chunk.start - position))
                position = chunk.start
            pieces.append(chunk.text[position - chunk.start :])
            position = chunk.end
        self._texts[doc_id] = "".join(pieces)
        return self._texts[doc_id]

    def _in_order(self, doc_id: str) -> tuple[list[Chunk], list[int], int]:
        if doc_id not in self._sorted:
            chunks = sorted(
                self._documents.get(doc_id, ()), key=lambda chunk: (chunk.start, chunk.index)
            )
            longest = max((chunk.end - chunk.start for chunk in chunks), default=0)
            self._sorted[doc_id] = chunks, [chunk.start for chunk in chunks], longest
        return self._sorted[doc_id]

    def _near(self, doc_id: str, span: Span) -> list[Chunk]:
        chunks, starts, longest = self._in_order(doc_id)
        return chunks[bisect_left(starts, span[0] - longest) : bisect_left(starts, span[1])]


def _beginning(text: str) -> str:
    # A snippet may have been cut inside a run of white space.
    return text[:SNIPPET_LENGTH].strip()
