"""Trace any retriever, without a framework."""

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any, Unpack

from ragtrace.tracing.context import tracing_in_progress
from ragtrace.tracing.hit import FoundHits, Hit
from ragtrace.tracing.reading import read_hits
from ragtrace.tracing.schema import ScoreKind
from ragtrace.tracing.tracer import Tracer, TracerOptions, as_tracer
from ragtrace.tracing.writer import TraceWriter

ToHits = Callable[[Any], Iterable[Hit] | FoundHits]


class TracedRetriever:
    """Answer exactly as the retriever inside does, and write a trace of each call.

    The base is an object with `search(query, top_k)`, or a callable taking the same; either may be
    async. What it returns is read by `to_hits` (default: dicts, objects, pairs and texts of the
    usual shapes) and returned untouched. `score_kind` says which way its scores run. The other
    options are those of `Tracer`, which may be given itself in place of a path.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/traces.jsonl"
    >>> def search(query, top_k):
    ...     return [{"id": "guide#c0", "text": "Five seconds.", "score": 0.9}]
    >>> retriever = TracedRetriever(search, path)
    >>> retriever.retrieve("how long?", top_k=1)
    [{'id': 'guide#c0', 'text': 'Five seconds.', 'score': 0.9}]
    """

    def __init__(
        self,
        base_retriever: Any,
        trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
        *,
        to_hits: ToHits | None = None,
        name: str | None = None,
        score_kind: ScoreKind | None = None,
        **options: Unpack[TracerOptions],
    ) -> None:
        self.base_retriever = base_retriever
        self.tracer = as_tracer(trace_path, options)
        self._search = _search_of(base_retriever)
        self._to_hits = to_hits if to_hits is not None else read_hits
        self._name = name if name is not None else _name_of(base_retriever)
        self._score_kind = score_kind

    def retrieve(self, query: str, top_k: int = 5) -> Any:
        """Return what the base returns for the query."""
        call = self.tracer.start(query, top_k=top_k, retriever=self._name)
        try:
            with tracing_in_progress(call):
                results = self._search(query, top_k)
                if inspect.iscoroutine(results):
                    results.close()
                    raise TypeError(f"{self._name} is async: await aretrieve() instead")
        except BaseException as error:
            self.tracer.fail(call, error)
            raise
        self.tracer.finish(call, lambda: self._to_hits(results), score_kind=self._score_kind)
        return results

    async def aretrieve(self, query: str, top_k: int = 5) -> Any:
        """Return what the base returns; one that is not async runs in a thread of its own."""
        call = self.tracer.start(query, top_k=top_k, retriever=self._name)
        try:
            with tracing_in_progress(call):
                if _is_async(self._search):
                    results = await self._search(query, top_k)
                else:
                    import asyncio  # who comes here has it loaded; others need not pay for it

                    results = await asyncio.to_thread(self._search, query, top_k)
                    if inspect.isawaitable(results):
                        results = await results
        except BaseException as error:
            self.tracer.fail(call, error)
            raise
        self.tracer.finish(call, lambda: self._to_hits(results), score_kind=self._score_kind)
        return results


def _search_of(base: Any) -> Callable[[Any, int], Any]:
    search: Callable[[Any, int], Any] | None = getattr(base, "search", None)
    if not callable(search):
        search = base if callable(base) else None
    if search is None:
        raise ValueError(
            f"cannot trace a {type(base).__name__}: give an object with search(query, top_k), "
            "or a callable"
        )
    try:
        signature = inspect.signature(search)
    except (TypeError, ValueError):
        return search  # built in: it says nothing of what it takes
    try:
        signature.bind("query", 5)
    except TypeError as error:
        raise ValueError(
            f"cannot trace {_name_of(base)}: it must take (query, top_k), not {signature}"
        ) from error
    return search


def _is_async(search: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(
        getattr(search, "__call__", None)  # noqa: B004  # an object whose call is async
    )


def _name_of(base: Any) -> str:
    return str(getattr(base, "__qualname__", None) or type(base).__name__)
