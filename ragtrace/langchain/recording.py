"""The record of one retrieval: while it runs, and when something is made of what it found."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, Self
from uuid import UUID

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from msgspec.structs import replace

from ragtrace.langchain.hits import to_hits
from ragtrace.langchain.inspection import choose, emits_events, labels_of, name_of, top_k_of
from ragtrace.langchain.runs import place_of
from ragtrace.langchain.scores import ObservedScores, observe
from ragtrace.tracing import Call, InFlight, ScoreKind, Tracer, tracing_in_progress


class Mark:
    """Mark a call of a `TracedRetriever` while it runs, so that it is written down once.

    The first retriever event below the wrapper is about the very same call: a handler takes it by
    `claim` and writes nothing of its own.
    """

    __slots__ = ("_claimed", "call")

    def __init__(self, call: Call) -> None:
        self.call = call
        self._claimed = False

    def claim(self) -> bool:
        """Take the event that repeats the call; true once."""
        first = not self._claimed
        self._claimed = True
        return first


class Answer(NamedTuple):
    """Hold a retrieval that has ended, for what compressors will make of its documents.

    `scores` are by the `id()` of the documents that came back, all of them.
    """

    call: Call
    tracer: Tracer
    score_kind: ScoreKind | None
    scores: dict[int, float | None]


running: ContextVar[Mark | None] = ContextVar("ragtrace_langchain_running", default=None)
"""The innermost call of a `TracedRetriever` that runs in this context."""

_answer: ContextVar[Answer | None] = ContextVar("ragtrace_langchain_answer", default=None)
"""The latest retrieval that was recorded in this context."""

# Each step of a chain runs in a context of its own; all that two steps share is the chain's id.
_answers_in_chains: InFlight[Answer] = InFlight(limit=1000)


class Recording:
    """Record one call of a wrapper: begun when it is made, written when the `with` block ends."""

    def __init__(
        self,
        tracer: Tracer,
        base_retriever: Runnable[Any, Any],
        query: Any,
        config: RunnableConfig | None,
        kwargs: Mapping[str, Any],
        *,
        name: str | None = None,
        score_kind: ScoreKind | None = None,
    ) -> None:
        self.runnable, self.config = choose(base_retriever, config)
        self.reports_itself = emits_events(self.runnable)
        self.documents: Any = None
        self._tracer = tracer
        self._name = name
        self._score_kind = score_kind
        self._kwargs = kwargs
        self._scores = ObservedScores()
        surroundings = ensure_config(config)
        callbacks = surroundings.get("callbacks")
        self._chain = (
            callbacks.parent_run_id if isinstance(callbacks, BaseCallbackManager) else None
        )
        place = place_of(surroundings)
        self._call = tracer.start(
            query,
            id=kwargs.get("run_id"),
            parent=place.call if place else None,
            trace_id=place.trace_id if place else None,
            **labels_of(surroundings.get("metadata") or {}),
        )
        if self._call.sampled:
            self._describe()
            self.runnable = observe(self.runnable, self._scores)

    def _describe(self) -> None:
        """Say what was asked, and for how many: not worth finding out for what is not kept."""
        self._call = replace(
            self._call,
            top_k=top_k_of(self.runnable, self._kwargs),
            retriever=self._name or name_of(self.runnable),
        )

    def __enter__(self) -> Self:
        self._progress = tracing_in_progress(self._call)
        self._progress.__enter__()
        self._token = running.set(Mark(self._call))
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        running.reset(self._token)
        self._progress.__exit__(None, None, None)
        if error is None:
            record_answer(
                self._tracer,
                self._call,
                self.documents,
                self._scores,
                chain=self._chain,
                score_kind=self._score_kind,
            )
            return
        if not self._call.sampled:
            self._describe()
        self._tracer.fail(self._call, error)


def record_answer(
    tracer: Tracer,
    call: Call,
    documents: Any,
    scores: ObservedScores,
    *,
    chain: UUID | None,
    score_kind: ScoreKind | None = None,
) -> None:
    """Write what came back, and remember it; `chain` is the run that the call is a step of."""
    if not call.sampled:
        _answer.set(None)
        return
    values, known_kind = scores.read(documents)
    score_kind = score_kind or known_kind
    tracer.finish(call, lambda: to_hits(documents, values), score_kind=score_kind)
    by_identity = dict(zip(map(id, documents), values, strict=True)) if values else {}
    answer = Answer(call, tracer, score_kind, by_identity)
    _answer.set(answer)
    if chain is not None:
        _answers_in_chains.put(chain, answer)


def answer_with(
    documents: Sequence[Document], query: str | None = None, chain: UUID | None = None
) -> Answer | None:
    """Return the recorded retrieval that these documents came from: of a chain, else latest here.

    A call within another retrieval is left to that one: what it returns is what it records.
    """
    answer = _answer.get() if chain is None else _answers_in_chains.get(chain)
    if answer is None or answer.call.parent_id is not None:
        return None
    if query is not None and query != answer.call.query:
        return None
    came_from_it = documents and all(id(document) in answer.scores for document in documents)
    return answer if came_from_it else None


def forget_answer(tracer: Tracer) -> None:
    """Write nothing more of the latest retrieval, if it is this tracer's."""
    answer = _answer.get()
    if answer is not None and answer.tracer is tracer:
        _answer.set(None)
