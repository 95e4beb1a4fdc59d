"""Try a grid of splitters, sizes and overlaps on labelled questions, each from index to verdict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.chunking.lengths import length_function
from ragtrace.evaluation.analysis import analyze
from ragtrace.evaluation.eval_set import EvalSet
from ragtrace.evaluation.harness import run_eval
from ragtrace.evaluation.metrics import check_k
from ragtrace.evaluation.splitters import Splitter
from ragtrace.evaluation.statistics import Mean

FORMAT = "ragtrace-tune/1"
"""Named in every fingerprint; a change of what is measured changes it."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Name one setting of the grid; sizes are in units of `length`."""

    splitter: str
    chunk_size: int
    overlap_sentences: int = 0
    length: str = "cl100k_base"

    @property
    def name(self) -> str:
        """Return the setting in a few words."""
        overlap = f", overlap {self.overlap_sentences}" if self.overlap_sentences else ""
        return f"{self.splitter} {self.chunk_size}{overlap}"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what one setting achieves and what it costs.

    `index_length` is the sum over chunks of what is embedded, `growth` its ratio to the documents'
    own length. `context_characters` is the mean of the first k hits. `fingerprint` names the files
    of the trial in the cache: `.chunks.jsonl`, `.traces.jsonl`, `.trial.json`.
    """

    candidate: Candidate
    fingerprint: str
    chunks: int
    index_length: int
    growth: float
    recall: Mean
    whole_recall: Mean
    context_characters: float
    latency_ms: dict[str, float]
    failed: int
    stale: int
    is_best: bool = False

    def beats(self, other: "Trial") -> bool:
        """Tell whether this is as good in answers, context and index size, and better in one."""
        mine, theirs = self._costs(), other._costs()
        return mine != theirs and all(a <= b for a, b in zip(mine, theirs, strict=True))

    def _costs(self) -> tuple[float, float, float]:
        return -self.whole_recall.value, self.context_characters, float(self.index_length)


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """Hold the trials: first those that no other beats (`is_best`), most whole answers first."""

    k: int
    questions: int
    trials: tuple[Trial, ...]
    reused: int


def tune(
    documents: Mapping[str, str],
    eval_set: EvalSet,
    candidates: Mapping[Candidate, Splitter],
    *,
    folder: Path,
    k: int = 5,
    retriever: Callable[[Sequence[Chunk]], Any] | None = None,
    retriever_name: str = "bm25",
    again: bool = False,
    on_trial: Callable[[Candidate], None] | None = None,
) -> Tuning:
    """Cut, index, ask and analyse for every candidate; finished trials are read from `folder`.

    `retriever` makes of chunks whatever `run_eval` takes (its hits must carry the chunks' ids or
    texts), by default an embedded BM25; `retriever_name` keeps the trials of several apart. A trial
    is found again by documents, questions, setting, retriever and k; `again` repeats them all.
    `on_trial` is called before each.

    Raises `ValueError` where there is nothing to cut, and for labels that are chunk ids, which mean
    nothing in another index.
    """
    check_k(k)
    _check_labels(eval_set)
    if not any(text.strip() for text in documents.values()):
        raise ValueError("no document holds any text to cut")
    folder.mkdir(parents=True, exist_ok=True)
    basis = _digest([FORMAT, sorted(documents.items()), eval_set, k, retriever_name])
    trials: list[Trial] = []
    reused = 0
    for candidate, splitter in candidates.items():
        if on_trial is not None:
            on_trial(candidate)
        fingerprint = _digest([basis, candidate])
        trial = None if again else _read(folder / f"{fingerprint}.trial.json")
        if trial is None:
            trial = _try(
                candidate, splitter, documents, eval_set, folder / fingerprint, k, retriever
            )
            _write(folder / f"{fingerprint}.trial.json", trial)
        else:
            reused += 1
        trials.append(trial)
    return Tuning(k=k, questions=len(eval_set), trials=tuple(rank(trials)), reused=reused)


def rank(trials: Iterable[Trial]) -> list[Trial]:
    """Put those first that no other beats, then order by whole answers, context and size."""
    trials = list(trials)
    marked = [
        msgspec.structs.replace(trial, is_best=not any(other.beats(trial) for other in trials))
        for trial in trials
    ]
    return sorted(marked, key=lambda trial: (not trial.is_best, trial._costs()))


def _try(
    candidate: Candidate,
    splitter: Splitter,
    documents: Mapping[str, str],
    eval_set: EvalSet,
    files: Path,
    k: int,
    retriever: Callable[[Sequence[Chunk]], Any] | None,
) -> Trial:
    from ragtrace.index import Bm25Retriever, write_manifest

    chunks = [chunk for doc_id, text in documents.items() for chunk in splitter(doc_id, text)]
    write_manifest(
        chunks,
        files.with_suffix(".chunks.jsonl"),
        splitter=candidate.name,
        settings=msgspec.to_builtins(candidate),
        documents=documents,
    )
    trace_path = files.with_suffix(".traces.jsonl")
    trace_path.unlink(missing_ok=True)  # of a trial that was interrupted
    summary = run_eval(
        Bm25Retriever(chunks) if retriever is None else retriever(chunks),
        eval_set,
        top_k=2 * k,  # so that what lies just outside is seen too
        trace_path=trace_path,
        run=candidate.name,
    )
    analysis = analyze(trace_path, eval_set, chunks=chunks, documents=documents, k=k)
    count = length_function(candidate.length)
    index_length = sum(count(chunk.content) for chunk in chunks)
    return Trial(
        candidate=candidate,
        fingerprint=files.name,
        chunks=len(chunks),
        index_length=index_length,
        growth=index_length / max(1, sum(map(count, documents.values()))),
        recall=analysis.metrics["recall"],
        whole_recall=analysis.metrics["whole_recall"],
        context_characters=analysis.context_characters.value,
        latency_ms=summary.latency_ms,
        failed=len(summary.failed),
        stale=len(analysis.stale),
    )


def _check_labels(eval_set: EvalSet) -> None:
    labels = [label for question in eval_set for label in question.gold]
    for question in eval_set:
        for label in question.gold:
            if not label.has_span and not label.quote:
                raise ValueError(
                    f"question {question.question_id!r} is labelled by the chunk id"
                    f" {label.chunk_id!r}, which no other index has: label it by a quote"
                )
    if not labels:
        raise ValueError("no question has a label: there is nothing to tune for")


def _digest(value: Any) -> str:
    return blake2b(msgspec.json.encode(value), digest_size=8).hexdigest()


def _read(path: Path) -> Trial | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Trial)
    except (FileNotFoundError, msgspec.DecodeError):
        return None  # not finished, or of another version


def _write(path: Path, trial: Trial) -> None:
    partial = path.with_suffix(".partial")
    partial.write_bytes(msgspec.json.encode(trial))
    partial.replace(path)
