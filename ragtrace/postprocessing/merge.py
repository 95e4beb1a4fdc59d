"""Join hits that are neighbours in their document."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import combinations

import msgspec

from ragtrace.chunking.lengths import Length, length_function
from ragtrace.postprocessing.bridges import Bridge, Rules, bridge, join, steps_between
from ragtrace.postprocessing.merged_hit import MergedHit
from ragtrace.postprocessing.pieces import (
    NEXT_ID,
    OWN_KEYS,
    PREVIOUS_ID,
    Member,
    Piece,
    known_score,
    read_hit,
)
from ragtrace.postprocessing.sources import ChunkAt, Documents, text_of
from ragtrace.tracing.hit import Hit

Fits = Callable[[str], bool]

Ranked = tuple[int, int, Hit]
"""Priority, which tells all hits apart; rank, as given; the hit."""


def merge_adjacent(
    hits: Sequence[Hit],
    *,
    fill_gap: int = 0,
    max_length: int | None = None,
    length: Length | None = None,
    within_section: bool = False,
    higher_is_better: bool = True,
    documents: Documents | None = None,
    chunk_at: ChunkAt | None = None,
) -> list[MergedHit]:
    """Join hits that follow each other in their document, best rank first.

    Neighbours are found by offsets, else by chunk index under one splitter, else by the
    `previous_id` and `next_id` of their metadata. Overlap is cut by offsets once the texts agree
    on it. `documents` (texts by id) restores what stood between two chunks and checks offsets;
    `fill_gap` is how many missing chunks between two hits are taken from it, or from `chunk_at`;
    without either nothing is filled. `max_length`, in units of `length` (default: cl100k_base
    tokens), bounds every merged text; the best hits grow first. Ranks are those of the best
    member, counted by score (`higher_is_better=False` for distances) or by position where hits
    have none. The same chunk given twice becomes one. Merging what is merged changes nothing.

    Raises `ValueError` for a negative `fill_gap` or a `max_length` below 1.

    >>> first = Hit(chunk_id="a#c0", doc_id="a", text="One. ", start=0, end=5, score=0.4)
    >>> second = Hit(chunk_id="a#c1", doc_id="a", text="Two.", start=5, end=9, score=0.7)
    >>> [merged] = merge_adjacent([second, first])
    >>> merged.text, merged.merged_ids, merged.score
    ('One. Two.', ('a#c0', 'a#c1'), 0.7)
    """
    if fill_gap < 0:
        raise ValueError(f"fill_gap must be 0 or more, not {fill_gap}")
    if max_length is not None and max_length < 1:
        raise ValueError(f"max_length must be at least 1, not {max_length}")
    best = max if higher_is_better else min
    fits = length_test(max_length, length)
    merged: list[tuple[int, MergedHit]] = []
    for (doc_id, _), group in group_by_document(ranked(hits, higher_is_better)).items():
        source = text_of(documents, doc_id)
        pieces = [
            read_hit(hit, source, rank=rank, priority=priority) for priority, rank, hit in group
        ]
        rules = Rules(
            source=source,
            fill_gap=fill_gap,
            within_section=within_section,
            longest=max(piece.chunk_length for piece in pieces),
        )
        wholes = grow(without_repeats(pieces, best), rules, fits, chunk_at)
        clashes = Counter(
            piece.priority
            for pair in combinations(wholes, 2)
            if contradict(*pair, rules)
            for piece in pair
        )
        for whole in wholes:
            merged.append((whole.priority, finish(whole, best, clashes[whole.priority])))
    return [hit for _, hit in sorted(merged, key=lambda pair: pair[0])]


def length_test(max_length: int | None, length: Length | None) -> Fits:
    """Return what says whether a text is short enough."""
    if max_length is None:
        return lambda text: True
    count = length_function("cl100k_base" if length is None else length)
    return lambda text: count(text) <= max_length


def ranked(hits: Sequence[Hit], higher_is_better: bool) -> list[Ranked]:
    """Return (priority, rank, hit), best first, in an order that the order given does not change.

    Only where a hit has neither rank nor score does its position have to tell.
    """
    scores = [known_score(hit.score) for hit in hits]
    if all(hit.rank > 0 for hit in hits):
        keys: list[float] = [hit.rank for hit in hits]
    elif None not in scores:
        keys = [-score if higher_is_better else score for score in scores if score is not None]
    else:
        keys = [float(position) for position in range(len(hits))]
    order = sorted(
        range(len(hits)), key=lambda position: (keys[position], *identity(hits[position]))
    )
    return [
        (priority, hits[position].rank or priority + 1, hits[position])
        for priority, position in enumerate(order)
    ]


def identity(hit: Hit) -> tuple[str, ...]:
    """Return what tells hits of one rank apart."""
    return (str(hit.doc_id), hit.chunk_id, str(hit.chunk_index), str(hit.start), hit.text)


def group_by_document(hits: Iterable[Ranked]) -> dict[tuple[str | None, str | None], list[Ranked]]:
    """Group hits by document and version; an old version is another document."""
    groups: defaultdict[tuple[str | None, str | None], list[Ranked]] = defaultdict(list)
    for ranked_hit in hits:
        groups[ranked_hit[2].doc_id, ranked_hit[2].doc_version].append(ranked_hit)
    return groups


def without_repeats(pieces: Iterable[Piece], best: Callable[..., float]) -> list[Piece]:
    """Make one piece of a chunk that was returned more than once."""
    unique: dict[tuple[object, ...], Piece] = {}
    for piece in pieces:
        key = (piece.text, piece.start, tuple(member.chunk_id for member in piece.members))
        earlier = unique.setdefault(key, piece)
        if earlier is not piece:
            members = one_each((*earlier.members, *piece.members), best)
            unique[key] = msgspec.structs.replace(earlier, members=members)
    return list(unique.values())


def grow(pieces: list[Piece], rules: Rules, fits: Fits, chunk_at: ChunkAt | None) -> list[Piece]:
    """Join what can be joined; the best piece takes its neighbours first."""
    wholes = sorted(pieces, key=lambda piece: piece.priority)
    position, since_join = 0, 0
    while since_join < len(wholes):
        for other, piece in enumerate(wholes):
            if other == position:
                continue
            joined = connect(wholes[position], piece, rules, chunk_at)
            if joined is not None and fits(joined.text):
                wholes[min(position, other)] = joined
                del wholes[max(position, other)]
                position, since_join = min(position, other), 0
                break
        else:
            # After a join every piece is asked again: a longer one may touch more.
            position, since_join = (position + 1) % len(wholes), since_join + 1
    return wholes


def connect(one: Piece, other: Piece, rules: Rules, chunk_at: ChunkAt | None) -> Piece | None:
    """Join two pieces in the order of their document, `None` where they are no neighbours."""
    for before, after in ((one, other), (other, one)):
        by = bridge(before, after, rules)
        if isinstance(by, Bridge):
            return join(before, after, by)
        if by is None and chunk_at is not None and rules.source is None:
            joined = over_missing(before, after, rules, chunk_at)
            if joined is not None:
                return joined
    return None


def over_missing(before: Piece, after: Piece, rules: Rules, chunk_at: ChunkAt) -> Piece | None:
    """Join two pieces over the chunks between them, `None` where one of those is not to be had."""
    steps = steps_between(before, after)
    if steps is None or before.doc_id is None or not 1 < steps <= rules.fill_gap + 1:
        return None
    assert before.last_index is not None
    for index in range(before.last_index + 1, before.last_index + steps):
        hit = chunk_at(before.doc_id, index)
        if hit is None:
            return None
        missing = read_hit(hit, None, rank=after.rank, priority=after.priority)
        missing = msgspec.structs.replace(
            missing, members=(Member(hit.chunk_id, None, index, missing.members[0].span, True),)
        )
        by = bridge(before, missing, rules)
        if not isinstance(by, Bridge):
            return None
        before = join(before, missing, by)
    by = bridge(before, after, rules)
    return join(before, after, by) if isinstance(by, Bridge) else None


def contradict(one: Piece, other: Piece, rules: Rules) -> bool:
    """Say whether one sign calls two pieces neighbours and another rules it out."""
    return "contradiction" in (bridge(one, other, rules), bridge(other, one, rules))


def one_each(members: Iterable[Member], best: Callable[..., float]) -> tuple[Member, ...]:
    """Keep one member for each chunk."""
    unique: dict[tuple[str, int | None], Member] = {}
    for member in members:
        key = (member.chunk_id, member.index)
        earlier = unique.setdefault(key, member)
        if earlier is member:
            continue
        scores = [m.score for m in (earlier, member) if m.score is not None]
        unique[key] = msgspec.structs.replace(
            member if earlier.filled else earlier,
            score=best(scores) if scores else None,
            filled=earlier.filled and member.filled,
        )
    return tuple(unique.values())


def finish(piece: Piece, best: Callable[..., float], contradictions: int) -> MergedHit:
    """Write a piece as a hit."""
    members = one_each(piece.members, best)
    scores = [member.score for member in members if member.score is not None]
    alone = len(members) == 1
    metadata = dict(piece.metadata)
    if not alone:
        metadata = {key: value for key, value in metadata.items() if key not in OWN_KEYS}
        links = {PREVIOUS_ID: piece.previous_id, NEXT_ID: piece.next_id}
        metadata |= {key: value for key, value in links.items() if value is not None}
    return MergedHit(
        chunk_id=members[0].chunk_id if alone else merged_id(piece.doc_id, members),
        doc_id=piece.doc_id,
        text=piece.text,
        score=best(scores) if scores else None,
        rank=piece.rank,
        chunk_index=piece.first_index,
        start=piece.start,
        end=piece.end,
        heading_path=piece.heading_path,
        doc_version=piece.doc_version,
        metadata=metadata,
        merged_ids=tuple(member.chunk_id for member in members),
        merged_scores=tuple(member.score for member in members),
        merged_indices=tuple(member.index for member in members),
        merged_spans=tuple(member.span for member in members),
        filled_ids=tuple(member.chunk_id for member in members if member.filled),
        verbatim=piece.verbatim,
        contradictions=contradictions,
        chunk_length=piece.chunk_length,
    )


def merged_id(doc_id: str | None, members: tuple[Member, ...]) -> str:
    """Name a merged hit after its members: the same in every process, and no chunk's own id."""
    names = "\0".join((doc_id or "", *(member.chunk_id for member in members)))
    return str(
        uuid.UUID(bytes=blake2b(names.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    )
