"""Ask a retriever every question of an eval set, one trace each."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import msgspec

from ragtrace.evaluation.depth import Ask, asking_for
from ragtrace.evaluation.eval_set import EvalSet, Question, check_eval_set
from ragtrace.evaluation.metrics import check_k
from ragtrace.evaluation.signals import Histogram
from ragtrace.tracing import TracedRetriever, Tracer, TraceWriter, trace_context
from ragtrace.tracing.ids import new_id


class FailedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Hold a question whose retrieval raised, and what it said."""

    question_id: str
    error: str


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what a run did; the figures come from `analyze(summary.trace_path, eval_set)`.

    `unrecorded` counts questions without a trace line, as when a traced retriever samples.
    """

    run: str
    trace_path: str
    top_k: int
    questions: int
    empty: tuple[str, ...]
    failed: tuple[FailedQuestion, ...]
    unrecorded: int
    latency_ms: dict[str, float]


def run_eval(
    retriever: Any,
    eval_set: EvalSet,
    *,
    top_k: int = 8,
    trace_path: str | os.PathLike[str],
    run: str | None = None,
    keep_text: bool = False,
    on_question: Callable[[Question], None] | None = None,
) -> RunSummary:
    """Ask every question for `top_k` hits and append one trace each to `trace_path`.

    The retriever may be a callable `(query, top_k)`, an object with `search(query, top_k)`, or one
    of LangChain or LlamaIndex, traced already or not; its number of hits is set for the run and
    restored. A retrieval that raises is recorded and the run goes on. Raises `ValueError` where the
    retriever cannot be told how many hits to return. `on_question` is called before each question.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ragtrace.evaluation import analyze
    >>> from ragtrace.tracing import Hit
    >>> eval_set = EvalSet.from_items([{"query": "Who?", "expected_chunk_ids": ["guide#c1"]}])
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> summary = run_eval(
    ...     lambda query, top_k: [Hit(chunk_id="guide#c1")], eval_set, trace_path=path
    ... )
    >>> analyze(summary.trace_path, eval_set).metrics["recall"].value
    1.0
    """
    check_eval_set(eval_set)
    check_k(top_k)
    run = run or f"run-{new_id()[:8]}"
    empty: list[str] = []
    failed: list[FailedQuestion] = []
    latencies = Histogram()
    with TraceWriter(trace_path) as writer, asking_for(retriever, top_k) as ask:
        with _recorder(retriever, ask, writer, top_k, keep_text) as record:
            for question in eval_set:
                if on_question is not None:
                    on_question(question)
                started = perf_counter()
                try:
                    with trace_context(question_id=question.question_id, run=run):
                        found = record(question.query)
                except Exception as error:
                    message = f"{type(error).__name__}: {error}"
                    failed.append(FailedQuestion(question_id=question.question_id, error=message))
                    continue
                finally:
                    _check_written(writer)
                latencies.add((perf_counter() - started) * 1000)
                if not len(found):
                    empty.append(question.question_id)
        written = writer.stats.written
    return RunSummary(
        run=run,
        trace_path=os.fspath(trace_path),
        top_k=top_k,
        questions=len(eval_set),
        empty=tuple(empty),
        failed=tuple(failed),
        unrecorded=max(0, len(eval_set) - written),
        latency_ms={"p50": latencies.quantile(0.5), "p95": latencies.quantile(0.95)},
    )


@contextmanager
def _recorder(
    retriever: Any, ask: Ask, writer: TraceWriter, top_k: int, keep_text: bool
) -> Iterator[Callable[[str], Any]]:
    """Give what asks one question and sees to its record."""
    own = getattr(retriever, "tracer", None)
    if not isinstance(own, Tracer):
        name = getattr(retriever, "__qualname__", None) or type(retriever).__name__
        traced = TracedRetriever(
            lambda query, _: ask(query),
            Tracer(writer, keep_text=keep_text, strict=True),
            name=name,
        )
        yield lambda query: traced.retrieve(query, top_k)
        return
    # It records each call itself, and knows raw scores that are lost further out; for the run its
    # lines go to the run's file, not among the live ones.
    live, own.writer = own.writer, writer
    try:
        yield ask
    finally:
        own.writer = live


def _check_written(writer: TraceWriter) -> None:
    lost = {kind: writer.stats.dropped.get(kind, 0) for kind in ("write", "encode")}
    if any(lost.values()):
        raise OSError(f"{writer.path}: traces cannot be written there; nothing was evaluated")
