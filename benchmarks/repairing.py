"""Apply repairs for real: change the index or what is done with its hits, and ask again."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, Question, SpanResult, what_if
from ragtrace.evaluation.spans import holds
from ragtrace.postprocessing import drop_near_duplicates, merge_adjacent
from ragtrace.tracing import Hit
from tests.evaluation.planting import DEPTH, Build, Entry, Ground, K, Planting, make_traces

Splitter = Callable[[str, str], Iterable[Chunk]]


class Index(NamedTuple):
    """An index that is asked for real."""

    entries: Sequence[Entry]
    search: Callable[[str, int], list[tuple[int, float]]]

    @classmethod
    def of(cls, ground: Ground, entries: Sequence[Entry], build: Build | None = None) -> "Index":
        """Index these rows, with the retriever of the ground or another."""
        return cls(entries, (build or ground.build)([entry.embedded for entry in entries]))

    def ask(self, query: str, k: int) -> list[Hit]:
        """Return the best hits."""
        return [
            as_hit(self.entries[at].chunk, rank, score)
            for rank, (at, score) in enumerate(self.search(query, k), 1)
        ]


def as_hit(chunk: Chunk, rank: int, score: float | None = None) -> Hit:
    return Hit(
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        text=chunk.text,
        rank=rank,
        score=score,
        chunk_index=chunk.index,
        start=chunk.start,
        end=chunk.end,
    )


def wins(hits: Iterable[Hit], question: Question) -> bool:
    """Tell whether one hit of these holds the label whole."""
    (label,) = question.gold
    return any(
        hit.doc_id == label.doc_id
        and hit.start is not None
        and holds((hit.start, hit.end), (label.start, label.end))
        for hit in hits
    )


class Repaired(NamedTuple):
    """What a repair did: whether the question is answered, and how much more text it takes."""

    won: bool
    growth: float


def apply_repair(
    index: Index,
    question: Question,
    span: SpanResult,
    ground: Ground,
    other: Build | None = None,
) -> Repaired:
    """Do what the fault recommends and see whether the question is answered then."""
    before = sum(len(hit.text) for hit in index.ask(question.query, K))
    hits = repaired(index, question.query, span, ground, other)
    return Repaired(wins(hits, question), sum(len(hit.text) for hit in hits) / max(1, before))


def repaired(
    index: Index, query: str, span: SpanResult, ground: Ground, other: Build | None
) -> Sequence[Hit]:
    """Return the hits after the repair.

    Of a passage that the index cuts, better ranking brings only parts: the neighbours of the hits
    are added then, as the fault says.
    """
    repair = span.fault.repair
    if repair == "merge-adjacent":
        return merge_adjacent(index.ask(query, K), documents=ground.documents)
    if repair == "expand-neighbours":
        return with_neighbours(index, index.ask(query, K), ground)
    if repair == "larger-k":
        hits = index.ask(query, int(span.fault.figures["rank"]))
        return with_neighbours(index, hits, ground) if span.finding.cut else hits
    if repair == "drop-near-duplicates":
        return drop_near_duplicates(index.ask(query, DEPTH), k=K)
    if repair == "remove-stale-chunks":
        old = set(span.fault.chunk_ids)
        kept = [entry for entry in index.entries if entry.chunk.chunk_id not in old]
        return Index.of(ground, kept).ask(query, K)
    if repair == "other-embedder-or-wording":
        if other is None:
            return []
        second = Index.of(ground, index.entries, other)
        hits = second.ask(query, K)
        return with_neighbours(second, hits, ground) if span.finding.cut else hits
    return resplit(ground, repair).ask(query, K)


def with_neighbours(index: Index, hits: Sequence[Hit], ground: Ground) -> list[Hit]:
    places = {(entry.chunk.doc_id, entry.chunk.index): entry.chunk for entry in index.entries}
    added = {hit.chunk_id: hit for hit in hits}
    for hit in hits:
        for step in (-1, 1):
            chunk = places.get((hit.doc_id, (hit.chunk_index or 0) + step))
            if chunk is not None:
                added.setdefault(chunk.chunk_id, as_hit(chunk, len(added) + 1))
    return list(merge_adjacent(list(added.values()), documents=ground.documents))


@lru_cache(maxsize=8)
def resplit(ground: Ground, repair: str) -> Index:
    """Cut the documents anew as the repair says and index them."""
    if repair in ("smaller-chunks", "larger-chunks", "index-document") and ground.splitter is None:
        # What was planted was made of the plain splitter's chunks: cutting anew gives them back.
        return Index.of(ground, Planting(ground).entries())
    splitter = splitters(ground)[repair]
    chunks = [chunk for name, text in ground.documents.items() for chunk in splitter(name, text)]
    return Index.of(ground, [Entry(chunk, chunk.content) for chunk in chunks])


def splitters(ground: Ground) -> dict[str, Splitter]:
    """Return the splitters that repairs name, at the size of the index."""
    from ragtrace.chunking import split

    found: dict[str, Splitter] = {
        "sentence-aligned-splitter": lambda name, text: split(
            text, chunk_size=200, overlap_sentences=1, doc_id=name
        ),
        "heading-path-splitter": lambda name, text: split(
            text,
            format="markdown",
            sections="merge",
            chunk_size=200,
            overlap_sentences=1,
            doc_id=name,
        ),
    }
    if ground.splitter is not None:
        for repair, size in (("smaller-chunks", 100), ("larger-chunks", 400)):
            make = ground.splitter(size)
            found[repair] = lambda name, text, make=make: [
                Chunk(p.doc_id, p.index, p.start, p.end, text[p.start : p.end])
                for p in make(name, text)
            ]
    return found


def compare_what_if(runs: Iterable[tuple[str, Ground, EvalSet]]) -> None:
    """Print what what-if predicts beside what the repair really does to whole-span recall."""
    print("\nwhat-if: whole-span recall predicted, real, difference in points")
    worst = 0.0
    for name, ground, eval_set in runs:
        print(f"  {name}")
        worst = max(worst, compare_one(ground, eval_set))
    print(f"  largest difference: {100 * worst:.1f} points (wanted 2)")


def compare_one(ground: Ground, eval_set: EvalSet) -> float:
    """Print the comparison for one index and return the largest difference."""
    entries = Planting(ground).entries()
    index = Index.of(ground, entries)
    sentences = splitters(ground)["sentence-aligned-splitter"]
    traces = make_traces(entries, ground.build, eval_set)
    predicted, guessed = (
        what_if(
            traces,
            eval_set,
            chunks=ground.chunks,
            documents=ground.documents,
            splitters={"sentence-aligned-splitter": sentences},
            retriever=retriever,
        )
        for retriever in (lambda chunks: _Searching(chunks, ground.build), None)
    )
    changes = real_changes(index, ground)
    now = recall(lambda query: index.ask(query, K), eval_set)
    worst = 0.0
    for outcome in predicted.outcomes:
        change = changes.get((outcome.repair, outcome.detail))
        if outcome.needs_index:
            anew = resplit(ground, outcome.repair)
            found = recall(lambda query, anew=anew: anew.ask(query, K), eval_set)
            expected = now + outcome.whole_recall - outcome.whole_recall_before
        elif change is not None:
            expected, found = outcome.whole_recall, recall(change, eval_set)
        else:
            continue
        worst = max(worst, abs(expected - found))
        if outcome.needs_index:
            (guess,) = (one for one in guessed.outcomes if one.needs_index)
            stand_in = now + guess.whole_recall - guess.whole_recall_before
            print(f"    (with BM25 standing in for the retriever: {stand_in:.3f})")
        print(
            f"    {outcome.repair + ' ' + outcome.detail:62}{expected:.3f}  {found:.3f}"
            f"{100 * (expected - found):+6.1f}  won {len(outcome.won)} lost {len(outcome.lost)}"
        )
    return worst


class _Searching:
    """What `what_if` builds from chunks: the retriever of the run."""

    def __init__(self, chunks: Sequence[Chunk], build: Build) -> None:
        self.chunks = chunks
        self.ask = build([chunk.content for chunk in chunks])

    def search(self, query: str, top_k: int) -> list[Hit]:
        """Return the best chunks."""
        return [
            as_hit(self.chunks[at], rank, score)
            for rank, (at, score) in enumerate(self.ask(query, top_k), 1)
        ]


def real_changes(
    index: Index, ground: Ground
) -> dict[tuple[str, str], Callable[[str], Sequence[Hit]]]:
    """Return what to do for real for each repair that leaves the index alone."""

    def merged(query: str, fill_gap: int = 0) -> Sequence[Hit]:
        return merge_adjacent(index.ask(query, K), fill_gap=fill_gap, documents=ground.documents)

    return {
        ("larger-k", f"k={2 * K}"): lambda query: index.ask(query, 2 * K),
        ("smaller-k", f"k={K // 2}"): lambda query: index.ask(query, K // 2),
        ("merge-adjacent", "touching hits"): merged,
        ("merge-adjacent", "fill_gap=1"): lambda query: merged(query, 1),
        ("drop-near-duplicates", f"k={K}"): lambda query: drop_near_duplicates(
            index.ask(query, DEPTH), k=K
        ),
        ("expand-neighbours", "one on each side"): lambda query: with_neighbours(
            index, index.ask(query, K), ground
        ),
    }


def recall(ask: Callable[[str], Sequence[Hit]], eval_set: EvalSet) -> float:
    """Return the share of labels that lie whole in a hit."""
    held = []
    for question in eval_set:
        hits = ask(question.query)
        for label in question.gold:
            held.append(wins(hits, Question(question_id="", query="", gold=(label,))))
    return float(np.mean(held))
