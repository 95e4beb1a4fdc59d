"""The policy of tracing: what is kept, under which id, and what never gets out."""

import copy
import inspect
import itertools
import logging
import pickle
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from ragtrace.tracing import (
    FoundHits,
    Hit,
    Trace,
    Tracer,
    TracerOptions,
    TraceWriter,
    as_tracer,
    drop_snippets,
    hash_query,
    read_traces,
    trace_context,
    tracing_in_progress,
)
from ragtrace.tracing.fields import limit_metadata
from ragtrace.tracing.sampling import is_sampled
from tests.tracing.records import ID, make_hits, make_trace, make_trace_hit, strict_lines


def make_tracer(path: Path, **options: Any) -> Tracer:
    ids = (f"{number:032x}" for number in itertools.count(1))
    ticks = itertools.count(10.0, 0.5)
    given: dict[str, Any] = {
        "clock": lambda: 1000.0,
        "timer": lambda: next(ticks),
        "new_id": lambda: next(ids),
        "strict": True,
    }
    return Tracer(path / "t.jsonl", **given | options)


def record(tracer: Tracer, query: Any = "q", hits: Any = (), **fields: Any) -> Trace | None:
    return tracer.finish(tracer.start(query, **fields), lambda: hits)


def only_line(tracer: Tracer) -> dict[str, Any]:
    (line,) = strict_lines(tracer.writer.path)
    assert isinstance(line, dict)
    return line


def test_with_its_clock_and_ids_given_a_trace_is_exact(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, run="nightly", tags=("a",), metadata={"model": "m"})
    call = tracer.start("how long?", top_k=3, retriever="BM25", question_id="q7", tags=("b", "a"))
    hit = Hit(
        chunk_id="guide#c4", doc_id="guide", text="Five seconds.", score=0.5, rank=1, chunk_index=4,
        start=40, end=53, heading_path=("Guide", "Time"), doc_version="2",
        metadata={"splitter": "s:1", "secret": "x"},
    )  # fmt: skip
    trace = tracer.finish(call, lambda: [hit], score_kind="similarity")
    assert only_line(tracer) == {
        "schema": "ragtrace/1",
        "id": "00000000000000000000000000000001",
        "ts": 1000.0,
        "query": "how long?",
        "top_k": 3,
        "hits": [
            {
                "rank": 1,
                "chunk_id": "guide#c4",
                "doc_id": "guide",
                "score": 0.5,
                "snippet": "Five seconds.",
                "chunk_index": 4,
                "start": 40,
                "end": 53,
                "heading_path": ["Guide", "Time"],
                "length": 13,
                "doc_version": "2",
            }
        ],
        "latency_ms": 500.0,
        "question_id": "q7",
        "score_kind": "similarity",
        "retriever": "BM25",
        "run": "nightly",
        "splitter": "s:1",
        "tags": ["a", "b"],
        "metadata": {"model": "m"},
    }
    assert list(read_traces(tracer.writer.path)) == [trace]


def test_ranks_are_counted_where_the_hits_have_none(tmp_path: Path) -> None:
    trace = record(make_tracer(tmp_path), hits=[Hit(chunk_id="a"), Hit(chunk_id="b")])
    assert trace is not None
    assert [hit.rank for hit in trace.hits] == [1, 2]


def test_snippets_are_cut_and_whole_texts_kept_only_on_demand(tmp_path: Path) -> None:
    hits = [Hit(chunk_id="a", text="x" * 500)]
    plain = record(make_tracer(tmp_path), hits=hits)
    short = record(make_tracer(tmp_path, snippet_length=3, keep_text=True), hits=hits)
    assert plain is not None
    assert short is not None
    assert (len(plain.hits[0].snippet), plain.hits[0].text, plain.hits[0].length) == (
        200,
        None,
        500,
    )
    assert (short.hits[0].snippet, short.hits[0].text) == ("xxx", "x" * 500)


def test_metadata_is_kept_by_name_only_and_up_to_its_limit(tmp_path: Path) -> None:
    hits = [Hit(chunk_id="a", metadata={"page": np.int64(3), "secret": "s", "big": "x" * 5000})]
    none = record(make_tracer(tmp_path), hits=hits)
    named = record(make_tracer(tmp_path, metadata_keys=["page", "absent"]), hits=hits)
    every = record(make_tracer(tmp_path, metadata_keys="*"), hits=hits)
    large = record(make_tracer(tmp_path, metadata_keys="*", metadata_limit=10_000), hits=hits)
    assert [trace.hits[0].metadata for trace in (none, named, every, large) if trace] == [
        None,
        {"page": 3},
        {"page": 3, "secret": "s"},
        {"page": 3, "secret": "s", "big": "x" * 5000},
    ]


@pytest.mark.parametrize("limit", range(0, 60, 3))
def test_limited_metadata_is_never_longer_than_its_limit(limit: int) -> None:
    metadata = {"a": 1, "bb": "x" * 10, "c": [1, 2], "d\u00e9": "\ud800"}
    kept = limit_metadata(metadata, limit)
    assert kept is None or len(msgspec.json.encode(kept)) <= limit
    assert limit_metadata(metadata, 1000) == {**metadata, "d\u00e9": "\ufffd"}


def test_the_splitter_is_named_when_all_hits_agree(tmp_path: Path) -> None:
    def splitter_of(*names: str | None) -> str | None:
        hits = [
            Hit(chunk_id=str(place), metadata={} if name is None else {"splitter": name})
            for place, name in enumerate(names)
        ]
        trace = record(make_tracer(tmp_path), hits=hits)
        assert trace is not None
        return trace.splitter

    assert splitter_of("s:1", "s:1") == "s:1"
    assert splitter_of("s:1", "s:2") is None
    assert splitter_of("s:1", None) is None
    assert splitter_of() is None


def test_odd_values_from_a_caller_still_make_a_valid_line(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path)
    odd: Any = Hit
    hits = [odd(chunk_id=7, doc_id=uuid.UUID(int=1), text=None, score=np.float32(0.25), rank=1)]
    record(tracer, query=b"bytes", hits=hits, top_k=np.int64(3), session_id=uuid.UUID(int=2))
    (trace,) = read_traces(tracer.writer.path, strict=True)
    assert (trace.query, trace.top_k) == ("b'bytes'", 3)
    assert trace.session_id == "00000000-0000-0000-0000-000000000002"
    assert (trace.hits[0].chunk_id, trace.hits[0].score) == ("7", 0.25)


def test_a_k_that_is_no_number_is_unknown(tmp_path: Path) -> None:
    not_a_number: Any = "many"
    trace = record(make_tracer(tmp_path), top_k=not_a_number)
    assert trace is not None
    assert trace.top_k is None


def test_ids_of_frameworks_become_32_digits_that_stay_linked(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path)
    run = uuid.UUID(int=5)
    outer = record(tracer, id=run)
    inner = record(tracer, id="Retriever.retrieve-" + str(run), parent_id=str(run))
    assert outer is not None
    assert inner is not None
    assert (outer.id, inner.parent_id) == (run.hex, run.hex)
    assert len(inner.id) == 32
    again = record(tracer, id="Retriever.retrieve-" + str(run))
    assert again is not None
    assert again.id == inner.id


# Sampling


def test_sampling_keeps_its_share_and_the_same_calls_everywhere() -> None:
    ids = [f"{number:032x}" for number in range(20_000)]
    kept = [key for key in ids if is_sampled(key, 0.25)]
    assert 0.24 < len(kept) / len(ids) < 0.26
    assert all(is_sampled(key, 0.5) for key in kept)  # a larger share holds the smaller one
    code = "import sys; from ragtrace.tracing.sampling import is_sampled\n"
    code += "print(sum(is_sampled(f'{n:032x}', 0.25) for n in range(20_000)))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(out.stdout) == len(kept)


def test_uuids_are_sampled_by_their_share_too() -> None:
    ids = [uuid.uuid5(uuid.NAMESPACE_DNS, str(number)).hex for number in range(5000)]
    assert 0.47 < sum(is_sampled(key, 0.5) for key in ids) / len(ids) < 0.53


def test_the_rate_is_recorded_where_there_is_one(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, sample_rate=0.5)
    kept = [trace for trace in (record(tracer) for _ in range(200)) if trace]
    assert {trace.sample_rate for trace in kept} == {0.5}
    assert 60 < len(kept) < 140
    whole = record(make_tracer(tmp_path))
    assert whole is not None
    assert whole.sample_rate is None


def test_sampling_by_query_keeps_all_calls_of_a_query_or_none(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, sample_rate=0.5, sample_by="query")
    kept = {query: [bool(record(tracer, query)) for _ in range(4)] for query in "abcdefgh"}
    assert all(len(set(calls)) == 1 for calls in kept.values())
    assert len({calls[0] for calls in kept.values()}) == 2


def test_hits_of_a_call_that_is_not_sampled_are_never_read(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, sample_rate=0.0)

    def read() -> list[Hit]:
        raise AssertionError("read for nothing")

    assert tracer.finish(tracer.start("q"), read) is None
    assert tracer.writer.stats.dropped == {}


def test_failures_are_kept_whatever_the_rate_and_count_for_one(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, sample_rate=0.0)
    tracer.fail(tracer.start("q"), LookupError("gone \ud800"))
    line = only_line(tracer)
    assert line["error"] == {"type": "LookupError", "message": "gone \ufffd"}
    assert line["hits"] == []
    assert "sample_rate" not in line


def test_a_child_is_kept_exactly_if_its_parent_is(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, sample_rate=0.5)
    for _ in range(50):
        parent = tracer.start("outer")
        with tracing_in_progress(parent):
            child = tracer.start("inner")
        named = tracer.start("inner", parent=parent)
        assert child.sampled == named.sampled == parent.sampled
        assert child.parent_id == named.parent_id == parent.id
    assert tracer.start("other").parent_id is None


def test_a_merged_record_with_the_id_of_the_retrieved_one_is_kept_with_it(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, sample_rate=0.5)
    for _ in range(50):
        retrieved = tracer.start("q")
        assert tracer.start("q", id=retrieved.id).sampled == retrieved.sampled


# Redaction


def test_redaction_comes_before_writing(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, redact=hash_query)
    trace = record(tracer, "my secret", hits=make_hits(1))
    raw = tracer.writer.path.read_bytes()
    assert b"secret" not in raw
    assert trace is not None
    assert trace.query.startswith("blake2b:")
    assert trace.query == getattr(record(tracer, "my secret"), "query", None)


def test_dropped_snippets_leave_ids_and_offsets() -> None:
    hit = make_trace_hit(text="whole", metadata={"a": 1}, start=4, end=9)
    (bare,) = drop_snippets(make_trace(hits=(hit,))).hits
    assert (bare.snippet, bare.text, bare.metadata) == ("", None, None)
    assert (bare.chunk_id, bare.start, bare.end, bare.score) == ("guide#c0", 4, 9, 0.5)


def test_a_redact_hook_may_leave_a_trace_out(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, redact=lambda trace: None)
    assert record(tracer) is None
    assert tracer.writer.stats.dropped == {"redacted": 1}
    assert not tracer.writer.path.exists()


def test_failures_are_redacted_as_well(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, redact=hash_query)
    tracer.fail(tracer.start("my secret"), ValueError("x"))
    assert b"secret" not in tracer.writer.path.read_bytes()


@pytest.mark.parametrize("answer", [{"query": "q"}, "text", 7])
def test_a_redact_hook_that_fails_lets_nothing_through(tmp_path: Path, answer: Any) -> None:
    def fail(trace: Trace) -> Trace:
        raise RuntimeError("no")

    for redact in (fail, lambda trace: answer):
        tracer = make_tracer(tmp_path, redact=redact, strict=False)
        assert record(tracer, "my secret") is None
        assert tracer.writer.stats.dropped == {"redact": 1}
        assert not tracer.writer.path.exists()
        with pytest.raises((RuntimeError, TypeError)):
            record(make_tracer(tmp_path, redact=redact))


# Guard


def broken(*_: Any) -> Any:
    raise RuntimeError("broken")


@pytest.mark.parametrize(
    ("options", "kind"), [({"clock": broken}, "start"), ({"new_id": broken}, "start")]
)
def test_a_broken_clock_or_id_costs_the_trace_only(
    tmp_path: Path, options: dict[str, Any], kind: str
) -> None:
    tracer = make_tracer(tmp_path, strict=False, **options)
    call = tracer.start("q")
    assert tracer.finish(call, list) is None
    assert tracer.writer.stats.dropped == {kind: 1}
    with pytest.raises(RuntimeError, match="broken"):
        make_tracer(tmp_path, **options).start("q")


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_a_query_without_a_text_costs_the_trace_only(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, strict=False)
    assert record(tracer, Unprintable()) is None
    assert tracer.writer.stats.dropped == {"start": 1}


def test_hits_that_cannot_be_read_cost_the_trace_only(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, strict=False)
    assert tracer.finish(tracer.start("q"), broken) is None
    assert record(tracer, hits=[object()]) is None
    assert tracer.writer.stats.dropped == {"hits": 2}
    with pytest.raises(RuntimeError, match="broken"):
        make_tracer(tmp_path).finish(tracer.start("q"), broken)


def test_an_error_without_a_message_is_recorded(tmp_path: Path) -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no message")

    tracer = make_tracer(tmp_path)
    tracer.fail(tracer.start("q"), SilentError())
    assert only_line(tracer)["error"] == {"type": "SilentError", "message": ""}


def test_scores_that_run_backwards_are_doubted_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tracer = make_tracer(tmp_path)
    hits = [Hit(chunk_id=str(place), score=place / 10) for place in range(5)]
    with caplog.at_level(logging.WARNING, "ragtrace"):
        for _ in range(3):
            call = tracer.start("q", retriever="FAISS")
            tracer.finish(call, lambda: FoundHits(hits, "similarity"))
    assert [entry.message for entry in caplog.records] == [
        "FAISS: scores rise with rank although they are called a similarity: is this a distance?"
    ]
    assert tracer.writer.stats.dropped == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_rate": 1.5}, "sample_rate is 1.5"),
        ({"sample_rate": -0.1}, "sample_rate is -0.1"),
        ({"sample_by": "user"}, "sample_by is 'user'"),
        ({"snippet_length": -1}, "cannot be negative"),
    ],
)
def test_impossible_options_are_refused_at_once(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Tracer(tmp_path / "t.jsonl", **options)


def test_a_tracer_is_taken_as_it_is_and_not_told_twice(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path / "t.jsonl")
    assert as_tracer(tracer, {}) is tracer
    with pytest.raises(ValueError, match="give run, sample_rate to the Tracer"):
        as_tracer(tracer, {"run": "x", "sample_rate": 0.5})
    writer = TraceWriter(tmp_path / "u.jsonl")
    assert as_tracer(writer, {"run": "x"}).writer is writer


def test_wrappers_pass_on_every_option_there_is() -> None:
    parameters = inspect.signature(Tracer).parameters
    assert list(TracerOptions.__annotations__) == [name for name in parameters if name != "sink"]


def test_copies_share_the_tracer_and_pickles_write_the_same_file(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path / "t.jsonl", run="r", redact=hash_query, strict=True)
    assert copy.deepcopy({"tracer": tracer})["tracer"] is tracer
    record(tracer, "q")
    record(pickle.loads(pickle.dumps(tracer)), "q")
    first, second = strict_lines(tracer.writer.path)
    assert (first["run"], first["query"]) == (second["run"], second["query"])


# Context


def test_a_context_labels_what_is_retrieved_inside(tmp_path: Path) -> None:
    tracer = make_tracer(tmp_path, run="default", tags="t", metadata={"a": 1})
    with trace_context(run="nightly", session_id="s", tags=("x",), metadata={"b": 2}):
        with trace_context(question_id="q7", trace_id=ID, tags=("y",), metadata={"b": 3}):
            inner = record(tracer)
        outer = record(tracer, session_id="own")
    after = record(tracer)
    assert inner is not None
    assert outer is not None
    assert after is not None
    assert (inner.run, inner.question_id, inner.session_id) == ("nightly", "q7", "s")
    assert (inner.tags, inner.metadata, inner.trace_id) == (("t", "x", "y"), {"a": 1, "b": 3}, ID)
    assert (outer.run, outer.question_id, outer.session_id) == ("nightly", None, "own")
    assert (outer.tags, outer.metadata) == (("t", "x"), {"a": 1, "b": 2})
    assert (after.run, after.tags, after.trace_id) == ("default", ("t",), None)


def test_the_trace_of_opentelemetry_is_taken_over_where_there_is_one(tmp_path: Path) -> None:
    api = pytest.importorskip("opentelemetry.trace")
    tracer = make_tracer(tmp_path)
    span = api.NonRecordingSpan(api.SpanContext(int(ID, 16), 7, is_remote=False))
    with api.use_span(span):
        inside = record(tracer)
    outside = record(tracer)
    assert inside is not None
    assert outside is not None
    assert (inside.trace_id, outside.trace_id) == (ID, None)
