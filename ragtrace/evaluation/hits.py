"""Hits as evaluation sees them: with the span and the text that the trace left out."""

from collections.abc import Iterable, Mapping

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.evaluation.lookup import ChunkLookup, canonical_id, locate_id
from ragtrace.evaluation.spans import Span, holds, touches
from ragtrace.tracing.hit import Hit
from ragtrace.tracing.schema import SNIPPET_LENGTH, Trace, TraceHit


class Retrieved(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one hit; `position` counts from 1 in the order of the trace.

    `ids` are the chunk's own id and those it was merged from, in one spelling. `span` is `None`
    where nothing says where the text lies, `text` is as much of it as is known, `length` is in code
    points, `repeats` tells that a better hit was the same chunk, and `outdated` says why the text
    is not what the index should hold today.
    """

    position: int
    chunk_id: str
    ids: frozenset[str]
    doc_id: str | None
    index: int | None
    span: Span | None
    text: str
    length: int
    score: float | None
    doc_version: str | None = None
    repeats: bool = False
    outdated: str | None = None

    def holds(self, doc_id: str, gold: Span) -> bool:
        """Tell whether this hit alone holds the gold span."""
        return self.doc_id == doc_id and self.span is not None and holds(self.span, gold)

    def touches(self, doc_id: str, gold: Span) -> bool:
        """Tell whether this hit holds some of the gold span."""
        return self.doc_id == doc_id and self.span is not None and touches(self.span, gold)


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what is known beside the traces: the chunks of the index and the documents of today.

    `stale` are chunks of the index whose text today's documents no longer hold. `trusts_snippets`
    is false where most snippets differ from the manifest, as redacted ones do.
    """

    lookup: ChunkLookup | None = None
    documents: Mapping[str, str] | None = None
    stale: Mapping[str, Chunk] = msgspec.field(default_factory=dict)
    trusts_snippets: bool = True

    def text(self, doc_id: str) -> str | None:
        """Return a document, pieced together from its chunks where it was not given."""
        if self.documents is not None and doc_id in self.documents:
            return self.documents[doc_id]
        if self.lookup is not None and doc_id in self.lookup:
            return self.lookup.document(doc_id)
        return None


def resolve(trace: Trace, sources: Sources) -> list[Retrieved]:
    """Order the hits of a trace by rank and find out where each lies.

    The manifest is trusted before the trace (frameworks write wrong offsets); without either, a
    snippet that a document holds once says where the hit begins.
    """
    resolved: list[Retrieved] = []
    seen: set[frozenset[str]] = set()
    for position, hit in enumerate(sorted(trace.hits, key=lambda hit: hit.rank), 1):
        one = _resolve(hit, position, sources)
        if one.ids in seen:
            one = msgspec.structs.replace(one, repeats=True)
        seen.add(one.ids)
        resolved.append(one)
    return resolved


def differs(hit: TraceHit, lookup: ChunkLookup) -> bool:
    """Tell whether the manifest knows the hit's chunk by another text."""
    chunk = lookup.get(hit.chunk_id)
    if chunk is None or hit.merged_ids:
        return False
    seen = " ".join((hit.text or hit.snippet).split())
    return bool(seen) and not any(
        " ".join(text[: SNIPPET_LENGTH * 2].split()).startswith(seen[:SNIPPET_LENGTH])
        for text in (chunk.text, chunk.content)
    )


def _resolve(hit: TraceHit, position: int, sources: Sources) -> Retrieved:
    place = locate_id(hit.chunk_id)
    doc_id = hit.doc_id if hit.doc_id is not None else place[0] if place else None
    index = hit.chunk_index if hit.chunk_index is not None else place[1] if place else None
    ids = {canonical_id(name) for name in (hit.chunk_id, *(hit.merged_ids or ()))}
    text = hit.text or hit.snippet
    span = _own_span(hit)
    chunk = None if hit.merged_ids else _chunk_of(hit, doc_id, sources)
    outdated = _why_outdated(hit, chunk, doc_id, sources)
    if outdated is not None:
        stale = sources.stale.get(hit.chunk_id)
        span, text = None, stale.text if stale is not None else text
    elif chunk is not None:
        doc_id, index, span, text = chunk.doc_id, chunk.index, (chunk.start, chunk.end), chunk.text
        ids.add(chunk.chunk_id)
    elif doc_id is not None and (document := sources.text(doc_id)) is not None:
        span = span or _search(hit, document)
        text = (document[span[0] : span[1]] if span else "") or text
    if span is not None and (chunk is not None or hit.length is None):
        length = span[1] - span[0]
    else:
        length = len(text) if hit.length is None else hit.length
    return Retrieved(
        position=position,
        chunk_id=hit.chunk_id,
        ids=frozenset(ids),
        doc_id=doc_id,
        index=index,
        span=span,
        text=text,
        length=length,
        score=hit.score,
        # Only a manifest's chunks know their version.
        doc_version=hit.doc_version or getattr(chunk, "doc_version", None),
        outdated=outdated,
    )


def _chunk_of(hit: TraceHit, doc_id: str | None, sources: Sources) -> Chunk | None:
    lookup = sources.lookup
    if lookup is None:
        return None
    chunk = lookup.get(hit.chunk_id)
    if chunk is not None and not (sources.trusts_snippets and differs(hit, lookup)):
        return chunk
    return lookup.with_text(hit.text or hit.snippet, doc_id)


def _why_outdated(
    hit: TraceHit, chunk: Chunk | None, doc_id: str | None, sources: Sources
) -> str | None:
    if chunk is not None or hit.merged_ids:
        return None
    if hit.chunk_id in sources.stale:
        return f"today's {sources.stale[hit.chunk_id].doc_id!r} does not hold its text"
    if sources.lookup is None or not sources.trusts_snippets:
        return None
    if sources.lookup.get(hit.chunk_id) is not None:
        return "the index holds another text under its id than the manifest"
    text = hit.text or hit.snippet
    if sources.lookup.knows_text(text) or (not text and locate_id(hit.chunk_id) is None):
        return None  # one of several equal texts, or nothing to tell it by
    if doc_id is not None and doc_id in sources.lookup:
        return f"the manifest of {doc_id!r} has no such chunk"
    return None


def _own_span(hit: TraceHit) -> Span | None:
    if hit.start is None or hit.start < 0:
        return None
    if hit.end is not None and hit.end > hit.start:
        return hit.start, hit.end
    return (hit.start, hit.start + hit.length) if hit.length else None


def _search(hit: TraceHit, document: str) -> Span | None:
    text = hit.text or hit.snippet
    if hit.text is None and hit.length is None and len(text) >= SNIPPET_LENGTH:
        return None  # how far the hit goes on is not known
    start = document.find(text) if text.strip() else -1
    if start < 0 or document.find(text, start + 1) >= 0:
        return None
    return start, start + (len(text) if hit.text is not None else hit.length or len(text))


def as_hits(hits: Iterable[Retrieved]) -> list[Hit]:
    """Turn hits back into what postprocessing works on."""
    return [
        Hit(
            chunk_id=hit.chunk_id,
            doc_id=hit.doc_id,
            text=hit.text,
            score=hit.score,
            rank=hit.position,
            chunk_index=hit.index,
            start=hit.span[0] if hit.span else None,
            end=hit.span[1] if hit.span else None,
            doc_version=hit.doc_version,
        )
        for hit in hits
    ]
