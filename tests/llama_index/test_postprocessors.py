"""Merging and thinning out nodes where LlamaIndex users do it: in engines, chats, citations."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.postprocessor import LongContextReorder
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import (
    Document,
    ImageNode,
    IndexNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from llama_index.core.storage.docstore import SimpleDocumentStore

from ragtrace.llama_index import (
    HeadingPathSplitter,
    MergeAdjacentPostprocessor,
    NearDuplicatePostprocessor,
    SentenceAlignedSplitter,
    TracedRetriever,
)

Lines = Callable[[], list[dict[str, Any]]]

QUERY = "how long is a timeout?"
TEXT = "One is first. Two comes next.\n\nThree is third. Four ends it."


def chunks(size: int = 16, **settings: Any) -> list[NodeWithScore]:
    splitter = SentenceAlignedSplitter(chunk_size=size, length="characters", **settings)
    nodes = splitter([Document(text=TEXT, id_="d")])
    assert len(nodes) == 4
    return [NodeWithScore(node=node, score=0.9 - 0.1 * at) for at, node in enumerate(nodes)]


def texts(items: list[NodeWithScore]) -> list[str]:
    return [item.text for item in items]


def test_neighbours_become_one_node_and_the_rest_stays_the_same_object() -> None:
    one, two, _, four = chunks()
    merged, alone = MergeAdjacentPostprocessor().postprocess_nodes([two, four, one])
    assert merged.text == "One is first.\n\nTwo comes next."[:13] + merged.text[13:]
    assert merged.text.endswith("Two comes next.")
    assert alone is four
    assert merged.score == 0.9
    assert merged.node_id not in {one.node_id, two.node_id}
    assert merged.node.ref_doc_id == "d"
    assert merged.node.next_node.node_id == "d#c2"
    assert merged.node.prev_node is None
    assert merged.node.metadata["merged_ids"] == '["d#c0", "d#c1"]'


def test_the_nodes_given_are_not_changed() -> None:
    given = chunks()
    before = [item.model_dump() for item in given]
    MergeAdjacentPostprocessor(documents={"d": TEXT}).postprocess_nodes(given)
    assert [item.model_dump() for item in given] == before


def test_chunk_metadata_stays_out_of_the_prompt() -> None:
    one, two, *_ = chunks()
    [merged] = MergeAdjacentPostprocessor(documents={"d": TEXT}).postprocess_nodes([one, two])
    assert merged.node.get_content(MetadataMode.LLM) == "One is first. Two comes next."
    assert merged.node.get_content(MetadataMode.EMBED) == "One is first. Two comes next."


def test_metadata_of_the_document_stays_in_the_prompt() -> None:
    document = Document(text=TEXT, id_="d", metadata={"title": "Numbers"})
    splitter = SentenceAlignedSplitter(
        chunk_size=16, length="characters", include_metadata=True, oversize="split"
    )
    splitter.chunk_size = 40
    nodes = [NodeWithScore(node=node, score=0.5) for node in splitter([document])]
    [merged] = MergeAdjacentPostprocessor(documents={"d": TEXT}).postprocess_nodes(nodes)
    assert merged.node.get_content(MetadataMode.LLM) == f"title: Numbers\n\n{TEXT}"


def test_order_does_not_matter_and_merging_twice_changes_nothing() -> None:
    given = chunks()
    merge = MergeAdjacentPostprocessor(documents={"d": TEXT})
    expected = merge.postprocess_nodes(given)
    for seed in range(5):
        shuffled = random.Random(seed).sample(given, len(given))
        assert texts(merge.postprocess_nodes(shuffled)) == texts(expected)
    again = merge.postprocess_nodes(expected)
    assert [item.node_id for item in again] == [item.node_id for item in expected]
    assert texts(again) == texts(expected) == [TEXT]


def test_a_gap_is_filled_from_a_docstore_of_documents_or_of_chunks() -> None:
    one, _, three, _ = given = chunks()
    whole, pieces = SimpleDocumentStore(), SimpleDocumentStore()
    whole.add_documents([Document(text=TEXT, id_="d")])
    pieces.add_documents([item.node for item in given])
    expected = "One is first. Two comes next.\n\nThree is third."
    for docstore in (whole, pieces):
        merge = MergeAdjacentPostprocessor(fill_gap=1, docstore=docstore)
        [merged] = merge.postprocess_nodes([one, three])
        assert merged.text.split() == expected.split()
        assert "d#c1" in merged.node.metadata["merged_ids"]
    assert len(MergeAdjacentPostprocessor(fill_gap=1).postprocess_nodes([one, three])) == 2


def test_chunks_of_upstream_splitters_are_merged_by_their_links() -> None:
    # Without offsets the links are all there is, and with metadata upstream's are one-sided.
    splitter = SentenceSplitter(chunk_size=8, chunk_overlap=0)
    nodes = splitter([Document(text=TEXT, id_="d", metadata={"k": "v"})])[:2]
    for node in nodes:
        node.start_char_idx = node.end_char_idx = None
    given = [NodeWithScore(node=node, score=0.5) for node in nodes]
    [merged] = MergeAdjacentPostprocessor().postprocess_nodes(given)
    assert merged.text.split() == " ".join(texts(given)).split()
    del nodes[0].relationships[NodeRelationship.NEXT]
    assert len(MergeAdjacentPostprocessor().postprocess_nodes(given)) == 1
    del nodes[1].relationships[NodeRelationship.PREVIOUS]
    assert len(MergeAdjacentPostprocessor().postprocess_nodes(given)) == 2


def test_images_and_index_nodes_pass_through_in_their_places() -> None:
    one, two, *_ = chunks()
    image = NodeWithScore(node=ImageNode(text="", image_path="x.png"), score=0.95)
    pointer = NodeWithScore(node=IndexNode(text="see", index_id="i"), score=None)
    result = MergeAdjacentPostprocessor().postprocess_nodes([image, two, pointer, one])
    assert result[0] is image
    assert result[2] is pointer
    assert len(result) == 3


def test_scores_may_be_missing_or_distances() -> None:
    one, two, *_ = chunks()
    one.score, two.score = None, 0.4
    assert MergeAdjacentPostprocessor().postprocess_nodes([one, two])[0].score == 0.4
    one.score = None
    two.score = None
    assert MergeAdjacentPostprocessor().postprocess_nodes([one, two])[0].score is None
    one.score, two.score = 0.1, 0.4
    nearest = MergeAdjacentPostprocessor(higher_is_better=False)
    assert nearest.postprocess_nodes([one, two])[0].score == 0.1


def test_a_merged_text_keeps_to_its_length() -> None:
    merge = MergeAdjacentPostprocessor(max_length=32, length="characters")
    result = merge.postprocess_nodes(chunks())
    assert [len(item.text) <= 32 for item in result] == [True, True]


def test_sections_can_be_kept_apart() -> None:
    markdown = "# A\n\nOne is first.\n\n# B\n\nTwo comes next.\n"
    nodes = HeadingPathSplitter(chunk_size=30, length="characters")(
        [Document(text=markdown, id_="d")]
    )
    given = [NodeWithScore(node=node, score=0.5) for node in nodes]
    assert len(given) == 2
    assert len(MergeAdjacentPostprocessor(within_section=True).postprocess_nodes(given)) == 2
    assert len(MergeAdjacentPostprocessor().postprocess_nodes(given)) == 1


def test_what_makes_the_ends_readable_alone_stays_there() -> None:
    source = "Guide\n\n| a |\n| b |\n| c |"
    header = "| name |\n|---|\n"
    rows = [("| a |", 7), ("| b |", 13), ("| c |", 19)]
    given = [
        NodeWithScore(
            node=TextNode(
                id_=f"d#c{at}",
                text=header + row,
                metadata={
                    "doc_id": "d",
                    "chunk_id": f"d#c{at}",
                    "chunk_index": at,
                    "start_index": start,
                    "end_index": start + len(row),
                    "prefix_length": len(header),
                    "suffix_length": 0,
                },
            ),
            score=0.5,
        )
        for at, (row, start) in enumerate(rows)
    ]
    merge = MergeAdjacentPostprocessor(documents={"d": source})
    [merged] = merge.postprocess_nodes(given[1:])
    assert merged.text == header + "| b |\n| c |"
    [again] = merge.postprocess_nodes([merged, given[0]])
    assert again.text == header + "| a |\n| b |\n| c |"
    assert again.node.metadata["prefix_length"] == len(header)


def test_a_text_that_was_changed_after_splitting_is_not_trusted() -> None:
    one, two, *_ = chunks()
    # As MetadataReplacementPostprocessor does: another text under the old offsets.
    one.node.text = "A window far longer than the chunk was. " * 3
    assert len(MergeAdjacentPostprocessor().postprocess_nodes([one, two])) == 2


def test_a_repeat_gives_its_place_to_the_next_rank() -> None:
    items = [
        NodeWithScore(node=TextNode(text=text, id_=str(at)), score=1.0 - at / 10)
        for at, text in enumerate(
            ("Keys rotate once a month.", "Keys rotate once a month!", "Logs are kept for a year.")
        )
    ]
    kept = NearDuplicatePostprocessor(k=2).postprocess_nodes(items)
    assert kept[0] is items[0]
    assert kept[1] is items[2]
    assert NearDuplicatePostprocessor(threshold=1.0).postprocess_nodes([]) == []


@pytest.mark.parametrize("wrong", [{"fill_gap": -1}, {"max_length": 0}, {"merge_gap": 1}])
def test_wrong_settings_are_refused_when_it_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MergeAdjacentPostprocessor(**wrong)
    with pytest.raises(ValueError, match="threshold"):
        NearDuplicatePostprocessor(threshold=0)


def test_settings_survive_dictionaries() -> None:
    merge = MergeAdjacentPostprocessor(fill_gap=1, documents={"d": TEXT})
    assert MergeAdjacentPostprocessor.from_dict(merge.to_dict()).fill_gap == 1
    assert "documents" not in merge.to_dict()
    near = NearDuplicatePostprocessor(threshold=0.5, k=3)
    assert NearDuplicatePostprocessor.from_dict(near.to_dict()) is not near
    assert NearDuplicatePostprocessor.from_dict(near.to_dict()).to_dict() == near.to_dict()


@pytest.mark.parametrize("use_async", [False, True])
async def test_a_query_engine_sees_merged_nodes(
    index: VectorStoreIndex, llm: MockLLM, use_async: bool
) -> None:
    engine = RetrieverQueryEngine.from_args(
        index.as_retriever(similarity_top_k=6),
        llm=llm,
        node_postprocessors=[MergeAdjacentPostprocessor(), LongContextReorder()],
    )
    response = await engine.aquery(QUERY) if use_async else engine.query(QUERY)
    assert len(response.source_nodes) < 6
    assert any("merged_ids" in node.metadata for node in response.source_nodes)
    assert "merged_ids" not in str(response)


def test_a_chat_engine_sees_merged_nodes(index: VectorStoreIndex, llm: MockLLM) -> None:
    chat = ContextChatEngine.from_defaults(
        index.as_retriever(similarity_top_k=6),
        llm=llm,
        memory=ChatMemoryBuffer.from_defaults(llm=llm),
        node_postprocessors=[MergeAdjacentPostprocessor()],
    )
    response = chat.chat(QUERY)
    assert len(response.source_nodes) < 6


@pytest.mark.parametrize("own_splitter", [False, True])
def test_citations_still_name_their_text(
    index: VectorStoreIndex, llm: MockLLM, own_splitter: bool
) -> None:
    splitter = SentenceAlignedSplitter(chunk_size=12) if own_splitter else None
    engine = CitationQueryEngine.from_args(
        index,
        llm=llm,
        retriever=index.as_retriever(similarity_top_k=6),
        text_splitter=splitter,
        citation_chunk_size=12,
        citation_chunk_overlap=0,
        node_postprocessors=[MergeAdjacentPostprocessor()],
    )
    response = engine.query(QUERY)
    cited = [node.text for node in response.source_nodes]
    assert len(cited) > 3
    for number, text in enumerate(cited, 1):
        assert text.startswith(f"Source {number}:\n")
    joined = " ".join(" ".join(text.split()[2:]) for text in cited)
    assert "A timeout is five seconds." in joined


async def test_the_merged_stage_is_written_beside_the_retrieved_one(
    index: VectorStoreIndex, llm: MockLLM, path: Any, lines: Lines
) -> None:
    traced = TracedRetriever(index.as_retriever(similarity_top_k=6), path)
    engine = RetrieverQueryEngine.from_args(
        traced, llm=llm, node_postprocessors=[MergeAdjacentPostprocessor()]
    )
    engine.query(QUERY)
    await engine.aquery(QUERY)
    assert [line.get("stage", "retrieved") for line in lines()] == ["retrieved", "merged"] * 2
    for at in (0, 2):
        retrieved, merged = lines()[at : at + 2]
        assert merged["id"] == retrieved["id"]
        assert merged["query"] == QUERY
        together = [n for h in merged["hits"] for n in h.get("merged_ids") or [h["chunk_id"]]]
        assert sorted(together) == sorted(hit["chunk_id"] for hit in retrieved["hits"])


def test_the_direction_of_scores_follows_from_the_traced_retrieval(path: Any) -> None:
    one, two, *_ = chunks()
    one.score, two.score = 0.1, 0.4

    class Fixed(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [one, two]

    traced = TracedRetriever(Fixed(), path, score_kind="distance")
    nodes = traced.retrieve(QUERY)
    merge = MergeAdjacentPostprocessor()
    assert merge.postprocess_nodes(nodes, query_str=QUERY)[0].score == 0.1
    assert merge.postprocess_nodes(nodes, query_str="of something else")[0].score == 0.4


def test_a_postprocessor_with_a_path_of_its_own_writes_there(
    index: VectorStoreIndex, path: Any, lines: Lines
) -> None:
    nodes = index.as_retriever(similarity_top_k=6).retrieve(QUERY)
    merge = MergeAdjacentPostprocessor(trace_path=path)
    merge.postprocess_nodes(nodes, query_str=QUERY)
    [line] = lines()
    assert (line["stage"], line["query"]) == ("merged", QUERY)
    NearDuplicatePostprocessor(trace_path=path).postprocess_nodes(nodes, query_str=QUERY)
    assert len(lines()) == 2


def test_without_a_trace_nothing_is_written(index: VectorStoreIndex, path: Any) -> None:
    nodes = index.as_retriever(similarity_top_k=6).retrieve(QUERY)
    MergeAdjacentPostprocessor().postprocess_nodes(nodes, query_str=QUERY)
    assert not path.exists()


def test_the_evaluator_of_llama_index_runs_over_merged_nodes(index: VectorStoreIndex) -> None:
    evaluator = RetrieverEvaluator.from_metric_names(
        ["mrr"],
        retriever=index.as_retriever(similarity_top_k=6),
        node_postprocessors=[NearDuplicatePostprocessor()],
    )
    result = evaluator.evaluate(query=QUERY, expected_ids=["timeouts#c0"])
    assert result.metric_vals_dict["mrr"] == 1.0
