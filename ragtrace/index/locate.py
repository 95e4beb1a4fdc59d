"""Find the place in the source documents of chunks that somebody already has.

With their places an index that was built by others can be evaluated, merged after retrieval and
kept in step like one of ours.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ragtrace.chunking.metadata import content_hash
from ragtrace.index.library import How, Library, Place, Reason
from ragtrace.index.manifest_chunk import ManifestChunk
from ragtrace.tracing.hit import Hit

Found = tuple[Hit, list[Place]]


class Unlocated(msgspec.Struct, frozen=True, kw_only=True):
    """Hold a chunk that has no place in the documents given, and why.

    `extra-copy` is a text that the index holds more often than the documents do.
    """

    hit: Hit
    reason: Reason


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """Hold the chunks that were found, by document and place, and those that were not.

    `how` counts the found ones by how they had to be compared. A chunk that was found by its words
    alone has the document's text; its `content_hash` is of what the index holds.
    """

    chunks: tuple[ManifestChunk, ...]
    unlocated: tuple[Unlocated, ...]
    how: dict[How, int]

    @property
    def reasons(self) -> dict[Reason, int]:
        """Count the chunks that were not found by why."""
        return dict(Counter(each.reason for each in self.unlocated))

    def __str__(self) -> str:
        found = ", ".join(f"{count:,} by {how}" for how, count in self.how.items())
        missing = ", ".join(f"{count:,} {reason}" for reason, count in self.reasons.items())
        return f"{len(self.chunks):,} located ({found or 'none'}), {missing or 'none missing'}"


def locate_chunks(texts: Iterable[str | Hit], documents: Mapping[str, str]) -> Located:
    """Give every chunk its document and span, repeats included.

    Chunks are texts, or hits that know more: their id, and their document, which is looked into
    first; a path is recognised by its end. Of several places of one text, each is given away once,
    the one nearest to the chunk before first, so chunks are best given in their order.

    >>> located = locate_chunks(["Yes.", "No.", "Yes."], {"a": "Yes. No. Yes."})
    >>> [(chunk.chunk_id, chunk.start) for chunk in located.chunks]
    [('a#c0', 0), ('a#c1', 5), ('a#c2', 9)]
    """
    library = Library(documents)
    found: list[Found] = []
    unlocated: list[Unlocated] = []
    how: Counter[How] = Counter()
    for given in texts:
        hit = Hit(chunk_id="", text=given) if isinstance(given, str) else given
        places = library.places(hit)
        if places:
            found.append((hit, places))
        else:
            unlocated.append(Unlocated(hit=hit, reason=library.why_not(hit)))
    placed: list[tuple[Hit, Place]] = []
    for (hit, _), place in zip(found, choose(found), strict=True):
        if place is None:
            unlocated.append(Unlocated(hit=hit, reason="extra-copy"))
        else:
            placed.append((hit, place))
            how[place.how] += 1
    return Located(
        chunks=tuple(number(placed, documents)), unlocated=tuple(unlocated), how=dict(how)
    )


def choose(found: Sequence[Found]) -> list[Place | None]:
    """Give each chunk a place of its own, `None` where all its places are taken.

    What stands in one place only is certain; what stands in several goes where its neighbours are.
    """
    chosen: list[Place | None] = [None] * len(found)
    taken: set[tuple[str, int, int]] = set()

    def take(position: int, places: Iterable[Place]) -> None:
        for place in places:
            key = (place.doc_id, place.start, place.end)
            if key not in taken:
                taken.add(key)
                chosen[position] = place
                return

    order = in_their_order(found)
    for position in order:
        if len(found[position][1]) == 1:
            take(position, found[position][1])
    following = next_places(order, chosen)
    before: Place | None = None
    for position in order:
        places = found[position][1]
        if len(places) > 1:
            after = following[position]
            take(position, sorted(places, key=lambda place: misfit(place, before, after)))
        before = chosen[position] or before
    return chosen


def in_their_order(found: Sequence[Found]) -> list[int]:
    """Return positions by document and index where all chunks have both, else as given."""
    keys = [(hit.doc_id, hit.chunk_index) for hit, _ in found]
    order = list(range(len(found)))
    if all(doc_id is not None and index is not None for doc_id, index in keys):
        order.sort(key=lambda position: (keys[position][0] or "", keys[position][1] or 0))
    return order


def next_places(order: Sequence[int], chosen: Sequence[Place | None]) -> dict[int, Place | None]:
    """Return for every position the next certain place after it."""
    following: dict[int, Place | None] = {}
    after: Place | None = None
    for position in reversed(order):
        following[position] = after
        after = chosen[position] or after
    return following


def misfit(place: Place, before: Place | None, after: Place | None) -> tuple[bool, bool, int]:
    """Say how badly a place fits between two others: other document, wrong side, far away."""
    same = [other for other in (before, after) if other and other.doc_id == place.doc_id]
    too_early = before in same and before is not None and place.start <= before.start
    too_late = after in same and after is not None and place.start >= after.start
    if before in same and before is not None:
        return not same, too_early or too_late, abs(place.start - before.end)
    return not same, too_late, place.start


def number(
    placed: Iterable[tuple[Hit, Place]], documents: Mapping[str, str]
) -> Iterator[ManifestChunk]:
    """Count the chunks of each document in order, by their own numbers where those agree."""
    by_document: defaultdict[str, list[tuple[Hit, Place]]] = defaultdict(list)
    for hit, place in placed:
        by_document[place.doc_id].append((hit, place))
    used: set[str] = set()
    for doc_id, rows in by_document.items():
        rows.sort(key=lambda row: (row[1].start, row[1].end))
        indices: Sequence[int | None] = [hit.chunk_index for hit, _ in rows]
        if None in indices or list(indices) != sorted(set(indices), key=lambda i: i or 0):
            indices = range(len(rows))
        for index, (hit, place) in zip(indices, rows, strict=True):
            own_id = hit.chunk_id if hit.chunk_id and hit.chunk_id not in used else ""
            chunk = ManifestChunk(
                doc_id=doc_id,
                index=index or 0,
                start=place.start,
                end=place.end,
                text=documents[doc_id][place.start : place.end],
                heading_path=hit.heading_path,
                own_id=own_id or f"{doc_id}#c{index}",
                content_hash=content_hash(hit.text),
                splitter=hit.metadata.get("splitter"),
                doc_version=hit.doc_version,
            )
            used.add(chunk.chunk_id)
            yield chunk
