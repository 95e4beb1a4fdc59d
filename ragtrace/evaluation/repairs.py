"""Try repairs on the traces at hand: which questions would each win, and at what price."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.evaluation.anchors import anchor
from ragtrace.evaluation.causes import Repair
from ragtrace.evaluation.collecting import Traces, collect
from ragtrace.evaluation.contexts import (
    Context,
    as_retrieved,
    expanded,
    merged,
    without_repeats,
)
from ragtrace.evaluation.eval_set import EvalSet, Question
from ragtrace.evaluation.hits import Retrieved, Sources
from ragtrace.evaluation.lookup import ChunkLookup
from ragtrace.evaluation.metrics import check_k
from ragtrace.evaluation.sources import find_sources, resolve_all
from ragtrace.evaluation.splitters import Splitter
from ragtrace.evaluation.verdicts import judge_best


class Search(Protocol):
    """What a retriever over chunks must do."""

    def search(self, query: str, top_k: int) -> Sequence[Any]:
        """Return the best hits, best first."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what one repair would do: questions won and lost, and the context it costs.

    A question is won when all its labels would be whole in one hit and are not now. Recalls are
    shares of labels, characters are means per question. `needs_index` tells that the index must be
    built anew; such a repair is compared with today's chunks under the same retriever, so that only
    the chunks differ.
    """

    repair: Repair
    detail: str
    won: tuple[str, ...]
    lost: tuple[str, ...]
    whole_recall_before: float
    whole_recall: float
    context_characters_before: float
    context_characters: float
    needs_index: bool = False
    note: str = ""

    @property
    def gain(self) -> int:
        """Return how many questions more it would answer."""
        return len(self.won) - len(self.lost)


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what each repair would do, the best first; equal ones by their price."""

    k: int
    questions: int
    outcomes: tuple[Outcome, ...]

    @property
    def best(self) -> Outcome | None:
        """Return the best repair, if any wins more than it loses."""
        first = self.outcomes[0] if self.outcomes else None
        return first if first is not None and first.gain > 0 else None


class _Tally(msgspec.Struct, frozen=True):
    """What a set of contexts achieves: questions held whole, labels held whole, characters."""

    whole: frozenset[str]
    labels: float
    characters: float


def what_if(
    traces: Traces | Iterable[str | os.PathLike[str]],
    eval_set: EvalSet,
    *,
    chunks: Iterable[Chunk] | ChunkLookup | None = None,
    documents: Mapping[str, str] | None = None,
    k: int = 5,
    splitters: Mapping[Repair, Splitter] | None = None,
    retriever: Callable[[Sequence[Chunk]], Search] | None = None,
    run: str | None = None,
) -> WhatIf:
    """Recompute the verdicts of one run under each repair.

    Merging, deduplication, another k and the like need the traces alone (a manifest or documents
    make them exact, and are needed to fill gaps and to tell old versions). `splitters` cut the
    documents anew (`splitters_like` gives the usual ones); their chunks are ranked by `retriever`,
    by default an embedded BM25, which tells about other retrievers only roughly.
    """
    check_k(k)
    collector = collect(traces, eval_set, k=k, run=run, stage="retrieved")
    sources, _ = find_sources(collector.latest.values(), chunks, documents)
    quotable = sources.lookup if documents is None else None
    anchored = anchor(eval_set, documents=documents, chunks=quotable, ids=False)
    unusable = {(one.question_id, one.label) for one in anchored.problems if one.is_stale}
    questions = [
        msgspec.structs.replace(question, gold=gold)
        for question in anchored.eval_set
        if question.question_id in collector.latest
        and (
            gold := tuple(
                label for label in question.gold if (question.question_id, label) not in unusable
            )
        )
    ]
    hits = resolve_all(collector.latest, anchored.eval_set, sources)
    outcomes = _from_traces(questions, hits, k, sources)
    for repair, splitter in (splitters or {}).items():
        outcomes.append(_resplit(repair, splitter, questions, k, sources, retriever))
    outcomes.sort(key=lambda one: (-one.gain, one.context_characters))
    return WhatIf(k=k, questions=len(questions), outcomes=tuple(outcomes))


def _from_traces(
    questions: Sequence[Question],
    hits: Mapping[str, list[Retrieved]],
    k: int,
    sources: Sources,
) -> list[Outcome]:
    before = _tally(questions, {name: found[:k] for name, found in hits.items()}, sources)
    changes: list[tuple[Repair, str, Callable[[Context], Context]]] = [
        ("larger-k", f"k={2 * k}", lambda found: found[: 2 * k]),
        ("smaller-k", f"k={max(1, k // 2)}", lambda found: found[: max(1, k // 2)]),
        ("merge-adjacent", "touching hits", lambda found: merged(found[:k], sources)),
        (
            "merge-adjacent",
            "fill_gap=1",
            lambda found: merged(found[:k], sources, fill_gap=1),
        ),
        ("drop-near-duplicates", f"k={k}", lambda found: without_repeats(found, k)),
        (
            "remove-stale-chunks",
            f"k={k}",
            lambda found: [hit for hit in found if hit.outdated is None][:k],
        ),
        ("expand-neighbours", "one on each side", lambda found: expanded(found[:k], sources)),
    ]
    shallow = sum(len(found) < 2 * k for found in hits.values())
    outcomes = []
    for repair, detail, change in changes:
        after = _tally(questions, {name: change(found) for name, found in hits.items()}, sources)
        note = ""
        if repair == "larger-k" and shallow:
            note = f"{shallow} of {len(hits)} traces hold fewer than {2 * k} hits"
        elif sources.lookup is None and repair == "expand-neighbours":
            note = "needs chunks: without them nothing is known of the neighbours"
        outcomes.append(_outcome(repair, detail, before, after, note=note))
    return outcomes


def _resplit(
    repair: Repair,
    splitter: Splitter,
    questions: Sequence[Question],
    k: int,
    sources: Sources,
    retriever: Callable[[Sequence[Chunk]], Search] | None,
) -> Outcome:
    build = retriever or _bm25
    names: Iterable[str] = sources.documents or ()
    if sources.documents is None and sources.lookup is not None:
        names = sources.lookup.document_ids
    chunks = [chunk for name in names for chunk in splitter(name, sources.text(name) or "")]
    if not chunks:
        raise ValueError(f"{repair}: there is no text to split; give documents or chunks")
    after = _tally_search(questions, chunks, build, k, sources)
    if sources.lookup is None:
        raise ValueError(f"{repair}: give chunks, the ones in the index, to compare with")
    before = _tally_search(questions, list(sources.lookup), build, k, sources)
    detail = f"{len(chunks)} chunks instead of {len(sources.lookup)}"
    return _outcome(repair, detail, before, after, needs_index=True)


def _tally_search(
    questions: Sequence[Question],
    chunks: Sequence[Chunk],
    build: Callable[[Sequence[Chunk]], Search],
    k: int,
    sources: Sources,
) -> _Tally:
    lookup = ChunkLookup(chunks)
    index = build(chunks)
    contexts = {}
    for question in questions:
        found = [lookup.get(hit.chunk_id) for hit in index.search(question.query, k)]
        contexts[question.question_id] = [
            as_retrieved(chunk, position)
            for position, chunk in enumerate((one for one in found if one is not None), 1)
        ]
    return _tally(questions, contexts, msgspec.structs.replace(sources, lookup=lookup))


def _bm25(chunks: Sequence[Chunk]) -> Search:
    from ragtrace.index import Bm25Retriever

    return Bm25Retriever(chunks)


def _tally(
    questions: Sequence[Question], contexts: Mapping[str, Context], sources: Sources
) -> _Tally:
    whole = set()
    held = labels = characters = 0
    for question in questions:
        context = [
            msgspec.structs.replace(hit, position=position)
            for position, hit in enumerate(contexts[question.question_id], 1)
        ]
        found = [
            judge_best(label, context, max(1, len(context)), sources)[1].verdict == "whole"
            for label in question.gold
        ]
        held += sum(found)
        labels += len(found)
        characters += sum(hit.length for hit in context)
        if all(found):
            whole.add(question.question_id)
    count = max(1, len(questions))
    return _Tally(frozenset(whole), held / max(1, labels), characters / count)


def _outcome(
    repair: Repair,
    detail: str,
    before: _Tally,
    after: _Tally,
    *,
    needs_index: bool = False,
    note: str = "",
) -> Outcome:
    return Outcome(
        repair=repair,
        detail=detail,
        won=tuple(sorted(after.whole - before.whole)),
        lost=tuple(sorted(before.whole - after.whole)),
        whole_recall_before=before.labels,
        whole_recall=after.labels,
        context_characters_before=before.characters,
        context_characters=after.characters,
        needs_index=needs_index,
        note=note,
    )
