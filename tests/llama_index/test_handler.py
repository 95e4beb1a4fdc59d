"""The handler sees every retrieval of an application that knows nothing of it, once."""

import asyncio
import gc
import json
import logging
import threading
import tracemalloc
from collections.abc import Callable
from contextvars import Context
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.llms import ChatMessage, MessageRole, MockLLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.retrievers import (
    QueryFusionRetriever,
    RecursiveRetriever,
    RouterRetriever,
)
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import RetrieverTool
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from ragtrace.llama_index import (
    MergeAdjacentPostprocessor,
    TracedRetriever,
    TraceHandler,
    trace_retrieval,
)
from ragtrace.llama_index.recording import _answers
from ragtrace.tracing import trace_context

Lines = Callable[[], list[dict[str, Any]]]

QUERY = "how long is a timeout?"


class Failing(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise LookupError("index is gone")


class Slow(BaseRetriever):
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(30)
        return []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return []


class Chatty(BaseRetriever):
    """Overrides the public method and calls the inherited one, as some integrations do."""

    def retrieve(self, str_or_query_bundle: Any) -> list[NodeWithScore]:
        return super().retrieve(str_or_query_bundle)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="One.", id_="one"), score=1.0)]


class FirstSelector(BaseSelector):
    def _select(self, choices: Any, query: QueryBundle) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=0, reason="first")])

    async def _aselect(self, choices: Any, query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        pass


def handlers() -> tuple[list[Any], list[Any]]:
    root = get_dispatcher()
    return list(root.event_handlers), list(root.span_handlers)


def test_a_query_engine_is_traced_without_knowing(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    engine = RetrieverQueryEngine.from_args(index.as_retriever(similarity_top_k=2), llm=llm)
    with trace_retrieval(path, run="night"):
        engine.query(QUERY)
    engine.query("not any more")
    [line] = lines()
    assert (line["query"], line["top_k"], line["run"]) == (QUERY, 2, "night")
    assert line["retriever"] == "VectorIndexRetriever"
    assert line["score_kind"] == "similarity"
    assert line["hits"][0]["doc_id"] == "timeouts"
    assert line["latency_ms"] > 0
    assert "parent_id" not in line


def test_attaching_and_detaching_leaves_other_handlers_alone(path: Any) -> None:
    before = handlers()
    first, second = TraceHandler(path), TraceHandler(path)
    first.attach()
    second.attach()
    first.attach()  # twice is once
    first.detach()
    during = handlers()
    second.detach()
    second.detach()
    assert len(during[0]) + len(during[1]) > len(before[0]) + len(before[1])
    after = handlers()
    assert [id(h) for group in after for h in group] == [id(h) for group in before for h in group]


@pytest.mark.usefixtures("own_loop")
@pytest.mark.parametrize("use_async", [False, True])
def test_the_parts_of_a_fusion_name_their_whole(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines, use_async: bool
) -> None:
    parts = [index.as_retriever(similarity_top_k=k) for k in (1, 2)]
    fusion = QueryFusionRetriever(parts, llm=llm, num_queries=1, use_async=use_async)
    with trace_retrieval(path):
        fusion.retrieve(QUERY)
    *children, whole = lines()
    assert whole["retriever"] == "QueryFusionRetriever"
    assert "parent_id" not in whole
    assert [child["parent_id"] for child in children] == [whole["id"]] * 2
    assert sorted(child["top_k"] for child in children) == [1, 2]


def test_routers_and_recursive_retrievers_are_one_root_each(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    inner = index.as_retriever(similarity_top_k=1)
    tool = RetrieverTool.from_defaults(inner, description="all there is")
    router = RouterRetriever(FirstSelector(), [tool], llm=llm)
    pointer = NodeWithScore(node=IndexNode(text="see", index_id="deep"), score=0.1)

    class Pointing(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [pointer]

    recursive = RecursiveRetriever("root", retriever_dict={"root": Pointing(), "deep": inner})
    with trace_retrieval(path):
        router.retrieve(QUERY)
        recursive.retrieve(QUERY)
    roots = [line for line in lines() if "parent_id" not in line]
    assert [line["retriever"] for line in roots] == ["RouterRetriever", "RecursiveRetriever"]
    by_id = {line["id"]: line for line in lines()}
    children = [line for line in lines() if "parent_id" in line]
    assert len(children) == 3
    assert all(by_id[child["parent_id"]] in roots for child in children)


def test_a_retriever_that_calls_the_inherited_method_is_one_record(path: Any, lines: Lines) -> None:
    with trace_retrieval(path):
        Chatty().retrieve(QUERY)
    assert [[hit["chunk_id"] for hit in line["hits"]] for line in lines()] == [["one"]]


def test_wrapper_and_handler_together_write_one_record(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    inner = index.as_retriever(similarity_top_k=1)
    with trace_retrieval(path):
        TracedRetriever(inner, path).retrieve("alone")
        assert [line["query"] for line in lines()] == ["alone"]
        fusion = QueryFusionRetriever([inner, inner], llm=llm, num_queries=1, use_async=False)
        TracedRetriever(fusion, path).retrieve(QUERY)
    *children, whole = lines()[1:]
    assert [child["parent_id"] for child in children] == [whole["id"]] * 2


def test_a_handler_inside_a_handler_does_not_disturb_it(
    index: VectorStoreIndex, path: Any, lines: Lines
) -> None:
    other = path.with_name("other.jsonl")
    retriever = index.as_retriever(similarity_top_k=1)
    with trace_retrieval(path):
        with trace_retrieval(other):
            retriever.retrieve("both")
        retriever.retrieve("outer")
    assert [line["query"] for line in lines()] == ["both", "outer"]
    assert other.read_text().count("\n") == 1


def test_two_handlers_each_write_both_stages(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    other = path.with_name("other.jsonl")
    engine = RetrieverQueryEngine.from_args(
        index.as_retriever(similarity_top_k=6),
        llm=llm,
        node_postprocessors=[MergeAdjacentPostprocessor(), SimilarityPostprocessor()],
    )
    with trace_retrieval(path), trace_retrieval(other):
        engine.query(QUERY)
    assert [line.get("stage", "retrieved") for line in lines()] == ["retrieved", "merged", "merged"]
    assert not any("parent_id" in line for line in lines())
    assert [json.loads(line)["query"] for line in other.read_text().splitlines()] == [QUERY] * 3


def test_a_failure_is_one_record_with_its_type(llm: MockLLM, path: Any, lines: Lines) -> None:
    engine = RetrieverQueryEngine.from_args(Failing(), llm=llm)
    with trace_retrieval(path), pytest.raises(LookupError):
        engine.query(QUERY)
    [line] = lines()
    assert line["error"] == {"type": "LookupError", "message": "index is gone"}


async def test_a_cancelled_call_is_recorded(path: Any, lines: Lines) -> None:
    with trace_retrieval(path), pytest.raises(TimeoutError):
        await asyncio.wait_for(Slow().aretrieve(QUERY), timeout=0.01)
    assert lines()[0]["error"]["type"] == "CancelledError"


async def test_calls_in_gather_stay_apart(index: VectorStoreIndex, path: Any, lines: Lines) -> None:
    retriever = index.as_retriever(similarity_top_k=1)

    async def ask(number: int) -> None:
        with trace_context(question_id=f"q{number}"):
            await retriever.aretrieve(f"query {number}")

    with trace_retrieval(path):
        await asyncio.gather(*(ask(number) for number in range(20)))
    assert sorted((line["question_id"], line["query"]) for line in lines()) == sorted(
        (f"q{number}", f"query {number}") for number in range(20)
    )
    assert not any("parent_id" in line for line in lines())


def test_a_plain_thread_is_traced_as_a_root(
    index: VectorStoreIndex, path: Any, lines: Lines
) -> None:
    retriever = index.as_retriever(similarity_top_k=1)
    with trace_retrieval(path):
        thread = threading.Thread(target=retriever.retrieve, args=(QUERY,))
        thread.start()
        thread.join()
    assert [line["query"] for line in lines()] == [QUERY]


async def test_tools_chat_engines_and_workflows_are_traced(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    retriever = index.as_retriever(similarity_top_k=1)

    class Found(Event):
        count: int

    class Search(Workflow):
        @step
        async def find(self, event: StartEvent) -> Found:
            return Found(count=len(await retriever.aretrieve("workflow")))

        @step
        async def end(self, event: Found) -> StopEvent:
            return StopEvent(result=event.count)

    with trace_retrieval(path):
        RetrieverTool.from_defaults(retriever).call("tool")
        await RetrieverTool.from_defaults(retriever).acall("async tool")
        ContextChatEngine.from_defaults(
            retriever, llm=llm, memory=ChatMemoryBuffer.from_defaults(llm=llm)
        ).chat("chat")
        CitationQueryEngine.from_args(index, llm=llm, retriever=retriever).query("cite")
        assert await Search().run() == 1
    assert [line["query"].strip() for line in lines()] == [
        "tool",
        "async tool",
        "chat",
        "cite",
        "workflow",
    ]


# A workflow walks over all attributes of itself, the deprecated ones of pydantic included.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
async def test_an_agent_that_uses_a_retriever_as_its_tool_is_traced(
    index: VectorStoreIndex, path: Any, lines: Lines
) -> None:
    def answer(messages: list[ChatMessage], **kwargs: Any) -> ChatMessage:
        if any(message.role == MessageRole.TOOL for message in messages):
            return ChatMessage(role="assistant", content="five seconds")
        ask = ToolCallBlock(tool_call_id="1", tool_name="search", tool_kwargs={"input": QUERY})
        return ChatMessage(role="assistant", blocks=[ask])

    tool = RetrieverTool.from_defaults(
        index.as_retriever(similarity_top_k=1), name="search", description="finds chunks"
    )
    llm = MockFunctionCallingLLM(response_generator=answer)
    agent = FunctionAgent(tools=[tool], llm=llm, streaming=False)
    with trace_retrieval(path):
        reply = await agent.run("how long?")
    assert str(reply) == "five seconds"
    [line] = lines()
    assert line["query"] == f"\ninput is {QUERY}\n"
    assert len(line["trace_id"]) == 32
    assert "metadata" not in line  # what workflow steps were given is not the trace's to keep


@pytest.mark.parametrize("way", ["query", "aquery", "tool", "by hand"])
async def test_what_postprocessors_leave_is_the_merged_stage_of_the_same_retrieval(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines, way: str
) -> None:
    retriever = index.as_retriever(similarity_top_k=6)
    merge = MergeAdjacentPostprocessor()
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=[merge])
    with trace_retrieval(path):
        if way == "query":
            engine.query(QUERY)
        elif way == "aquery":
            await engine.aquery(QUERY)
        elif way == "tool":
            RetrieverTool.from_defaults(retriever, node_postprocessors=[merge]).call(QUERY)
        else:
            engine.retrieve(QueryBundle(QUERY))
    retrieved, merged = lines()
    assert merged["stage"] == "merged"
    assert retrieved.get("stage", "retrieved") == "retrieved"
    assert merged["id"] == retrieved["id"]
    assert len(merged["hits"]) < len(retrieved["hits"])
    together = [
        name for hit in merged["hits"] for name in hit.get("merged_ids") or [hit["chunk_id"]]
    ]
    assert sorted(together) == sorted(hit["chunk_id"] for hit in retrieved["hits"])


def test_each_postprocessor_is_a_stage_and_the_last_counts(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    chain = [MergeAdjacentPostprocessor(), SimilarityPostprocessor(similarity_cutoff=0.99)]
    retriever = index.as_retriever(similarity_top_k=6)
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=chain)
    with trace_retrieval(path):
        engine.query(QUERY)
    assert [line.get("stage", "retrieved") for line in lines()] == ["retrieved", "merged", "merged"]
    assert lines()[-1]["hits"] == []


def test_postprocessing_of_nodes_from_elsewhere_is_no_stage_of_the_last_retrieval(
    index: VectorStoreIndex, path: Any, lines: Lines
) -> None:
    with trace_retrieval(path):
        nodes = index.as_retriever(similarity_top_k=2).retrieve(QUERY)
        MergeAdjacentPostprocessor().postprocess_nodes(nodes, query_str="another question")
    assert len(lines()) == 1


def test_instrument_tags_reach_the_trace(index: VectorStoreIndex, path: Any, lines: Lines) -> None:
    with trace_retrieval(path), instrument_tags({"tenant": "a"}):
        index.as_retriever(similarity_top_k=1).retrieve(QUERY)
    assert lines()[0]["metadata"] == {"tenant": "a"}


def test_what_was_sampled_out_has_no_merged_stage_either(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    engine = RetrieverQueryEngine.from_args(
        index.as_retriever(), llm=llm, node_postprocessors=[MergeAdjacentPostprocessor()]
    )
    with trace_retrieval(path, sample_rate=0.0):
        engine.query(QUERY)
    assert lines() == []


def test_a_trace_that_cannot_be_written_is_counted_and_breaks_nothing(
    index: VectorStoreIndex, path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_text("")
    with caplog.at_level(logging.WARNING, "ragtrace"), trace_retrieval(path / "below") as handler:
        nodes = index.as_retriever(similarity_top_k=1).retrieve(QUERY)
    assert len(nodes) == 1
    assert sum(handler.tracer.writer.stats.dropped.values()) == 1
    assert caplog.records


def test_nothing_is_left_behind_by_many_calls(path: Any) -> None:
    handler = TraceHandler(path)
    with handler:
        for _ in range(50):
            Chatty().retrieve(QUERY)
            with pytest.raises(LookupError):
                Failing().retrieve(QUERY)
    assert handler.in_flight == 0


def test_blocks_that_have_ended_leave_nothing_in_the_context(path: Any) -> None:
    def ask() -> None:
        for _ in range(20):
            with trace_retrieval(path):
                Chatty().retrieve(QUERY)
        assert len(_answers.get()) == 1
        TracedRetriever(Chatty(), path).retrieve(QUERY)
        assert [answer.recorder for answer in _answers.get()] == [None]

    Context().run(ask)


def test_memory_does_not_grow_with_calls(path: Any) -> None:
    chatty = Chatty()
    traced = TracedRetriever(chatty, path)

    def many(count: int) -> int:
        for _ in range(count):
            chatty.retrieve(QUERY)
            traced.retrieve(QUERY)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    with trace_retrieval(path):
        tracemalloc.start()
        try:
            many(40)  # whatever is made once is made now
            before = many(40)
            assert many(120) - before < 20_000
        finally:
            tracemalloc.stop()


def test_it_coexists_with_openinference(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    openinference = pytest.importorskip("openinference.instrumentation.llama_index")
    exporter_module = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    exporter = exporter_module.InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = openinference.LlamaIndexInstrumentor()
    engine = RetrieverQueryEngine.from_args(index.as_retriever(similarity_top_k=1), llm=llm)
    instrumentor.instrument(tracer_provider=provider)
    try:
        with trace_retrieval(path):
            engine.query(QUERY)
        engine.query("after")
    finally:
        instrumentor.uninstrument()
    assert [line["query"] for line in lines()] == [QUERY]
    names = [span.name for span in exporter.get_finished_spans()]
    assert sum("retrieve" in name.lower() for name in names) >= 2
