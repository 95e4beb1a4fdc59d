"""Say what happened to one label: retrieved whole, cut, or passed over, and for what."""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.evaluation.eval_set import GoldSpan
from ragtrace.evaluation.hits import Retrieved, Sources
from ragtrace.evaluation.lookup import canonical_id, locate_id
from ragtrace.evaluation.spans import Span, covers, touches

Verdict = Literal[
    "whole",
    "cut-all-parts",
    "cut-part-missing",
    "adjacent",
    "near-miss",
    "same-document",
    "far",
    "not-indexed",
    "stale-label",
]

NEAR_MISS_DEPTH = 4
"""A chunk ranked within so many times k counts as just outside."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what happened to one label.

    `found` tells that all of it is within the first k hits, in one or several; `rank` is the place
    of the first hit that holds it whole (or, where no chunk does, a part of it), also beyond k;
    `score_gap` is how far its score is from the k-th hit's. The three kinds of miss are counted
    apart: `sibling` (expected chunk missed, another of its document retrieved), `adjacent` (that
    one is a direct neighbour), `cut` (no chunk of the index and no hit holds it whole).
    """

    verdict: Verdict
    found: bool
    rank: int | None = None
    score_gap: float | None = None
    sibling: bool = False
    adjacent: bool = False
    cut: bool = False
    expected_ids: tuple[str, ...] = ()
    retrieved_ids: tuple[str, ...] = ()
    neighbour_ids: tuple[str, ...] = ()


class _Target(msgspec.Struct, frozen=True):
    """What to look for: the chunks that hold the label, or else those that hold its parts."""

    doc_id: str | None
    span: Span | None
    chunks: tuple[Chunk, ...]
    is_cut: bool
    ids: frozenset[str]
    indices: frozenset[int]
    quote: str


def judge_best(
    label: GoldSpan, hits: Sequence[Retrieved], k: int, sources: Sources
) -> tuple[GoldSpan, Finding]:
    """Judge a label and its alternatives; return the best outcome, the first of equal ones."""
    finding = judge(label, hits, k, sources)
    for other in label.alternatives:
        if finding.verdict == "whole":
            break
        second = judge(other, hits, k, sources)
        if _standing(second) < _standing(finding):
            label, finding = other, second
    return label, finding


def _standing(finding: Finding) -> tuple[int, float]:
    order = get_args(Verdict).index(finding.verdict)
    return order, float("inf") if finding.rank is None else finding.rank


def judge(label: GoldSpan, hits: Sequence[Retrieved], k: int, sources: Sources) -> Finding:
    """Judge one label against the hits of its question, best first."""
    target = _target(label, sources)
    top = hits[:k]
    holder = next((hit for hit in hits if _holds(hit, target)), None)
    parts = [hit for hit in top if _touches(hit, target)]
    expected = tuple(chunk.chunk_id for chunk in target.chunks) or tuple(sorted(target.ids))
    if holder is not None and holder.position <= k:
        return Finding(
            verdict="whole",
            found=True,
            rank=holder.position,
            expected_ids=expected,
            retrieved_ids=(holder.chunk_id,),
        )
    if holder is None and sources.lookup is not None and not target.chunks and not parts:
        return Finding(verdict=_absence(target, sources), found=False, expected_ids=expected)
    found = _covers(parts, target, sources)
    missing = _missing(top, target)
    siblings = [hit for hit in top if target.doc_id is not None and hit.doc_id == target.doc_id]
    neighbours = [hit for hit in top if _is_neighbour(hit, target, missing)]
    best = holder or next((hit for hit in hits if _touches(hit, target)), None)
    is_cut = target.is_cut or (sources.lookup is None and bool(parts))
    verdict: Verdict
    if found:
        verdict = "cut-all-parts"
    elif parts and is_cut:
        verdict = "cut-part-missing"
    elif neighbours or parts:
        verdict = "adjacent"
    elif best is not None and best.position <= NEAR_MISS_DEPTH * k:
        verdict = "near-miss"
    else:
        verdict = "same-document" if siblings else "far"
    return Finding(
        verdict=verdict,
        found=found,
        rank=best.position if best is not None else None,
        score_gap=_score_gap(top, best, k),
        sibling=bool(siblings) and not found,
        adjacent=bool(neighbours) and not found,
        cut=is_cut,
        expected_ids=expected,
        retrieved_ids=tuple(hit.chunk_id for hit in parts),
        neighbour_ids=tuple(hit.chunk_id for hit in neighbours),
    )


def matches(label: GoldSpan, hit: Retrieved) -> bool:
    """Tell whether a hit holds some of a label: what ranking metrics count as relevant."""
    return not hit.repeats and _touches(hit, _target(label, Sources()))


def _target(label: GoldSpan, sources: Sources) -> _Target:
    lookup = sources.lookup
    if label.has_span:
        assert label.doc_id is not None
        assert label.start is not None
        assert label.end is not None
        span = (label.start, label.end)
        holding = lookup.holding(label.doc_id, span) if lookup is not None else []
        touching = lookup.touching(label.doc_id, span) if lookup is not None else []
        chunks = tuple(holding or touching)
        return _Target(
            doc_id=label.doc_id,
            span=span,
            chunks=chunks,
            is_cut=bool(touching) and not holding,
            ids=frozenset(),
            indices=frozenset(chunk.index for chunk in chunks),
            quote=label.quote or "",
        )
    if label.chunk_id is None:
        quote = " ".join((label.quote or "").split())
        return _Target(label.doc_id, None, (), False, frozenset(), frozenset(), quote)
    name = canonical_id(label.chunk_id)
    place = locate_id(name)
    chunk = lookup.get(name) if lookup is not None else None
    return _Target(
        doc_id=chunk.doc_id if chunk else place[0] if place else label.doc_id,
        span=None,
        chunks=(chunk,) if chunk else (),
        is_cut=False,
        ids=frozenset({name}),
        indices=frozenset({place[1]} if place else ()),
        quote="",
    )


def _holds(hit: Retrieved, target: _Target) -> bool:
    if target.ids:
        return not target.ids.isdisjoint(hit.ids)
    if target.span is not None and target.doc_id is not None:
        return hit.holds(target.doc_id, target.span)
    # Neither span nor id: the quote alone, in what the trace kept of the hit's text.
    return bool(target.quote) and target.quote in " ".join(hit.text.split())


def _touches(hit: Retrieved, target: _Target) -> bool:
    if target.span is not None and target.doc_id is not None:
        return hit.touches(target.doc_id, target.span)
    return _holds(hit, target)


def _covers(parts: Sequence[Retrieved], target: _Target, sources: Sources) -> bool:
    if target.span is None or target.doc_id is None:
        return False
    spans = [hit.span for hit in parts if hit.span is not None]
    return covers(spans, target.span, sources.text(target.doc_id))


def _missing(top: Sequence[Retrieved], target: _Target) -> frozenset[int]:
    """Return the indices of the expected chunks that were not retrieved."""
    retrieved = {name for hit in top for name in hit.ids}
    if target.chunks:
        return frozenset(chunk.index for chunk in target.chunks if chunk.chunk_id not in retrieved)
    return target.indices


def _is_neighbour(hit: Retrieved, target: _Target, missing: frozenset[int]) -> bool:
    if target.doc_id is None or hit.doc_id != target.doc_id:
        return False
    if missing:
        indices = {place[1] for name in hit.ids if (place := locate_id(name))}
        indices |= set() if hit.index is None else {hit.index}
        return any(index + step in missing for index in indices for step in (-1, 1))
    if target.span is None or hit.span is None or touches(hit.span, target.span):
        return False
    # No manifest says which chunks are neighbours: nearer than its own length is taken for one.
    gap = max(hit.span[0] - target.span[1], target.span[0] - hit.span[1])
    return gap < hit.span[1] - hit.span[0]


def _score_gap(top: Sequence[Retrieved], best: Retrieved | None, k: int) -> float | None:
    if best is None or best.position <= k or best.score is None or not top:
        return None
    last = top[-1].score
    return None if last is None else abs(last - best.score)


def _absence(target: _Target, sources: Sources) -> Verdict:
    lookup = sources.lookup
    known = lookup is not None and target.doc_id is not None and target.doc_id in lookup
    # An id that the index does not know although it has the document was made for other chunks.
    return "stale-label" if target.ids and known else "not-indexed"
