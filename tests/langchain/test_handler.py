"""The handler records every retriever of a chain, linked to what it is part of, once."""

import asyncio
import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MultiQueryRetriever,
    ParentDocumentRetriever,
)
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.stores import InMemoryStore
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore

from ragtrace.langchain import (
    MergeAdjacentCompressor,
    MergingRetriever,
    TraceCallbackHandler,
    TracedRetriever,
    trace_retrieval,
)
from ragtrace.tracing import TraceWriter
from tests.langchain.test_retriever import FailingRetriever, SlowRetriever

Lines = Callable[[], list[dict[str, Any]]]


def roots(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if "parent_id" not in line]


def assert_one_root_with_children(lines: list[dict[str, Any]], children: int) -> dict[str, Any]:
    (root,) = roots(lines)
    assert [line["parent_id"] for line in lines if line is not root] == [root["id"]] * children
    assert {line["trace_id"] for line in lines} == {root["trace_id"]}
    return root


def test_an_ensemble_is_one_root_with_its_retrievers_below(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    parts = [store.as_retriever(search_kwargs={"k": k}) for k in (2, 3)]
    ensemble = EnsembleRetriever(retrievers=parts, weights=[0.5, 0.5])
    with trace_retrieval(path):
        answer = ensemble.invoke("timeout")
    root = assert_one_root_with_children(lines(), 2)
    assert root["retriever"] == "EnsembleRetriever"
    assert len(root["hits"]) == len(answer) == 3
    children = [line for line in lines() if line is not root and "parent_id" in line]
    assert ["retriever_1" in child["tags"] for child in children] == [True, False]


async def test_an_async_ensemble_is_linked_too(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    parts = [store.as_retriever(search_kwargs={"k": k}) for k in (2, 3)]
    ensemble = EnsembleRetriever(retrievers=parts, weights=[0.5, 0.5])
    with trace_retrieval(path):
        await asyncio.gather(*(ensemble.ainvoke(f"timeout {n}") for n in range(10)))
    written = lines()
    assert len(roots(written)) == 10
    by_id = {line["id"]: line for line in written}
    for line in written:
        if "parent_id" in line:
            assert by_id[line["parent_id"]]["query"] == line["query"]
    assert len(written) == 30


def test_the_queries_of_a_multi_query_retriever_are_its_children(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    model = FakeListLLM(responses=["how long is it\nwhen does it end"])
    retriever = MultiQueryRetriever.from_llm(store.as_retriever(), model)
    with trace_retrieval(path):
        retriever.invoke("timeout")
    root = assert_one_root_with_children(lines(), 2)
    assert root["query"] == "timeout"
    assert {line["query"] for line in lines()} == {"timeout", "how long is it", "when does it end"}


def test_parents_of_a_parent_document_retriever_are_recorded(
    store: InMemoryVectorStore, path: Path, lines: Lines, documents: list[Document]
) -> None:
    from langchain_text_splitters import CharacterTextSplitter

    retriever = ParentDocumentRetriever(
        vectorstore=store,
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(separator=" ", chunk_size=20, chunk_overlap=0),
    )
    retriever.add_documents(documents[:2], ids=["p0", "p1"])
    before = [document.model_copy(deep=True) for document in documents]
    with trace_retrieval(path):
        retriever.invoke("timeout")
    (line,) = lines()
    assert line["retriever"] == "ParentDocumentRetriever"
    assert {hit["doc_id"] for hit in line["hits"]} == {"guide.md"}
    assert documents == before


def test_a_compression_retriever_is_recorded_with_what_it_made_of_the_hits(
    path: Path, lines: Lines, documents: list[Document]
) -> None:
    base = RunnableLambda(lambda query: documents[:2])
    retriever = ContextualCompressionRetriever(
        base_compressor=MergeAdjacentCompressor(),
        base_retriever=TracedRetriever(base, path),
    )
    with trace_retrieval(path):
        answer = retriever.invoke("timeout")
    root = assert_one_root_with_children(lines(), 1)
    assert root["stage"] == "merged"
    assert len(root["hits"]) == len(answer) == 1
    assert root["hits"][0]["merged_ids"] == ["guide.md#c0", "guide.md#c1"]


def test_wrapper_and_handler_write_one_record(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 2}), path)
    plain = TracedRetriever(RunnableLambda(lambda query: [Document(page_content=query)]), path)
    with trace_retrieval(path):
        traced.invoke("timeout")
        (RunnablePassthrough() | traced).invoke("logs")
        plain.invoke("keys")
    assert [line["query"] for line in lines()] == ["timeout", "logs", "keys"]
    assert lines()[0]["hits"][0]["score"] is not None


async def test_wrapper_and_handler_write_one_record_in_async_calls(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 2}), path)
    with trace_retrieval(path):
        await traced.abatch(["a", "b", "c"])
    assert sorted(line["query"] for line in lines()) == ["a", "b", "c"]


def test_a_wrapper_inside_an_ensemble_is_a_child_of_it(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    parts = [TracedRetriever(store.as_retriever(search_kwargs={"k": k}), path) for k in (1, 2)]
    with trace_retrieval(path):
        EnsembleRetriever(retrievers=parts, weights=[0.5, 0.5]).invoke("timeout")
    assert_one_root_with_children(lines(), 2)


def test_a_wrapped_ensemble_is_the_root_of_what_the_handler_sees(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    parts = [store.as_retriever(search_kwargs={"k": k}) for k in (1, 2)]
    ensemble = EnsembleRetriever(retrievers=parts, weights=[0.5, 0.5])
    with trace_retrieval(path):
        TracedRetriever(ensemble, path).invoke("timeout")
    written = lines()
    (root,) = roots(written)
    assert root["retriever"] == "EnsembleRetriever"
    assert [line.get("parent_id") for line in written] == [root["id"], root["id"], None]


def test_retrievers_of_one_request_share_its_trace_id(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    chain = RunnableParallel(a=store.as_retriever(), b=RunnablePassthrough() | store.as_retriever())
    handler = TraceCallbackHandler(path)
    chain.invoke("timeout", {"callbacks": [handler]})
    chain.invoke("logs", {"callbacks": [handler]})
    written = lines()
    assert len(roots(written)) == 4
    by_query: dict[str, set[str]] = {}
    for line in written:
        by_query.setdefault(line["query"], set()).add(line["trace_id"])
    assert [len(ids) for ids in by_query.values()] == [1, 1]
    assert by_query["timeout"] != by_query["logs"]


def test_a_retriever_tool_of_an_agent_is_recorded(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    agents = pytest.importorskip("langchain.agents")
    call = {"name": "search", "args": {"query": "timeout"}, "id": "1", "type": "tool_call"}
    answers = iter([AIMessage(content="", tool_calls=[call]), AIMessage(content="Five seconds.")])

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    tool = create_retriever_tool(store.as_retriever(), "search", "Find.")
    agent = agents.create_agent(Model(messages=answers), [tool])
    with trace_retrieval(path):
        result = agent.invoke({"messages": [("user", "How long is a timeout?")]})
    assert result["messages"][-1].content == "Five seconds."
    (line,) = lines()
    assert (line["query"], len(line["hits"])) == ("timeout", 4)
    assert line["trace_id"] != line["id"]


def test_failures_are_recorded(path: Path, lines: Lines) -> None:
    with trace_retrieval(path), pytest.raises(LookupError):
        FailingRetriever(failures=1).invoke("q")
    assert lines()[0]["error"] == {"type": "LookupError", "message": "index is gone"}


async def test_what_never_ended_is_written_when_the_block_ends(path: Path, lines: Lines) -> None:
    with trace_retrieval(path):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(SlowRetriever().ainvoke("slow"), 0.01)
        await SlowRetriever().ainvoke("quick")
        assert len(lines()) == 1
    assert [(line["query"], line.get("error", {}).get("type")) for line in lines()] == [
        ("quick", None),
        ("slow", "NotFinishedError"),
    ]


def test_nothing_is_traced_after_the_block(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    with trace_retrieval(path) as handler:
        store.as_retriever().batch(["a", "b"])
    store.as_retriever().invoke("c")
    assert sorted(line["query"] for line in lines()) == ["a", "b"]
    assert handler.tracer.writer.stats.written == 2


def test_of_two_blocks_the_inner_one_writes(store: InMemoryVectorStore, tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer.jsonl", tmp_path / "inner.jsonl"
    with trace_retrieval(outer):
        with trace_retrieval(inner):
            store.as_retriever().invoke("a")
        store.as_retriever().invoke("b")
    assert '"a"' in inner.read_text()
    assert '"a"' not in outer.read_text()
    assert '"b"' in outer.read_text()


def test_a_handler_that_cannot_write_breaks_no_chain(
    store: InMemoryVectorStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    handler = TraceCallbackHandler(blocked / "t.jsonl")
    for _ in range(3):
        assert len(store.as_retriever().invoke("timeout", {"callbacks": [handler]})) == 4
    assert sum(handler.tracer.writer.stats.dropped.values()) == 3
    assert len(caplog.records) == 1


def test_unknown_runs_and_repeated_ends_are_tolerated(path: Path, lines: Lines) -> None:
    handler = TraceCallbackHandler(path)
    handler.on_retriever_end([], run_id=uuid4())
    handler.on_retriever_error(LookupError(), run_id=uuid4())
    run_id = uuid4()
    handler.on_retriever_start(None, "q", run_id=run_id, parent_run_id=uuid4())
    handler.on_retriever_end([], run_id=run_id)
    handler.on_retriever_end([], run_id=run_id)
    assert len(lines()) == 1


def test_cancelled_runs_do_not_pile_up(path: Path) -> None:
    handler = TraceCallbackHandler(path)
    for _ in range(10_050):
        handler.on_retriever_start(None, "q", run_id=uuid4())
    assert len(handler._runs) == 10_000


def test_nothing_is_left_of_runs_that_ended(store: InMemoryVectorStore, path: Path) -> None:
    handler = TraceCallbackHandler(path)
    chain = RunnableParallel(a=store.as_retriever(), b=RunnablePassthrough() | store.as_retriever())
    chain.batch(["a", "b", "c"], {"callbacks": [handler]})
    TracedRetriever(store.as_retriever(), path).invoke("d", {"callbacks": [handler]})
    with pytest.raises(LookupError):
        FailingRetriever(failures=1).invoke("e", {"callbacks": [handler]})
    assert len(handler._runs) == 0


def test_copies_of_a_handler_write_to_the_same_file(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    handler = TraceCallbackHandler(path)
    for twin in (copy.deepcopy(handler), copy.copy(handler), pickle.loads(pickle.dumps(handler))):
        store.as_retriever().invoke("q", {"callbacks": [twin]})
    assert len(lines()) == 3


def test_the_labels_of_a_chain_reach_the_record(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    chain = RunnablePassthrough() | store.as_retriever()
    with trace_retrieval(path, run="r"):
        chain.invoke("q", {"metadata": {"question_id": 7, "thread_id": "t"}, "tags": ["x"]})
    (line,) = lines()
    assert (line["question_id"], line["session_id"], line["run"]) == ("7", "t", "r")
    assert "x" in line["tags"]


class SilentRetriever(BaseRetriever):
    """Answers without telling anybody, as some custom retrievers do."""

    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        return [Document(page_content=input, id="x")]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise NotImplementedError


def test_a_retriever_that_reports_nothing_is_seen_by_the_wrapper_only(
    path: Path, lines: Lines
) -> None:
    with trace_retrieval(path):
        SilentRetriever().invoke("unseen")
        TracedRetriever(SilentRetriever(), path).invoke("seen")
    assert [line["query"] for line in lines()] == ["seen"]


def test_a_shared_writer_takes_both(store: InMemoryVectorStore, path: Path, lines: Lines) -> None:
    writer = TraceWriter(path)
    with trace_retrieval(writer):
        MergingRetriever(TracedRetriever(store.as_retriever(), writer)).invoke("timeout")
    stages = [(line["retriever"], line.get("stage"), "parent_id" in line) for line in lines()]
    assert len(stages) == 2
    assert stages[0] == ("VectorStoreRetriever", None, True)
    assert stages[1][0] == "MergingRetriever"
