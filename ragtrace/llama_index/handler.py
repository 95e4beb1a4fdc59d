"""A handler that writes a trace line for every retriever of an engine, a chat or an agent."""

import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index_instrumentation import get_dispatcher

from ragtrace.llama_index.postprocessors import RecordingPostprocessor
from ragtrace.llama_index.recording import (
    Recording,
    answers_with,
    is_recorded,
    record_postprocessed,
)
from ragtrace.llama_index.retriever import TracedRetriever
from ragtrace.tracing import InFlight, Tracer, TracerOptions, TraceWriter, as_tracer

RETRIEVING = ("retrieve", "aretrieve")
POSTPROCESSING = "_postprocess_nodes"


class TraceHandler:
    """Write one trace line for each retriever call anywhere in LlamaIndex, while attached.

    Nothing in the application changes. A retriever called by another one (fusion, router,
    recursive) is linked to it by `parent_id`. What node postprocessors leave is written as stage
    `merged` of the same retrieval, once after each of them: the last one counts. A call that a
    `TracedRetriever` records is left to it. The options are those of `ragtrace.tracing.Tracer`,
    which may be given itself in place of a path.

    >>> import tempfile, pathlib
    >>> from ragtrace.tracing import read_traces
    >>> path = pathlib.Path(tempfile.mkdtemp(), "traces.jsonl")
    >>> class Search(BaseRetriever):
    ...     def _retrieve(self, query_bundle):
    ...         return []
    >>> with TraceHandler(path):
    ...     nodes = Search().retrieve("How long is a timeout?")
    >>> [trace.query for trace in read_traces(path)]
    ['How long is a timeout?']
    """

    def __init__(
        self,
        trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
        **options: Unpack[TracerOptions],
    ) -> None:
        self.tracer = as_tracer(trace_path, options)
        self._recordings: InFlight[Recording] = InFlight()
        self._attached = False
        self._spans = _Spans(self)

    def attach(self) -> Self:
        """Begin to listen, in every thread of the process; twice is once."""
        root = get_dispatcher()
        if not any(handler is self._spans for handler in root.span_handlers):
            root.add_span_handler(self._spans)
        self._attached = True
        return self

    def detach(self) -> None:
        """Stop listening and close the file; other handlers stay as they are."""
        root = get_dispatcher()
        # By identity: handlers are pydantic models, and two with equal fields are equal.
        root.span_handlers[:] = [h for h in root.span_handlers if h is not self._spans]
        self._attached = False
        self.tracer.writer.close()

    @property
    def in_flight(self) -> int:
        """Return how many calls have begun and not ended."""
        return len(self._recordings)

    def __enter__(self) -> Self:
        return self.attach()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.detach()


@contextmanager
def trace_retrieval(
    trace_path: Tracer | TraceWriter | str | os.PathLike[str] = "traces.jsonl",
    **options: Unpack[TracerOptions],
) -> Iterator[TraceHandler]:
    """Trace every LlamaIndex retriever that runs while the block does, with no change to it."""
    with TraceHandler(trace_path, **options) as handler:
        yield handler


class _Spans(BaseSpanHandler[BaseSpan]):
    """Hear of every span; retrieval events say no more, and nothing of failures and retrievers."""

    _owner: TraceHandler = PrivateAttr()

    def __init__(self, owner: TraceHandler) -> None:
        super().__init__()
        self._owner = owner

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the handler under."""
        return "ragtrace.TraceHandler"

    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin a retrieval, unless it is being written down already."""
        # Every span of the application comes here: the cheapest question first.
        if _method(id_) not in RETRIEVING or not isinstance(instance, BaseRetriever):
            return
        owner = self._owner  # once: what a pydantic model keeps privately is slow to reach
        if isinstance(instance, TracedRetriever) or is_recorded(instance, owner):
            return
        query = next(iter(bound_args.arguments.values()), "")
        recording = Recording(
            owner.tracer, instance, query, recorder=owner, is_open=lambda: owner._attached
        )
        owner._recordings.put(id_, recording)

    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        result: Any = None,
        **kwargs: Any,
    ) -> None:
        """Write a retrieval, or what a postprocessor made of one."""
        method = _method(id_)
        if method in RETRIEVING:
            recording = self._owner._recordings.pop(id_)
            if recording is not None:
                recording.answered(result)
        elif method == POSTPROCESSING and _is_silent(instance):
            given, query = [*bound_args.arguments.values(), None][:2]
            record_postprocessed(answers_with(given, query, self._owner), result)

    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        """Write a failure or a cancellation."""
        recording = self._owner._recordings.pop(id_)
        if recording is not None:
            recording.failed(err if err is not None else RuntimeError("dropped"))

    def new_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        """Open no span: LlamaIndex would keep it."""
        return None

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        """Close no span."""
        return None

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        """Drop no span."""
        return None


def _is_silent(instance: Any) -> bool:
    """Say whether this is a postprocessor that does not record what it does itself."""
    return isinstance(instance, BaseNodePostprocessor) and not isinstance(
        instance, RecordingPostprocessor
    )


def _method(span_id: str) -> str:
    """Return the method's name out of `Class.method-uuid`."""
    return span_id.partition("-")[0].rpartition(".")[2]
