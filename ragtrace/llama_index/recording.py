"""The record of one retrieval: while it runs, and when something is made of what it found."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import NamedTuple

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from msgspec.structs import replace

from ragtrace.llama_index.hits import to_hits
from ragtrace.llama_index.inspection import (
    labels_of_context,
    name_of,
    score_kind_of,
    top_k_of,
)
from ragtrace.tracing import Call, Hit, ScoreKind, Tracer, current_call, tracing_in_progress


class Answer(NamedTuple):
    """Hold a retrieval that has ended, for what postprocessors will make of its nodes."""

    call: Call
    tracer: Tracer
    recorder: object
    score_kind: ScoreKind
    node_ids: set[str]
    is_open: Callable[[], bool]


_recordings: ContextVar[tuple["Recording", ...]] = ContextVar("ragtrace_recordings", default=())
_answers: ContextVar[tuple[Answer, ...]] = ContextVar("ragtrace_answers", default=())
"""The last retrieval that each handler, and any wrapper, has recorded in this context."""


class Recording:
    """Record one retrieval, from when it is made until `answered` or `failed`.

    `recorder` is the handler that heard of the retrieval, `None` for a wrapper.
    """

    def __init__(
        self,
        tracer: Tracer,
        retriever: BaseRetriever,
        query: QueryType,
        *,
        recorder: object = None,
        name: str | None = None,
        score_kind: ScoreKind | None = None,
        is_open: Callable[[], bool] = lambda: True,
    ) -> None:
        self.retriever = retriever
        self.recorder = recorder
        self._tracer = tracer
        self._name = name
        self._score_kind = score_kind
        self._is_open = is_open
        around = _recordings.get()
        parents = [one.call for one in around if one.is_for(recorder)]
        # Another handler's record of this very retrieval is no parent of it.
        self._before: Call | None = around[0]._before if around else current_call()
        with tracing_in_progress(parents[-1] if parents else self._before):
            self.call: Call = tracer.start(
                getattr(query, "query_str", query), **labels_of_context()
            )
        if self.call.sampled:
            self._describe()
        _recordings.set((*around, self))
        _now_in_progress(self.call)

    def _describe(self) -> None:
        """Say what was asked, and for how many: not worth finding out for what is not kept."""
        self.call = replace(
            self.call,
            top_k=top_k_of(self.retriever),
            retriever=self._name or name_of(self.retriever),
        )

    def is_for(self, recorder: object) -> bool:
        """Say whether `recorder` would repeat this record with one of its own."""
        return self.recorder is None or self.recorder is recorder

    def answered(self, nodes: Sequence[NodeWithScore]) -> None:
        """Write what came back."""
        self._leave()
        others = tuple(
            one for one in _answers.get() if one.recorder is not self.recorder and one.is_open()
        )
        if not self.call.sampled:
            _answers.set(others)
            return
        kind = self._score_kind or score_kind_of(self.retriever)
        answer = Answer(self.call, self._tracer, self.recorder, kind, set(), self._is_open)
        _answers.set((*others, answer))
        self._tracer.finish(self.call, partial(_noted, answer, nodes), score_kind=kind)

    def failed(self, error: BaseException) -> None:
        """Write why nothing came back."""
        self._leave()
        if not self.call.sampled:
            self._describe()
        self._tracer.fail(self.call, error)

    def _leave(self) -> None:
        # Not by tokens: two handlers end their records of one retrieval in the order they began.
        rest = tuple(one for one in _recordings.get() if one is not self)
        _recordings.set(rest)
        _now_in_progress(rest[-1].call if rest else self._before)


def _now_in_progress(call: Call | None) -> None:
    tracing_in_progress(call).__enter__()


def is_recorded(retriever: object, recorder: object) -> bool:
    """Say whether a call of this retriever is being written down by a wrapper or `recorder`."""
    return any(one.retriever is retriever and one.is_for(recorder) for one in _recordings.get())


def answers_with(
    nodes: Sequence[NodeWithScore], query: QueryBundle | None, recorder: object = None
) -> list[Answer]:
    """Return the recorded retrievals, of one handler or of all, that these nodes came from."""
    return [
        answer
        for answer in _answers.get()
        if recorder is None or recorder is answer.recorder
        if _came_from(answer, nodes, query)
    ]


def record_postprocessed(
    answers: Sequence[Answer], kept: Sequence[NodeWithScore], tracer: Tracer | None = None
) -> None:
    """Write what a postprocessor made of a retrieval's nodes, as its stage `merged`.

    It goes to the retrieval's own trace, or to `tracer`.
    """
    for answer in answers[:1] if tracer is not None else answers:
        (tracer or answer.tracer).finish(
            answer.call,
            partial(_noted, answer, kept),
            score_kind=answer.score_kind,
            stage="merged",
        )


def _came_from(answer: Answer, given: Sequence[NodeWithScore], query: QueryBundle | None) -> bool:
    same_query = query is None or query.query_str == answer.call.query
    return (
        same_query
        # What the whole of a nested retrieval returns is what counts, not its parts.
        and answer.call.parent_id is None
        and answer.is_open()
        and answer.node_ids.issuperset(item.node.node_id for item in given)
    )


def _noted(answer: Answer, nodes: Sequence[NodeWithScore]) -> list[Hit]:
    answer.node_ids.update(item.node.node_id for item in nodes)
    return to_hits(nodes)
