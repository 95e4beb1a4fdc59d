"""The wrapper answers as the retriever inside it does, whatever uses it, and records each call."""

import asyncio
import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.instrumentation.span_handlers import NullSpanHandler
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever, RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import RetrieverTool

from ragtrace.llama_index import TracedRetriever

Lines = Callable[[], list[dict[str, Any]]]

QUERY = "how long is a timeout?"


class Fixed(BaseRetriever):
    """Answers any query with the same nodes; can fail, and can take its time."""

    def __init__(self, nodes: list[NodeWithScore], error: BaseException | None = None) -> None:
        self.nodes = nodes
        self.error = error
        self.started = 0
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.started += 1
        if self.error is not None:
            raise self.error
        return self.nodes


class Slow(Fixed):
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.started += 1
        await asyncio.sleep(30)
        return self.nodes


def scored(text: str, score: float | None = 0.5, **fields: Any) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text, **fields), score=score)


def test_the_nodes_returned_are_the_very_ones(path: Path, lines: Lines) -> None:
    nodes = [scored("One.", id_="a"), scored("Two.", None, id_="b")]
    before = [node.model_dump() for node in nodes]
    returned = TracedRetriever(Fixed(nodes), path).retrieve(QUERY)
    assert all(one is other for one, other in zip(returned, nodes, strict=True))
    assert [node.model_dump() for node in nodes] == before
    [line] = lines()
    assert line["query"] == QUERY
    assert [(hit["chunk_id"], hit["score"]) for hit in line["hits"]] == [("a", 0.5), ("b", None)]
    assert line["retriever"] == "Fixed"


def test_a_real_index_is_traced_by_chunk(index: VectorStoreIndex, path: Path, lines: Lines) -> None:
    traced = TracedRetriever(index.as_retriever(similarity_top_k=3), path)
    nodes = traced.retrieve(QUERY)
    [line] = lines()
    assert [hit["chunk_id"] for hit in line["hits"]] == [n.metadata["chunk_id"] for n in nodes]
    assert line["top_k"] == 3
    assert line["score_kind"] == "similarity"
    assert line["hits"][0]["doc_id"] == "timeouts"
    assert line["splitter"].startswith("sentence-aligned:")
    assert line["hits"][0]["start"] == nodes[0].node.start_char_idx


def test_a_query_bundle_goes_through_untouched(path: Path, lines: Lines) -> None:
    seen: list[QueryBundle] = []

    class Watching(Fixed):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            seen.append(query_bundle)
            return []

    bundle = QueryBundle("q", embedding=[1.0], custom_embedding_strs=["other"])
    TracedRetriever(Watching([]), path).retrieve(bundle)
    assert seen[0] is bundle
    assert lines()[0]["query"] == "q"


def test_one_pair_of_events_and_of_callbacks_reaches_other_tools(path: Path) -> None:
    seen: list[str] = []
    spans: list[str] = []

    class Spans(NullSpanHandler):
        def span_enter(self, id_: str, *args: Any, **kwargs: Any) -> None:
            spans.append(id_.partition("-")[0])

    class Watching(BaseEventHandler):
        @classmethod
        def class_name(cls) -> str:
            return "Watching"

        def handle(self, event: Any, **kwargs: Any) -> None:
            if isinstance(event, RetrievalStartEvent | RetrievalEndEvent):
                seen.append(event.class_name())

    debug = LlamaDebugHandler(print_trace_on_end=False)
    inner = Fixed([scored("One.")])
    inner.callback_manager = CallbackManager([debug])
    traced = TracedRetriever(inner, path)
    assert traced.callback_manager is inner.callback_manager
    root = get_dispatcher()
    handler, span_handler = Watching(), Spans()
    root.add_event_handler(handler)
    root.add_span_handler(span_handler)
    try:
        traced.retrieve(QUERY)
    finally:
        root.span_handlers[:] = [h for h in root.span_handlers if h is not span_handler]
        root.event_handlers[:] = [h for h in root.event_handlers if h is not handler]
    assert seen == ["RetrievalStartEvent", "RetrievalEndEvent"]
    assert spans == ["Fixed.retrieve", "Fixed._retrieve"]
    assert len(debug.get_event_pairs(CBEventType.RETRIEVE)) == 1


def test_reading_and_writing_attributes_reaches_the_inner_retriever(
    index: VectorStoreIndex, path: Path, lines: Lines
) -> None:
    inner = index.as_retriever(similarity_top_k=2)
    traced = TracedRetriever(inner, path)
    assert traced.similarity_top_k == 2
    traced.similarity_top_k = 1
    assert inner.similarity_top_k == 1
    assert len(traced.retrieve(QUERY)) == 1
    assert lines()[0]["top_k"] == 1
    assert traced.base_retriever is inner
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = traced.no_such_thing


def test_prompts_keep_their_names(llm: MockLLM, path: Path) -> None:
    inner = QueryFusionRetriever([Fixed([])], llm=llm)
    traced = TracedRetriever(inner, path)
    assert list(traced.get_prompts()) == list(inner.get_prompts()) == ["query_gen_prompt"]
    traced.update_prompts({"query_gen_prompt": PromptTemplate("Other {query} {num_queries}")})
    assert inner.query_gen_prompt.startswith("Other")


def test_an_error_is_recorded_and_raised_as_it_was(path: Path, lines: Lines) -> None:
    error = LookupError("index is gone")
    with pytest.raises(LookupError) as caught:
        TracedRetriever(Fixed([], error), path).retrieve(QUERY)
    assert caught.value is error
    assert lines()[0]["error"] == {"type": "LookupError", "message": "index is gone"}


async def test_cancellation_and_timeout_are_recorded(path: Path, lines: Lines) -> None:
    slow = Slow([])
    traced = TracedRetriever(slow, path)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(traced.aretrieve("too slow"), timeout=0.01)
    task = asyncio.create_task(traced.aretrieve("stopped"))
    while slow.started < 2:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(line["query"], line["error"]["type"]) for line in lines()] == [
        ("too slow", "CancelledError"),
        ("stopped", "CancelledError"),
    ]


async def test_calls_that_run_at_once_stay_apart(
    index: VectorStoreIndex, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(index.as_retriever(similarity_top_k=1), path)
    queries = [f"query {number}" for number in range(20)]
    await asyncio.gather(*(traced.aretrieve(query) for query in queries))
    assert sorted(line["query"] for line in lines()) == sorted(queries)
    assert len({line["id"] for line in lines()}) == 20
    assert not any("parent_id" in line for line in lines())


def test_threads_share_one_wrapper(index: VectorStoreIndex, path: Path, lines: Lines) -> None:
    traced = TracedRetriever(index.as_retriever(similarity_top_k=1), path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(traced.retrieve, [f"query {number}" for number in range(40)]))
    assert len(lines()) == 40


def test_it_can_be_copied_and_pickled(path: Path, lines: Lines) -> None:
    traced = TracedRetriever(Fixed([scored("One.")]), path, run="r")
    for twin in (copy.deepcopy(traced), copy.copy(traced), pickle.loads(pickle.dumps(traced))):
        assert [item.text for item in twin.retrieve(QUERY)] == ["One."]
        assert twin.base_retriever is not traced or twin is traced
    assert [line["run"] for line in lines()] == ["r", "r", "r"]


def test_no_node_is_kept(path: Path) -> None:
    item = scored("One.")
    node = weakref.ref(item.node)
    inner = Fixed([item])
    traced = TracedRetriever(inner, path)
    traced.retrieve(QUERY)
    inner.nodes = []
    del item
    gc.collect()
    assert node() is None


@pytest.mark.parametrize("streaming", [False, True])
def test_a_query_engine_answers_as_before(
    index: VectorStoreIndex, llm: MockLLM, path: Path, lines: Lines, streaming: bool
) -> None:
    inner = index.as_retriever(similarity_top_k=2)
    traced = TracedRetriever(inner, path)
    answers = [
        str(RetrieverQueryEngine.from_args(one, llm=llm, streaming=streaming).query(QUERY))
        for one in (inner, traced)
    ]
    assert answers[0] == answers[1]
    assert len(lines()) == 1


async def test_engines_tools_and_evaluators_take_it_for_a_retriever(
    index: VectorStoreIndex, llm: MockLLM, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(index.as_retriever(similarity_top_k=2), path)
    await RetrieverQueryEngine.from_args(traced, llm=llm).aquery(QUERY)
    tool = RetrieverTool.from_defaults(traced)
    assert "timeout" in tool.call(QUERY).content
    assert "timeout" in (await tool.acall(QUERY)).content
    ContextChatEngine.from_defaults(
        traced, llm=llm, memory=ChatMemoryBuffer.from_defaults(llm=llm)
    ).chat(QUERY)
    CitationQueryEngine.from_args(index, llm=llm, retriever=traced).query(QUERY)
    evaluator = RetrieverEvaluator.from_metric_names(["hit_rate"], retriever=traced)
    result = await evaluator.aevaluate(query=QUERY, expected_ids=["timeouts#c0"])
    assert result.metric_vals_dict == {"hit_rate": 1.0}
    assert [line["query"].strip() for line in lines()] == [QUERY] * 6
    assert lines()[1]["query"] == QUERY + "\n\n"  # what the tool really asked is what is kept


@pytest.mark.usefixtures("own_loop")
def test_the_parts_of_a_fusion_are_children_of_the_whole(
    index: VectorStoreIndex, llm: MockLLM, path: Path, lines: Lines
) -> None:
    parts = [
        TracedRetriever(index.as_retriever(similarity_top_k=k), path, name=f"part {k}")
        for k in (1, 2)
    ]
    for use_async in (False, True):
        fusion = QueryFusionRetriever(
            parts, llm=llm, num_queries=1, use_async=use_async, similarity_top_k=2
        )
        TracedRetriever(fusion, path).retrieve(QUERY)
    for at in (0, 3):
        *children, whole = lines()[at : at + 3]
        assert "parent_id" not in whole
        assert {child["parent_id"] for child in children} == {whole["id"]}
        assert sorted(child["retriever"] for child in children) == ["part 1", "part 2"]
        assert whole["retriever"] == "QueryFusionRetriever"


def test_a_recursive_retriever_reaches_objects_through_the_wrapper(
    path: Path, lines: Lines
) -> None:
    target = Fixed([scored("Deep.", 0.9, id_="deep")])
    pointer = NodeWithScore(
        node=IndexNode(text="see below", index_id="deep", obj=target), score=0.1
    )
    traced = TracedRetriever(Fixed([pointer]), path)
    assert [item.node_id for item in traced.retrieve(QUERY)] == ["deep"]
    recursive = RecursiveRetriever(
        "root",
        retriever_dict={
            "root": TracedRetriever(
                Fixed([NodeWithScore(node=IndexNode(text="x", index_id="deep"), score=0.1)]), path
            ),
            "deep": target,
        },
    )
    assert [item.node_id for item in recursive.retrieve(QUERY)] == ["deep"]
    assert [hit["chunk_id"] for hit in lines()[0]["hits"]] == ["deep"]


def test_what_is_no_retriever_is_refused_with_what_to_do(
    index: VectorStoreIndex, path: Path
) -> None:
    with pytest.raises(ValueError, match=r"pass index\.as_retriever\(\)"):
        TracedRetriever(index, path)  # type: ignore[arg-type]


def test_wrong_options_are_refused_when_the_wrapper_is_made(path: Path) -> None:
    with pytest.raises(ValueError, match="sample_rate"):
        TracedRetriever(Fixed([]), path, sample_rate=2.0)


def test_offsets_that_do_not_fit_the_text_are_left_out(path: Path, lines: Lines) -> None:
    # MetadataReplacementPostprocessor and others change the text and leave the old offsets.
    item = scored("a longer window", start_char_idx=3, end_char_idx=7)
    TracedRetriever(Fixed([item]), path).retrieve(QUERY)
    assert "start" not in lines()[0]["hits"][0]
