"""Documents as hits, and hits as documents."""

from collections.abc import Iterable, Sequence

from langchain_core.documents import Document

from ragtrace.tracing import Hit, read_stored, stored_metadata


def to_hit(document: Document, rank: int, score: float | None = None) -> Hit:
    """Read a hit from a document; `rank` counts from 1."""
    return read_stored(
        document.page_content, document.metadata, rank=rank, score=score, own_id=document.id
    )


def to_hits(documents: Iterable[Document], scores: Sequence[float | None]) -> list[Hit]:
    """Read hits, best first, each with its score."""
    pairs = zip(documents, scores, strict=True)
    return [to_hit(document, rank, score) for rank, (document, score) in enumerate(pairs, 1)]


def to_document(hit: Hit) -> Document:
    """Make a document of a hit that was made after retrieval."""
    return Document(page_content=hit.text, metadata=stored_metadata(hit), id=hit.chunk_id)
