"""Compressors and the merging retriever, by themselves and inside LangChain's own parts."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore

from ragtrace.evaluation import EvalSet, analyze, run_eval
from ragtrace.langchain import (
    MergeAdjacentCompressor,
    MergingRetriever,
    NearDuplicateCompressor,
    TracedRetriever,
    trace_retrieval,
)
from ragtrace.tracing import read_traces

Lines = Callable[[], list[dict[str, Any]]]

TEXT = "One is first. Two comes next. Three is third. Four ends it."
SPANS = ((0, 13), (14, 29), (30, 45), (46, 59))


def chunk(index: int, **metadata: Any) -> Document:
    start, end = SPANS[index]
    return Document(
        page_content=TEXT[start:end],
        metadata={
            "doc_id": "d",
            "chunk_id": f"d#c{index}",
            "chunk_index": index,
            "start_index": start,
            "end_index": end,
            **metadata,
        },
        id=f"d#c{index}",
    )


def contents(documents: Any) -> list[str]:
    return [document.page_content for document in documents]


MERGED = [TEXT[0:29], TEXT[46:59]]


def find(query: str) -> list[Document]:
    return [chunk(1), chunk(3), chunk(0)]


class FoundRetriever(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return find(query)


@pytest.fixture
def merger() -> MergeAdjacentCompressor:
    return MergeAdjacentCompressor(documents={"d": TEXT}, fill_gap=0)


def test_merging_works_wherever_a_compressor_or_a_step_may_stand(
    merger: MergeAdjacentCompressor,
) -> None:
    base = RunnableLambda(find)
    compression = ContextualCompressionRetriever(base_compressor=merger, base_retriever=base)
    pipeline = DocumentCompressorPipeline(transformers=[NearDuplicateCompressor(), merger])
    piped = ContextualCompressionRetriever(base_compressor=pipeline, base_retriever=base)
    assert contents(merger.compress_documents(find(""), "q")) == MERGED
    assert contents(compression.invoke("q")) == MERGED
    assert contents(piped.invoke("q")) == MERGED
    assert contents((base | merger).invoke("q")) == MERGED
    assert contents(MergingRetriever(base, merger).invoke("q")) == MERGED
    assert contents(MergingRetriever(base, documents={"d": TEXT}, fill_gap=0).invoke("q")) == MERGED


async def test_merging_works_in_async_calls(merger: MergeAdjacentCompressor) -> None:
    base = RunnableLambda(find)
    compression = ContextualCompressionRetriever(base_compressor=merger, base_retriever=base)
    assert contents(await merger.acompress_documents(find(""), "q")) == MERGED
    assert contents(await compression.ainvoke("q")) == MERGED
    assert contents(await (base | merger).ainvoke("q")) == MERGED
    assert contents(await MergingRetriever(base, merger).ainvoke("q")) == MERGED


def test_a_retriever_tool_shows_merged_text(merger: MergeAdjacentCompressor) -> None:
    tool = create_retriever_tool(MergingRetriever(RunnableLambda(find), merger), "find", "Find.")
    assert tool.invoke({"query": "q"}) == "\n\n".join(MERGED)


def test_documents_that_stay_are_the_same_objects_and_none_is_changed(
    merger: MergeAdjacentCompressor,
) -> None:
    given = find("")
    before = [document.model_copy(deep=True) for document in given]
    merged = merger.compress_documents(given, "q")
    assert merged[1] is given[1]
    assert given == before
    assert merged[0].metadata["merged_ids"] == '["d#c0", "d#c1"]'
    assert merged[0].metadata["start_index"] == 0
    assert merged[0].metadata["end_index"] == 29
    assert merged[0].id == merged[0].metadata["chunk_id"]


def test_gaps_are_filled_and_lengths_kept() -> None:
    given = [chunk(1), chunk(3)]
    filled = MergeAdjacentCompressor(fill_gap=1, documents={"d": TEXT}.get)
    assert contents(filled(given)) == [TEXT[14:59]]
    short = MergeAdjacentCompressor(
        fill_gap=1, documents={"d": TEXT}, max_length=40, length="characters"
    )
    assert contents(short(given)) == contents(given)


def test_decoration_is_taken_off_before_chunks_are_joined() -> None:
    decorated = []
    for index in (0, 1):
        document = chunk(index, prefix_length=7, suffix_length=0)
        decorated.append(
            document.model_copy(update={"page_content": f"Guide\n\n{document.page_content}"})
        )
    (merged,) = MergeAdjacentCompressor(documents={"d": TEXT})(decorated)
    assert merged.page_content == TEXT[0:29]
    alone = MergeAdjacentCompressor()(decorated[:1])
    assert alone[0] is decorated[0]


def test_repeats_give_up_their_place_to_further_ranks() -> None:
    repeat = chunk(0, doc_id="copy", chunk_id="copy#c0")
    kept = NearDuplicateCompressor(k=2).compress_documents([chunk(0), repeat, chunk(2)], "q")
    assert [document.metadata["chunk_id"] for document in kept] == ["d#c0", "d#c2"]


def test_both_stages_are_traced_around_a_traced_retriever(path: Path, lines: Lines) -> None:
    traced = TracedRetriever(RunnableLambda(find), path)
    assert (
        contents(MergingRetriever(traced, documents={"d": TEXT}, fill_gap=0).invoke("q")) == MERGED
    )
    retrieved, merged = lines()
    assert [hit["chunk_id"] for hit in retrieved["hits"]] == ["d#c1", "d#c3", "d#c0"]
    assert merged["stage"] == "merged"
    assert (merged["id"], merged["ts"]) == (retrieved["id"], retrieved["ts"])
    assert merged["query"] == "q"
    assert merged["hits"][0]["merged_ids"] == ["d#c0", "d#c1"]
    assert [hit["rank"] for hit in merged["hits"]] == [1, 2]


async def test_both_stages_are_traced_in_a_compression_retriever(path: Path, lines: Lines) -> None:
    retriever = ContextualCompressionRetriever(
        base_compressor=MergeAdjacentCompressor(documents={"d": TEXT}),
        base_retriever=TracedRetriever(RunnableLambda(find), path),
    )
    retriever.invoke("q")
    await retriever.ainvoke("q")
    written = lines()
    assert [line.get("stage") for line in written] == [None, "merged", None, "merged"]
    assert [line["id"] for line in written[0::2]] == [line["id"] for line in written[1::2]]
    assert len({line["id"] for line in written}) == 2


@pytest.mark.parametrize("handled", [False, True])
async def test_a_step_of_a_chain_writes_the_stage_of_the_retrieval_before_it(
    path: Path, lines: Lines, merger: MergeAdjacentCompressor, handled: bool
) -> None:
    retriever = FoundRetriever() if handled else TracedRetriever(FoundRetriever(), path)
    chain = RunnablePassthrough() | retriever | NearDuplicateCompressor() | merger
    with trace_retrieval(path) if handled else nullcontext():
        assert contents(chain.invoke("one")) == MERGED
        assert contents(await chain.ainvoke("two")) == MERGED
        chain.batch(["three", "four"])
        RunnableParallel(a=chain, b=chain).invoke("five")
    by_id: dict[str, list[dict[str, Any]]] = {}
    for line in lines():
        by_id.setdefault(line["id"], []).append(line)
    assert len(by_id) == 6
    for retrieved, thinned, merged in by_id.values():
        assert [x.get("stage") for x in (retrieved, thinned, merged)] == [None, *["merged"] * 2]
        assert {x["query"] for x in (retrieved, thinned, merged)} == {retrieved["query"]}
        assert [len(x["hits"]) for x in (retrieved, thinned, merged)] == [3, 3, 2]


def test_a_step_is_not_joined_to_a_retrieval_of_another_chain(
    path: Path, lines: Lines, merger: MergeAdjacentCompressor
) -> None:
    same = find("")  # as from a retriever that hands out the documents it holds
    TracedRetriever(RunnableLambda(lambda query: same), path).invoke("traced")
    (RunnableLambda(lambda query: same) | merger).invoke("not traced")
    assert len(lines()) == 1


def test_a_call_by_itself_joins_the_latest_retrieval(
    path: Path, lines: Lines, merger: MergeAdjacentCompressor
) -> None:
    found = TracedRetriever(RunnableLambda(find), path).invoke("q")
    merger(found)
    retrieved, merged = lines()
    assert (merged["stage"], merged["query"], merged["id"]) == ("merged", "q", retrieved["id"])


def test_a_retrieval_that_was_sampled_out_is_not_mixed_up_with_one_before(
    path: Path, lines: Lines, merger: MergeAdjacentCompressor
) -> None:
    same = find("")
    base = RunnableLambda(lambda query: same)
    TracedRetriever(base, path).invoke("q")
    merger.compress_documents(TracedRetriever(base, path, sample_rate=0.0).invoke("q"), "q")
    assert len(lines()) == 1


def test_nothing_is_written_once_tracing_has_ended(
    path: Path, lines: Lines, merger: MergeAdjacentCompressor
) -> None:
    with trace_retrieval(path):
        found = FoundRetriever().invoke("q")
    merger.compress_documents(found, "q")
    assert len(lines()) == 1


def test_a_wrapper_around_it_all_writes_the_merged_stage_once(path: Path, lines: Lines) -> None:
    traced = TracedRetriever(MergingRetriever(TracedRetriever(RunnableLambda(find), path)), path)
    traced.invoke("q")
    inner, outer = lines()
    assert inner["parent_id"] == outer["id"]
    assert (inner.get("stage"), outer["stage"]) == (None, "merged")


def test_scores_of_the_store_reach_the_merged_stage(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    traced = TracedRetriever(store.as_retriever(search_kwargs={"k": 2}), path)
    MergingRetriever(traced).invoke("retries follow a timeout is")
    retrieved, merged = lines()
    scores = [hit["score"] for hit in retrieved["hits"]]
    assert [hit["score"] for hit in merged["hits"]] == [max(scores)]
    assert merged["score_kind"] == "similarity"
    assert (retrieved["top_k"], merged["top_k"]) == (2, 2)


def test_a_stage_of_its_own_is_written_where_a_path_is_given(path: Path, lines: Lines) -> None:
    merger = MergeAdjacentCompressor(trace_path=path)
    merger.compress_documents(find(""), "q")
    (line,) = lines()
    assert (line["stage"], line["query"], line["retriever"]) == (
        "merged", "q", "MergeAdjacentCompressor",
    )  # fmt: skip


def test_documents_from_elsewhere_are_not_taken_for_the_traced_ones(
    path: Path, lines: Lines
) -> None:
    TracedRetriever(RunnableLambda(find), path).invoke("q")
    MergeAdjacentCompressor().compress_documents(find(""), "another")
    assert len(lines()) == 1


def test_sampled_out_retrievals_have_no_merged_stage(path: Path, lines: Lines) -> None:
    traced = TracedRetriever(RunnableLambda(find), path, sample_rate=0.0)
    MergingRetriever(traced).invoke("q")
    assert lines() == []


def test_attributes_and_configuration_pass_through_the_merging_retriever(
    store: InMemoryVectorStore,
) -> None:
    merging = MergingRetriever(store.as_retriever(search_kwargs={"k": 5}))
    assert merging.vectorstore is store
    assert len(merging.invoke("timeout", k=1)) == 1
    merging.search_kwargs = {"k": 2}
    assert merging.base_retriever.search_kwargs == {"k": 2}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MergeAdjacentCompressor(fill_gap=-1), "fill_gap"),
        (lambda: MergeAdjacentCompressor(max_length=0), "max_length"),
        (lambda: MergeAdjacentCompressor(no_such_setting=1), "no_such_setting"),
        (lambda: NearDuplicateCompressor(threshold=2.0), "threshold"),
        (
            lambda: MergingRetriever(RunnableLambda(find), NearDuplicateCompressor(), fill_gap=1),
            "fill_gap: give this to the merger",
        ),
        (lambda: MergingRetriever(find), "base_retriever is a function"),  # type: ignore[arg-type]
    ],
)
def test_wrong_settings_are_refused_when_they_are_given(
    make: Callable[[], Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_an_evaluation_runs_through_wrapper_and_merging_alike(
    store: InMemoryVectorStore, path: Path, tmp_path: Path
) -> None:
    eval_set = EvalSet.from_items(
        [
            {"query": "timeout seconds", "expected_chunk_ids": ["guide.md#c0"]},
            {"query": "logs", "expected_chunk_ids": ["guide.md#c3"]},
        ]
    )
    base = store.as_retriever(search_kwargs={"k": 1})
    live = tmp_path / "live.jsonl"
    retrievers = (
        (base, 2),
        (TracedRetriever(base, live), 2),
        (MergingRetriever(TracedRetriever(base, live)), 4),
        (TracedRetriever(MergingRetriever(base), live), 2),
    )
    for number, (retriever, count) in enumerate(retrievers):
        run = tmp_path / f"{number}.jsonl"
        summary = run_eval(retriever, eval_set, top_k=3, trace_path=run)
        traces = list(read_traces(run, strict=True))
        assert summary.failed == ()
        assert len(traces) == count
        assert {trace.top_k for trace in traces} == {3}
        assert all(trace.question_id for trace in traces)
        assert analyze(run, eval_set).metrics["recall"].value == 1.0
    assert base.search_kwargs == {"k": 1}
    assert not live.exists()
