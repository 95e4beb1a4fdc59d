"""The wrapper is not noticed by anything around it or inside it, and records every call."""

import asyncio
import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore

from ragtrace.langchain import TracedRetriever
from ragtrace.tracing import Tracer, TraceWriter, read_traces, trace_context

Lines = Callable[[], list[dict[str, Any]]]


class Events(BaseCallbackHandler):
    run_inline = True

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.tags: list[list[str]] = []
        self.metadata: list[dict[str, Any]] = []

    def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append(f"start {kwargs['name']}")
        self.tags.append(kwargs["tags"])
        self.metadata.append(kwargs["metadata"])

    def on_retriever_end(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append("end")

    def on_retriever_error(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append("error")


class SlowRetriever(BaseRetriever):
    """Answers after a while; its asynchronous method is its own."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise AssertionError("the asynchronous method must be used")

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(0.001 if query == "quick" else 30)
        return [Document(page_content=query, id=f"thread {threading.get_ident()}")]


class FailingRetriever(BaseRetriever):
    failures: int
    error: BaseException = LookupError("index is gone")

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if self.failures > 0:
            self.failures -= 1
            raise self.error
        return [Document(page_content="found", id="a#c0")]


def chunk_ids(line: dict[str, Any]) -> list[str]:
    return [hit["chunk_id"] for hit in line["hits"]]


def test_one_pair_of_events_whatever_is_inside(store: InMemoryVectorStore, path: Path) -> None:
    plain = RunnableLambda(lambda query: [Document(page_content=query, id="x")])
    for base, name in (
        (store.as_retriever(), "VectorStoreRetriever"),
        (store.as_retriever().with_config(tags=["bound"]), "VectorStoreRetriever"),
        (plain, "TracedRetriever"),
    ):
        events = Events()
        TracedRetriever(base, path).invoke("timeout", {"callbacks": [events]})
        assert events.seen == [f"start {name}", "end"]


async def test_one_pair_of_events_in_async_calls(store: InMemoryVectorStore, path: Path) -> None:
    plain = RunnableLambda(lambda query: [Document(page_content=query, id="x")])
    for base in (store.as_retriever(), plain):
        events = Events()
        await TracedRetriever(base, path).ainvoke("timeout", {"callbacks": [events]})
        assert events.seen[1:] == ["end"]


async def test_event_streams_show_one_retriever(store: InMemoryVectorStore, path: Path) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 1}), path)
    events = [event["event"] async for event in traced.astream_events("timeout", version="v2")]
    assert events == ["on_retriever_start", "on_retriever_end"]


def test_tags_and_metadata_reach_the_events(store: InMemoryVectorStore, path: Path) -> None:
    events = Events()
    TracedRetriever(store.as_retriever(), path).invoke(
        "timeout", {"callbacks": [events], "tags": ["mine"], "metadata": {"user": 7}}
    )
    assert "mine" in events.tags[0]
    assert events.metadata[0]["user"] == 7
    assert events.metadata[0]["ls_vector_store_provider"] == "InMemoryVectorStore"
    assert events.metadata[0]["ls_embedding_provider"] == "WordEmbeddings"


def test_k_is_found_wherever_it_is_set(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 3}), path)
    traced.invoke("timeout")
    traced.invoke("timeout", k=1)
    traced.search_kwargs["k"] = 2
    traced.invoke("timeout")
    traced.search_kwargs = {"k": 5}
    traced.invoke("timeout")
    TracedRetriever(store.as_retriever(), path).invoke("timeout")
    assert [(line["top_k"], len(line["hits"])) for line in lines()] == [
        (3, 3), (1, 1), (2, 2), (5, 5), (4, 4),
    ]  # fmt: skip


def test_configurable_fields_reach_the_retriever_inside(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    base = store.as_retriever(search_kwargs={"k": 3}).configurable_fields(
        search_kwargs=ConfigurableField(id="search")
    )
    config: Any = {"configurable": {"search": {"k": 1}}}
    traced = TracedRetriever(base, path)
    assert len(traced.invoke("timeout", config)) == 1
    assert len((RunnablePassthrough() | traced).invoke("timeout", config)) == 1
    assert len(traced.invoke("timeout")) == 3
    assert [line["top_k"] for line in lines()] == [1, 1, 3]
    assert all(hit["score"] is not None for line in lines() for hit in line["hits"])


def test_the_wrapper_itself_can_be_configurable(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 1}), path, run="r1")
    other = store.as_retriever(search_kwargs={"k": 2})
    configurable = traced.configurable_fields(base_retriever=ConfigurableField(id="base"))
    assert len(configurable.invoke("timeout")) == 1
    assert len(configurable.invoke("timeout", {"configurable": {"base": other}})) == 2
    assert [(line["run"], line["top_k"]) for line in lines()] == [("r1", 1), ("r1", 2)]


def test_a_wrong_configuration_fails_as_without_the_wrapper(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    base = store.as_retriever().configurable_alternatives(
        ConfigurableField(id="which"), other=store.as_retriever()
    )
    with pytest.raises(ValueError, match="Unknown alternative"):
        TracedRetriever(base, path).invoke("q", {"configurable": {"which": "missing"}})
    assert lines()[0]["error"]["type"] == "ValueError"


def test_it_works_in_a_chain_a_batch_and_a_tool(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 2}), path)
    chain = (
        {
            "context": traced | (lambda documents: documents[0].page_content),
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("{context} {question}")
        | FakeListChatModel(responses=["five seconds"])
        | StrOutputParser()
    )
    assert chain.invoke("How long is a timeout?") == "five seconds"
    questions = [f"timeout {number}" for number in range(8)]
    answers = traced.batch(questions, {"max_concurrency": 4})
    assert [len(answer) for answer in answers] == [2] * 8
    tool = create_retriever_tool(traced, "search", "Find.", response_format="content_and_artifact")
    message = tool.invoke(
        {"args": {"query": "keys"}, "id": "1", "name": "search", "type": "tool_call"}
    )
    assert message.artifact[0].id == "guide.md#c2"
    written = lines()
    assert len(written) == 10
    assert {line["query"] for line in written} == {"How long is a timeout?", "keys", *questions}
    assert len({line["id"] for line in written}) == 10


async def test_it_works_in_async_chains(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 2}), path)
    chain = RunnablePassthrough() | traced | RunnableLambda(len)
    assert await asyncio.gather(*(chain.ainvoke(f"q{n}") for n in range(20))) == [2] * 20
    assert await traced.abatch(["a", "b"]) == traced.batch(["a", "b"])
    assert [len(d) async for d in traced.astream("timeout")] == [2]
    assert sorted(line["query"] for line in lines())[:4] == ["a", "a", "b", "b"]
    assert len(lines()) == 25


async def test_a_native_async_retriever_stays_on_its_loop(path: Path, lines: Lines) -> None:
    (document,) = await TracedRetriever(SlowRetriever(), path).ainvoke("quick")
    assert document.id == f"thread {threading.get_ident()}"
    assert lines()[0]["latency_ms"] >= 1


async def test_cancellation_is_recorded(path: Path, lines: Lines) -> None:
    traced = TracedRetriever(SlowRetriever(), path)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(traced.ainvoke("slow"), 0.01)
    task = asyncio.create_task(traced.ainvoke("slow again"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(line["query"], line["error"]["type"]) for line in lines()] == [
        ("slow", "CancelledError"),
        ("slow again", "CancelledError"),
    ]


@pytest.mark.parametrize("error", [LookupError("gone"), KeyboardInterrupt(), SystemExit(3)])
def test_every_kind_of_failure_is_recorded_and_raised(
    path: Path, lines: Lines, error: BaseException
) -> None:
    traced = TracedRetriever(FailingRetriever(failures=1, error=error), path)
    with pytest.raises(type(error)) as caught:
        traced.invoke("q")
    assert caught.value is error
    assert lines()[0]["error"]["type"] == type(error).__name__


def test_a_retry_is_a_record_for_each_attempt(path: Path, lines: Lines) -> None:
    traced = TracedRetriever(FailingRetriever(failures=2), path)
    patient = traced.with_retry(wait_exponential_jitter=False, stop_after_attempt=3)
    assert patient.invoke("q")[0].page_content == "found"
    assert ["error" in line for line in lines()] == [True, True, False]


def test_fallbacks_and_bound_configuration_work(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    events = Events()
    failing = TracedRetriever(FailingRetriever(failures=9), path)
    retriever = failing.with_fallbacks([TracedRetriever(store.as_retriever(), path)])
    bound = retriever.with_config(tags=["outer"], callbacks=[events])
    assert len(bound.invoke("timeout")) == 4
    assert ["error" in line for line in lines()] == [True, False]
    assert all("outer" in tags for tags in events.tags)


def test_copies_write_to_the_same_file(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(
        RunnableLambda(answer_with_one), path, run="r", sample_rate=1.0, tags=["a"]
    )
    for twin in (
        copy.copy(traced),
        copy.deepcopy(traced),
        traced.model_copy(),
        pickle.loads(pickle.dumps(traced)),
    ):
        assert twin.invoke("q")[0].id == "one"
    assert [(line["run"], line["tags"]) for line in lines()] == [("r", ["a"])] * 4


def answer_with_one(query: str) -> list[Document]:
    return [Document(page_content=query, id="one")]


def test_what_comes_back_is_untouched(path: Path) -> None:
    document = Document(page_content="text", metadata={"a": {"b": 1}}, id="x")
    answer = [document]
    traced = TracedRetriever(RunnableLambda(lambda query: answer), path, metadata_keys="*")
    assert traced.invoke("q") is answer
    assert answer == [Document(page_content="text", metadata={"a": {"b": 1}}, id="x")]
    assert answer[0] is document


def test_no_document_is_kept_alive(path: Path) -> None:
    traced = TracedRetriever(
        RunnableLambda(lambda query: [Document(page_content=query, id="x")]), path
    )
    reference = weakref.ref(traced.invoke("q")[0])
    gc.collect()
    assert reference() is None


def test_whatever_the_retriever_has_is_reached_through_the_wrapper(
    store: InMemoryVectorStore, path: Path
) -> None:
    base = store.as_retriever()
    traced = TracedRetriever(base, path)
    assert traced.vectorstore is store
    traced.add_documents([Document(page_content="Quotas reset daily.", id="new")])
    assert traced.invoke("quotas reset", k=1)[0].id == "new"
    traced.search_type = "mmr"
    assert base.search_type == "mmr"
    assert not hasattr(traced, "no_such_attribute")
    with pytest.raises(AttributeError, match="no_such_attribute"):
        _ = traced.no_such_attribute


def test_labels_come_from_the_call_and_from_its_surroundings(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(), path, name="docs", tags=["blue"])
    traced.invoke("a", {"metadata": {"question_id": "q1", "thread_id": 12}})
    with trace_context(question_id="q2", run="nightly"):
        traced.invoke("b")
    run_id = uuid4()
    traced.invoke("c", run_id=run_id)
    (RunnablePassthrough() | traced).invoke("d", {"metadata": {"session_id": "s"}})
    first, second, third, fourth = lines()
    assert (first["question_id"], first["session_id"]) == ("q1", "12")
    assert (first["retriever"], first["tags"]) == ("docs", ["blue"])
    assert (second["question_id"], second["run"]) == ("q2", "nightly")
    assert third["id"] == run_id.hex
    assert fourth["session_id"] == "s"


def test_a_wrapper_inside_a_wrapper_is_its_child(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    TracedRetriever(TracedRetriever(store.as_retriever(), path), path).invoke("timeout")
    inner, outer = lines()
    assert inner["parent_id"] == outer["id"]
    assert "parent_id" not in outer


def test_a_tracer_is_shared_by_several_wrappers(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    tracer = Tracer(TraceWriter(path), run="shared", strict=True)
    for k in (1, 2):
        TracedRetriever(store.as_retriever(search_kwargs={"k": k}), tracer).invoke("q")
    assert [(line["run"], line["top_k"]) for line in lines()] == [("shared", 1), ("shared", 2)]
    with pytest.raises(ValueError, match="sample_rate"):
        TracedRetriever(store.as_retriever(), tracer, sample_rate=0.5)
    with pytest.raises(ValueError, match="sample_rate"):
        TracedRetriever(store.as_retriever(), tracer=tracer, sample_rate=0.5)


def test_what_is_no_runnable_is_refused_in_one_line(path: Path) -> None:
    with pytest.raises(ValueError, match="base_retriever is a list"):
        TracedRetriever([], path)  # type: ignore[arg-type]


def test_answers_that_are_no_documents_are_returned_and_counted(path: Path, lines: Lines) -> None:
    writer = TraceWriter(path)
    traced = TracedRetriever(RunnableLambda(lambda query: {"no": "documents"}), writer)
    assert traced.invoke("q") == {"no": "documents"}
    assert lines() == []
    assert sum(writer.stats.dropped.values()) == 1


def test_a_sampled_out_call_records_nothing_and_a_sample_is_the_same_every_time(
    store: InMemoryVectorStore, path: Path
) -> None:
    traced = TracedRetriever(store.as_retriever(), path, sample_rate=0.5, sample_by="query")
    for _ in range(2):
        for number in range(20):
            traced.invoke(f"q{number}")
    kept = [trace.query for trace in read_traces(path)]
    assert kept[: len(kept) // 2] == kept[len(kept) // 2 :]
    assert 0 < len(kept) < 40


def test_many_threads_write_whole_lines(store: InMemoryVectorStore, path: Path) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 2}), path)
    threads = [
        threading.Thread(target=lambda n=n: [traced.invoke(f"{n} {i}") for i in range(10)])
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    traces = list(read_traces(path, strict=True))
    assert len({trace.query for trace in traces}) == 80
    assert all(hit.score is not None for trace in traces for hit in trace.hits)
