"""The policy of tracing, in one place: what of a retrieval is kept, and how."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict

from ragtrace.tracing.call import Call
from ragtrace.tracing.context import current_call, current_context
from ragtrace.tracing.failures import warn
from ragtrace.tracing.fields import (
    active_trace_id,
    common_splitter,
    integer_of,
    joined_tags,
    limit_metadata,
    message_of,
    stage_of,
    text_of,
)
from ragtrace.tracing.hit import FoundHits, Hit
from ragtrace.tracing.ids import new_id as random_id
from ragtrace.tracing.ids import trace_id as as_trace_id
from ragtrace.tracing.json_values import to_number
from ragtrace.tracing.sampling import SampleBy, is_sampled
from ragtrace.tracing.schema import SNIPPET_LENGTH, ScoreKind, Stage, Trace, TraceError, TraceHit
from ragtrace.tracing.scores import check_direction
from ragtrace.tracing.writer import TraceWriter

METADATA_LIMIT = 2048
"""Bytes of JSON that a trace, and each of its hits, may keep of metadata."""

Redact = Callable[[Trace], Trace | None]


class TracerOptions(TypedDict, total=False):
    """Name the options of `Tracer`, for wrappers that pass them on."""

    sample_rate: float
    sample_by: SampleBy
    redact: Redact | None
    run: str | None
    tags: Iterable[str]
    metadata: Mapping[str, Any] | None
    snippet_length: int
    metadata_keys: Iterable[str] | Literal["*"]
    metadata_limit: int
    keep_text: bool
    clock: Callable[[], float]
    timer: Callable[[], float]
    new_id: Callable[[], str]
    strict: bool


class Tracer:
    """Turn retrievals into traces: ids, clock, sampling, redaction and limits, for every adapter.

    A retrieval is `start`, then `finish` or `fail`; none of them raises unless `strict`. `sink` is
    a writer or the path of one. `sample_rate` is the share of calls kept, chosen by a hash of the
    id, or with `sample_by="query"` of the query (which keeps or drops every call of one query).
    `redact` gets the finished trace and returns what to write, or `None` for nothing; if it fails,
    nothing is written. `metadata_keys` names what of a hit's metadata is kept, "*" is all;
    `metadata_limit` is in bytes. `keep_text` keeps the whole text of every hit.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/traces.jsonl"
    >>> from ragtrace.tracing import Hit
    >>> tracer = Tracer(path, run="docs")
    >>> call = tracer.start("how long?", top_k=1)
    >>> trace = tracer.finish(call, lambda: [Hit(chunk_id="guide#c0", text="Five seconds.")])
    >>> trace.hits[0].rank, trace.hits[0].snippet
    (1, 'Five seconds.')
    """

    def __init__(
        self,
        sink: TraceWriter | str | os.PathLike[str],
        *,
        sample_rate: float = 1.0,
        sample_by: SampleBy = "id",
        redact: Redact | None = None,
        run: str | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        snippet_length: int = SNIPPET_LENGTH,
        metadata_keys: Iterable[str] | Literal["*"] = (),
        metadata_limit: int = METADATA_LIMIT,
        keep_text: bool = False,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
        new_id: Callable[[], str] = random_id,
        strict: bool = False,
    ) -> None:
        if not 0.0 <= sample_rate <= 1.0:
            raise ValueError(f"sample_rate is {sample_rate}: give a share from 0 to 1")
        if sample_by not in ("id", "query"):
            raise ValueError(f'sample_by is {sample_by!r}: give "id" or "query"')
        if snippet_length < 0 or metadata_limit < 0:
            raise ValueError("snippet_length and metadata_limit cannot be negative")
        self.writer = sink if isinstance(sink, TraceWriter) else TraceWriter(sink, strict=strict)
        self.strict = strict
        self._rate = sample_rate
        self._by_query = sample_by == "query"
        self._redact = redact
        self._run = run
        self._tags = joined_tags(tags)
        self._metadata = dict(metadata) if metadata else None
        self._snippet_length = snippet_length
        self._metadata_keys = metadata_keys if metadata_keys == "*" else frozenset(metadata_keys)
        self._metadata_limit = metadata_limit
        self._keep_text = keep_text
        self._clock = clock
        self._timer = timer
        self._new_id = new_id
        self._direction_doubted = False

    def start(
        self,
        query: Any,
        *,
        top_k: int | None = None,
        retriever: str | None = None,
        id: Any = None,  # noqa: A002  # the word that traces use
        parent_id: Any = None,
        parent: Call | None = None,
        trace_id: Any = None,
        session_id: str | None = None,
        question_id: str | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Call:
        """Begin a retrieval. Ids may be UUIDs or any string.

        `parent` is the call that this one is a part of, by default the one that a wrapper records
        at the moment; it is kept exactly if its parent is. What the enclosing `trace_context` says
        holds where nothing is given.
        """
        try:
            started = self._timer()
            context = current_context()
            query = text_of(query) or ""
            own_id = self._new_id() if id is None else as_trace_id(id)
            if parent is None:
                parent = current_call()
                if parent is not None and parent_id not in (None, parent.id):
                    parent = None
            if parent is not None:
                sampled = parent.sampled
                parent_id = parent.id
                trace_id = trace_id if trace_id is not None else parent.trace_id
            else:
                sampled = is_sampled(query if self._by_query else own_id, self._rate)
                parent_id = as_trace_id(parent_id) if parent_id is not None else None
            if trace_id is None:
                trace_id = context.trace_id if context.trace_id is not None else active_trace_id()
            return Call(
                id=own_id,
                ts=self._clock(),
                started=started,
                query=query,
                sampled=sampled,
                top_k=top_k if top_k is None or type(top_k) is int else integer_of(top_k),
                retriever=text_of(retriever),
                parent_id=parent_id,
                trace_id=as_trace_id(trace_id) if trace_id is not None else None,
                session_id=text_of(session_id if session_id is not None else context.session_id),
                question_id=text_of(
                    question_id if question_id is not None else context.question_id
                ),
                run=context.run if context.run is not None else self._run,
                tags=joined_tags(self._tags, context.tags, tags),
                metadata=self._call_metadata(context.metadata, metadata),
            )
        except Exception as error:
            self._failed("start", error)
            # Something to hand back; without a query there is nothing to record.
            return Call(id=random_id(), ts=0.0, started=0.0, query="", sampled=False)

    def finish(
        self,
        call: Call,
        hits: Callable[[], Iterable[Hit] | FoundHits],
        *,
        score_kind: ScoreKind | None = None,
        stage: Stage | None = None,
        splitter: str | None = None,
    ) -> Trace | None:
        """End a retrieval and return the trace as it was written, `None` if it was not.

        `hits` is called, if the call is sampled, to read what came back, best first. Hits that were
        merged make the stage `merged` unless one is given.
        """
        ended = self._now()
        if not call.sampled:
            return None
        try:
            found = hits()
            if isinstance(found, FoundHits):
                found, kind = found
                score_kind = score_kind if score_kind is not None else kind
            found = list(found)
            kept = tuple(self._kept(hit, place) for place, hit in enumerate(found, 1))
            trace = self._trace(
                call,
                ended,
                hits=kept,
                score_kind=score_kind,
                stage=stage if stage is not None else stage_of(found),
                splitter=splitter if splitter is not None else common_splitter(found),
                sample_rate=self._rate if self._rate < 1.0 else None,
            )
            if not self._direction_doubted:
                self._doubt_direction(trace)
        except Exception as error:
            self._failed("hits", error)
            return None
        return self._write(trace)

    def fail(self, call: Call, error: BaseException) -> None:
        """End a retrieval that raised, or was cancelled; it is recorded whatever the sample rate.

        A failure is kept for certain, so its record carries no sample rate.
        """
        ended = self._now()
        try:
            reason = TraceError(type=type(error).__name__, message=message_of(error))
            trace = self._trace(call, ended, hits=(), error=reason)
        except Exception as failure:
            self._failed("fail", failure)
            return
        self._write(trace)

    def _call_metadata(self, *given: Mapping[str, Any] | None) -> dict[str, Any] | None:
        merged = dict(self._metadata) if self._metadata else {}
        for mapping in given:
            if mapping:
                merged.update(mapping)
        return merged or None

    def _kept(self, hit: Hit, place: int) -> TraceHit:
        text = text_of(hit.text) or ""
        return TraceHit(
            rank=hit.rank or place,
            chunk_id=text_of(hit.chunk_id) or "",
            doc_id=text_of(hit.doc_id),
            score=to_number(hit.score),
            # Cut before anything else is done with it: a text may be megabytes.
            snippet=text[: self._snippet_length],
            chunk_index=hit.chunk_index,
            start=hit.start,
            end=hit.end,
            heading_path=hit.heading_path or None,
            length=len(text) if text else None,
            doc_version=hit.doc_version,
            text=text if self._keep_text else None,
            merged_ids=hit.merged_ids or None,
            metadata=self._hit_metadata(hit.metadata) if self._metadata_keys else None,
        )

    def _hit_metadata(self, metadata: Mapping[str, Any]) -> dict[str, Any] | None:
        if self._metadata_keys == "*":
            return limit_metadata(metadata, self._metadata_limit)
        chosen = {key: value for key, value in metadata.items() if key in self._metadata_keys}
        return limit_metadata(chosen, self._metadata_limit)

    def _trace(self, call: Call, ended: float, **fields: Any) -> Trace:
        return Trace(
            id=call.id,
            ts=call.ts,
            query=call.query,
            top_k=call.top_k,
            latency_ms=round((ended - call.started) * 1000, 4),
            question_id=call.question_id,
            retriever=call.retriever,
            run=call.run,
            trace_id=call.trace_id,
            parent_id=call.parent_id,
            session_id=call.session_id,
            tags=call.tags or None,
            metadata=limit_metadata(call.metadata, self._metadata_limit) if call.metadata else None,
            **fields,
        )

    def _write(self, trace: Trace) -> Trace | None:
        if self._redact is not None:
            try:
                redacted = self._redact(trace)
                if redacted is not None and not isinstance(redacted, Trace):
                    raise TypeError(
                        f"redact returned {type(redacted).__name__}: return a Trace or None"
                    )
            except Exception as error:
                self._failed("redact", error)
                return None
            if redacted is None:
                self.writer.failures.note("redacted")
                return None
            trace = redacted
        return trace if self.writer.write(trace) else None

    def _doubt_direction(self, trace: Trace) -> None:
        doubt = check_direction(trace)
        if doubt is not None:
            self._direction_doubted = True
            warn("%s: %s", trace.retriever or "a retriever", doubt)

    def _now(self) -> float:
        try:
            return self._timer()
        except Exception as error:
            self._failed("timer", error)
            return 0.0

    def _failed(self, kind: str, error: Exception) -> None:
        self.writer.failures.note(kind, error)
        if self.strict:
            raise error

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tracer":
        return self  # it holds settings and the one writer of its file


def as_tracer(
    sink: Tracer | TraceWriter | str | os.PathLike[str], options: TracerOptions
) -> Tracer:
    """Return the tracer given, or make one for a writer or a path.

    Raises `ValueError` for options beside a tracer, which has its own.
    """
    if not isinstance(sink, Tracer):
        return Tracer(sink, **options)
    if options:
        raise ValueError(f"give {', '.join(options)} to the Tracer itself, not beside it")
    return sink
