"""What comes back is what the base returned; the trace is beside it, or it is missing."""

import asyncio
import copy
import gc
import pickle
import threading
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import pytest

from ragtrace.tracing import (
    Hit,
    TracedRetriever,
    Tracer,
    TraceWriter,
    hits_from_chroma,
    read_traces,
)
from tests.tracing.records import strict_lines


class Index:
    """A small index of the plainest kind."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.asked: list[tuple[str, int]] = []

    def search(self, query: str, top_k: int) -> list[dict[str, Any]]:
        self.asked.append((query, top_k))
        if self.error is not None:
            raise self.error
        return [{"id": f"a#c{n}", "text": f"Text {n}", "score": 1.0 - n} for n in range(top_k)]


def test_an_object_with_search_is_traced(tmp_path: Path) -> None:
    index = Index()
    retriever = TracedRetriever(index, tmp_path / "t.jsonl", run="r", strict=True)
    results = retriever.retrieve("q", top_k=2)
    assert results == Index().search("q", 2)
    assert index.asked == [("q", 2)]
    (trace,) = read_traces(tmp_path / "t.jsonl", strict=True)
    assert (trace.query, trace.top_k, trace.retriever, trace.run) == ("q", 2, "Index", "r")
    assert [(hit.chunk_id, hit.score) for hit in trace.hits] == [("a#c0", 1.0), ("a#c1", 0.0)]


def test_the_very_object_comes_back_whatever_it_is(tmp_path: Path) -> None:
    for results in ([], ["text"], None, {"ids": 1}, iter(["text"]), 7, "text"):
        given: Any = results
        traced = TracedRetriever(lambda query, top_k, given=given: given, tmp_path / "t.jsonl")
        assert traced.retrieve("q") is given


def test_an_iterator_is_not_used_up_for_the_trace(tmp_path: Path) -> None:
    retriever = TracedRetriever(lambda query, top_k: iter(["a", "b"]), tmp_path / "t.jsonl")
    assert list(retriever.retrieve("q")) == ["a", "b"]
    assert retriever.tracer.writer.stats.dropped == {"hits": 1}


def test_a_mapping_function_reads_raw_responses(tmp_path: Path) -> None:
    response = {"ids": [["a#c0"]], "documents": [["Hello"]], "distances": [[0.25]]}
    retriever = TracedRetriever(
        lambda query, top_k: response, tmp_path / "t.jsonl", to_hits=hits_from_chroma, strict=True
    )
    assert retriever.retrieve("q") is response
    (trace,) = read_traces(tmp_path / "t.jsonl")
    assert (trace.score_kind, trace.hits[0].snippet, trace.hits[0].score) == (
        "distance", "Hello", 0.25,
    )  # fmt: skip


def test_a_named_score_kind_wins(tmp_path: Path) -> None:
    retriever = TracedRetriever(
        Index(), tmp_path / "t.jsonl", score_kind="relevance", name="mine", strict=True
    )
    retriever.retrieve("q")
    (trace,) = read_traces(tmp_path / "t.jsonl")
    assert (trace.score_kind, trace.retriever) == ("relevance", "mine")


@pytest.mark.parametrize("error", [LookupError("gone"), KeyboardInterrupt(), SystemExit(3)])
def test_an_error_is_recorded_and_raised_as_it_was(tmp_path: Path, error: BaseException) -> None:
    retriever = TracedRetriever(Index(error), tmp_path / "t.jsonl", sample_rate=0.0, strict=True)
    with pytest.raises(type(error)) as raised:
        retriever.retrieve("q")
    assert raised.value is error
    (line,) = strict_lines(tmp_path / "t.jsonl")
    assert line["error"]["type"] == type(error).__name__


def test_tracing_that_fails_everywhere_breaks_nothing(tmp_path: Path) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("broken")

    (tmp_path / "file").write_text("")
    index = Index()
    for options in (
        {"to_hits": broken}, {"redact": broken}, {"clock": broken}, {"timer": broken},
        {"new_id": broken}, {},
    ):  # fmt: skip
        given: dict[str, Any] = options
        retriever = TracedRetriever(index, tmp_path / "file" / "t.jsonl", **given)
        assert retriever.retrieve("q", 1) == [{"id": "a#c0", "text": "Text 0", "score": 1.0}]
        assert sum(retriever.tracer.writer.stats.dropped.values()) >= 1


def test_a_retriever_inside_a_retriever_is_its_child(tmp_path: Path) -> None:
    inner = TracedRetriever(Index(), tmp_path / "t.jsonl", strict=True)
    outer = TracedRetriever(inner.retrieve, tmp_path / "t.jsonl", strict=True)
    outer.retrieve("q")
    child, parent = read_traces(tmp_path / "t.jsonl")
    assert child.parent_id == parent.id
    assert parent.parent_id is None


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (7, "cannot trace a int"),
        (list, "must take \\(query, top_k\\)"),
        (lambda query: [], "must take \\(query, top_k\\)"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(base: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TracedRetriever(base)


def test_options_beside_a_tracer_are_refused(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path / "t.jsonl")
    assert TracedRetriever(Index(), tracer).tracer is tracer
    with pytest.raises(ValueError, match="give run to the Tracer"):
        TracedRetriever(Index(), tracer, run="x")


def test_copies_and_pickles_go_on_tracing(tmp_path: Path) -> None:
    retriever = TracedRetriever(Index(), tmp_path / "t.jsonl", strict=True)
    copy.deepcopy(retriever).retrieve("q")
    pickle.loads(pickle.dumps(retriever)).retrieve("q")
    assert len(strict_lines(tmp_path / "t.jsonl")) == 2


# Async


class AsyncIndex(Index):
    async def search(self, query: str, top_k: int) -> Any:
        await asyncio.sleep(0)
        return super().search(query, top_k)


async def test_an_async_base_is_awaited_and_a_sync_one_runs_beside(tmp_path: Path) -> None:
    for index in (AsyncIndex(), Index()):
        retriever = TracedRetriever(index, tmp_path / "t.jsonl", strict=True)
        assert await retriever.aretrieve("q", 1) == Index().search("q", 1)
    assert len(strict_lines(tmp_path / "t.jsonl")) == 2


def test_an_async_base_asked_without_await_says_so(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="await aretrieve"):
        TracedRetriever(AsyncIndex(), tmp_path / "t.jsonl").retrieve("q")


async def test_a_thousand_tasks_each_write_their_own_line(tmp_path: Path) -> None:
    retriever = TracedRetriever(AsyncIndex(), tmp_path / "t.jsonl", strict=True)
    await asyncio.gather(*(retriever.aretrieve(f"q{number}") for number in range(1000)))
    lines = strict_lines(tmp_path / "t.jsonl")
    assert {line["query"] for line in lines} == {f"q{number}" for number in range(1000)}
    assert len({line["id"] for line in lines}) == len(lines) == 1000
    assert all("parent_id" not in line for line in lines)


class SlowIndex:
    async def search(self, query: str, top_k: int) -> Any:
        await asyncio.sleep(60)


async def test_cancelled_and_timed_out_calls_are_recorded(tmp_path: Path) -> None:
    retriever = TracedRetriever(SlowIndex(), tmp_path / "t.jsonl", sample_rate=0.0, strict=True)
    task = asyncio.create_task(retriever.aretrieve("cancelled"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(retriever.aretrieve("late"), 0.01)
    lines = strict_lines(tmp_path / "t.jsonl")
    assert [(line["query"], line["error"]["type"]) for line in lines] == [
        ("cancelled", "CancelledError"),
        ("late", "CancelledError"),
    ]


# Nothing grows, nothing is held


class Document:
    def __init__(self, text: str) -> None:
        self.text = text
        self.metadata: dict[str, Any] = {"page": 1}


def test_documents_are_not_kept_alive(tmp_path: Path) -> None:
    retriever = TracedRetriever(
        lambda query, top_k: [Document("x")], tmp_path / "t.jsonl", metadata_keys="*", strict=True
    )
    results = retriever.retrieve("q")
    watch = weakref.ref(results[0])
    del results
    assert watch() is None


def growth(tmp_path: Path, calls: int) -> int:
    retriever = TracedRetriever(Index(), tmp_path / "t.jsonl", sample_rate=0.1, strict=True)
    index = retriever.base_retriever
    tracemalloc.start()
    try:
        for number in range(calls):
            if number == 500:
                gc.collect()  # empties the interpreter's own free lists
                before, _ = tracemalloc.get_traced_memory()
            retriever.retrieve("q", 1)
            index.asked.clear()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


def test_memory_does_not_grow_with_calls(tmp_path: Path) -> None:
    assert growth(tmp_path, 5_000) < 5_000


@pytest.mark.slow
def test_memory_does_not_grow_over_a_hundred_thousand_calls(tmp_path: Path) -> None:
    assert growth(tmp_path, 100_000) < 5_000


def test_no_thread_is_started(tmp_path: Path) -> None:
    before = threading.active_count()
    retriever = TracedRetriever(Index(), TraceWriter(tmp_path / "t.jsonl"))
    for _ in range(20):
        retriever.retrieve("q")
    assert threading.active_count() == before


def test_hits_are_read_from_results_of_the_usual_shapes(tmp_path: Path) -> None:
    class Node:
        node_id = "n"
        text = "Node text"
        metadata: dict[str, Any] = {"doc_id": "d"}  # noqa: RUF012  # read, never changed

    class Scored:
        node = Node()
        score = 0.5

    results = [
        Hit(chunk_id="h", text="Hit text", score=0.5),
        {"chunk_id": "d#c1", "page_content": "Text", "start": 4, "meta": {"doc_id": "d"}},
        ({"_id": 7, "body": "Text"}, 0.25),
        (0.25, Node()),
        Scored(),
        "Just text",
        {"id": "p", "payload": {"text": "Inside"}},
    ]
    retriever = TracedRetriever(lambda query, top_k: results, tmp_path / "t.jsonl", strict=True)
    assert retriever.retrieve("q") is results
    (trace,) = read_traces(tmp_path / "t.jsonl")
    assert [(hit.chunk_id, hit.doc_id, hit.score) for hit in trace.hits[:5]] == [
        ("h", None, 0.5), ("d#c1", "d", None), ("7", None, 0.25), ("n", "d", 0.25), ("n", "d", 0.5),
    ]  # fmt: skip
    assert (trace.hits[1].start, trace.hits[1].end) == (4, 8)
    assert trace.hits[5].snippet == "Just text"
    assert trace.hits[6].snippet == "Inside"
    assert [hit.rank for hit in trace.hits] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("results", [[object()], [(1, 2, 3)], "text", {"a": 1}, 7])
def test_results_of_no_known_shape_say_what_to_do(tmp_path: Path, results: Any) -> None:
    retriever = TracedRetriever(lambda query, top_k: results, tmp_path / "t.jsonl", strict=True)
    with pytest.raises(TypeError, match=r"to_hits=|return a list"):
        retriever.retrieve("q")
