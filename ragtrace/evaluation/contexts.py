"""What a repair makes of the hits of one question, with the index as it is."""

from collections.abc import Callable, Sequence

from ragtrace.chunking import Chunk
from ragtrace.evaluation.hits import Retrieved, Sources, as_hits
from ragtrace.evaluation.lookup import ChunkLookup, canonical_id
from ragtrace.postprocessing import drop_near_duplicates, merge_adjacent
from ragtrace.tracing.hit import Hit

Context = list[Retrieved]


def merged(hits: Sequence[Retrieved], sources: Sources, *, fill_gap: int = 0) -> Context:
    """Merge neighbouring hits, as the postprocessor would."""
    lengths = {hit.chunk_id: hit.length for hit in hits}
    joined = merge_adjacent(
        as_hits(hits),
        fill_gap=fill_gap,
        documents=sources.text,
        chunk_at=_chunk_at(sources.lookup),
    )
    context = []
    for position, hit in enumerate(joined, 1):
        members = hit.merged_ids or (hit.chunk_id,)
        ids = {canonical_id(name) for name in (hit.chunk_id, *members)}
        for one in hits:
            if one.chunk_id in members:
                ids |= one.ids
        span = None
        if hit.start is not None and hit.end is not None:
            span = hit.start, hit.end
        length = span[1] - span[0] if span else sum(lengths.get(name, 0) for name in members)
        context.append(
            Retrieved(
                position=position,
                chunk_id=hit.chunk_id,
                ids=frozenset(ids),
                doc_id=hit.doc_id,
                index=hit.chunk_index,
                span=span,
                text=hit.text,
                length=length,
                score=hit.score,
            )
        )
    return context


def without_repeats(hits: Sequence[Retrieved], k: int) -> Context:
    """Drop hits that repeat better ones; further ranks fill the places."""
    kept = {hit.rank for hit in drop_near_duplicates(as_hits(hits), k=k)}
    return [hit for hit in hits if hit.position in kept]


def expanded(hits: Sequence[Retrieved], sources: Sources) -> Context:
    """Add the chunk before and after each hit, then merge."""
    lookup = sources.lookup
    if lookup is None:
        return list(hits)
    context = list(hits)
    present = {name for hit in hits for name in hit.ids}
    for hit in hits:
        chunk = next((found for name in sorted(hit.ids) if (found := lookup.get(name))), None)
        for neighbour in lookup.neighbours(chunk) if chunk is not None else ():
            if neighbour.chunk_id not in present:
                present.add(neighbour.chunk_id)
                context.append(as_retrieved(neighbour, len(context) + 1))
    return merged(context, sources)


def as_retrieved(chunk: Chunk, position: int) -> Retrieved:
    """Turn a chunk into a hit at a rank."""
    return Retrieved(
        position=position,
        chunk_id=chunk.chunk_id,
        ids=frozenset({chunk.chunk_id}),
        doc_id=chunk.doc_id,
        index=chunk.index,
        span=(chunk.start, chunk.end),
        text=chunk.text,
        length=chunk.end - chunk.start,
        score=None,
    )


def _chunk_at(lookup: ChunkLookup | None) -> Callable[[str, int], Hit | None] | None:
    if lookup is None:
        return None

    def chunk_at(doc_id: str, index: int) -> Hit | None:
        chunk = lookup.at(doc_id, index)
        return None if chunk is None else as_hits([as_retrieved(chunk, 0)])[0]

    return chunk_at
