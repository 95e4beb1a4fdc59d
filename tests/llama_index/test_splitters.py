"""The node parsers keep LlamaIndex's own expectations, and offsets that upstream loses."""

import json
import pickle
import subprocess
import sys
from base64 import b64decode
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core import Settings, VectorStoreIndex
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.ingestion.pipeline import get_transformation_hash
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
)
from llama_index.core.node_parser.interface import TextSplitter
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageDocument,
    ImageNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    TextNode,
)
from llama_index.core.utils import get_tokenizer

from ragtrace.chunking.metadata import CHUNK_KEYS
from ragtrace.llama_index import (
    DefinitionSplitter,
    HeadingPathSplitter,
    SentenceAlignedSplitter,
)

REPEATED = "alpha OK omega\n\nOK\n\nOK"
MARKDOWN = """\
# Guide

Read this first. OK.

OK.

## Timeouts

A timeout is five seconds. OK.

# Other

OK.
"""
HTML = "<html><body><h1>Guide</h1><p>Read this.</p><pre>wait(5)</pre></body></html>"
PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WORKERS = """
import json
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document
from ragtrace.llama_index import SentenceAlignedSplitter

if __name__ == "__main__":
    documents = [Document(text=f"Number {n} is. It ends.", id_=f"d{n}") for n in range(4)]
    pipeline = IngestionPipeline(
        transformations=[SentenceAlignedSplitter(chunk_size=6)], disable_cache=True
    )
    runs = (pipeline.run(documents=documents, num_workers=workers) for workers in (None, 2))
    print(json.dumps([sorted([node.node_id, node.text] for node in nodes) for nodes in runs]))
"""


def characters(text: str) -> int:
    return len(text)


def document_uuid(index: int, document: BaseNode) -> str:
    return f"{document.node_id}:{index}"


def by_slug(metadata: Any) -> str:
    return f"slug-{metadata['slug']}"


def assert_exact(nodes: list[BaseNode], text: str) -> None:
    starts = [node.start_char_idx for node in nodes]
    assert starts == sorted(set(starts))
    for node in nodes:
        assert text[node.start_char_idx : node.end_char_idx] == node.text
    assert "".join(text.split()) == "".join("".join(node.text.split()) for node in nodes)


def test_offsets_are_exact_where_text_repeats() -> None:
    splitter = SentenceAlignedSplitter(chunk_size=14, length="characters")
    nodes = splitter.get_nodes_from_documents([Document(text=REPEATED, id_="d")])
    assert_exact(nodes, REPEATED)


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from(["OK. ", "OK.", "No! ", "\n\n", "a b c. ", "é😀. ", "\r\n"]), max_size=40
    )
)
def test_offsets_are_exact_for_any_text(parts: list[str]) -> None:
    text = "".join(parts)
    splitter = SentenceAlignedSplitter(chunk_size=10, length="characters")
    assert_exact(splitter.get_nodes_from_documents([Document(text=text, id_="d")]), text)


@pytest.mark.parametrize("size", [20, 60])
def test_offsets_are_exact_after_another_parser(size: int) -> None:
    pipeline = IngestionPipeline(
        transformations=[
            MarkdownNodeParser(),
            SentenceAlignedSplitter(chunk_size=size, length="characters", include_metadata=False),
        ]
    )
    nodes = pipeline.run(documents=[Document(text=MARKDOWN, id_="d")])
    # MarkdownNodeParser itself leaves the white space between sections out.
    assert_exact(nodes, MARKDOWN)
    assert [node.node_id for node in nodes] == [f"d#c{n}" for n in range(len(nodes))]
    assert {node.ref_doc_id for node in nodes} == {"d"}
    assert all(node.metadata["chunk_id"] == node.node_id for node in nodes)


def test_a_piece_whose_place_is_unknown_gives_no_offsets_rather_than_wrong_ones() -> None:
    root = Document(text="whole", id_="d")
    piece = TextNode(
        text="One is. Two is.",
        relationships={NodeRelationship.SOURCE: root.as_related_node_info()},
    )
    splitter = SentenceAlignedSplitter(chunk_size=8, length="characters")
    nodes = splitter([piece, piece.model_copy(update={"id_": "other"})])
    assert [node.start_char_idx for node in nodes] == [None] * 4
    assert not any("start_index" in node.metadata for node in nodes)
    assert [node.node_id for node in nodes] == ["d#c0", "d#c1", "d#c2", "d#c3"]


def test_neighbours_are_linked_alike_in_both_directions_within_one_parent() -> None:
    pipeline = IngestionPipeline(
        transformations=[
            MarkdownNodeParser(),
            SentenceAlignedSplitter(chunk_size=60, length="characters"),
        ]
    )
    nodes = pipeline.run(documents=[Document(text=MARKDOWN, id_="d", metadata={"lang": "en"})])
    by_id = {node.node_id: node for node in nodes}
    links = 0
    for before, after in pairwise(nodes):
        assert (before.next_node is None) == (after.prev_node is None)
        if before.next_node is not None:
            links += 1
            assert before.next_node == by_id[after.node_id].as_related_node_info()
            assert after.prev_node == by_id[before.node_id].as_related_node_info()
    assert 0 < links < len(nodes) - 1  # a section does not continue in the next one
    assert nodes[0].prev_node is None
    assert nodes[-1].next_node is None


def test_links_can_be_left_out() -> None:
    splitter = SentenceAlignedSplitter(
        chunk_size=8, length="characters", include_prev_next_rel=False
    )
    nodes = splitter([Document(text="One is. Two is.", id_="d")])
    assert len(nodes) == 2
    assert all(node.next_node is None and node.prev_node is None for node in nodes)


def test_chunk_metadata_stays_out_of_embedded_and_prompt_text() -> None:
    document = Document(text="One is. Two is.", id_="d", metadata={"title": "Numbers"})
    document.excluded_llm_metadata_keys = ["title"]
    nodes = SentenceAlignedSplitter(chunk_size=30, length="characters")([document])
    assert len(nodes) > 1
    for node in nodes:
        assert set(node.metadata) == {"title", *CHUNK_KEYS}
        assert node.get_content(MetadataMode.EMBED) == f"title: Numbers\n\n{node.text}"
        assert node.get_content(MetadataMode.LLM) == node.text
    assert document.metadata == {"title": "Numbers"}


@pytest.mark.parametrize("size", [12, 20, 40])
def test_embedded_text_with_its_metadata_keeps_to_the_budget(size: int) -> None:
    count = get_tokenizer()
    document = Document(
        text="A timeout is five seconds. It can be raised, or lowered. " * 10,
        id_="d",
        metadata={"file": "guide.md"},
    )
    nodes = SentenceAlignedSplitter(chunk_size=size)([document])
    lengths = [len(count(node.get_content(MetadataMode.EMBED))) for node in nodes]
    assert max(lengths) <= size
    without = SentenceAlignedSplitter(chunk_size=size, include_metadata=False)([document])
    assert max(len(node.text) for node in without) >= max(len(node.text) for node in nodes)
    assert size > 12 or len(without) < len(nodes)
    assert "file" not in without[0].metadata
    assert max(len(count(node.get_content(MetadataMode.EMBED))) for node in without) <= size


def test_metadata_that_leaves_no_room_is_an_error_that_says_so() -> None:
    document = Document(text="One.", id_="d", metadata={"notes": "word " * 50})
    with pytest.raises(ValueError, match=r"document 'd' takes .* of chunk_size 20"):
        SentenceAlignedSplitter(chunk_size=20)([document])
    assert SentenceAlignedSplitter(chunk_size=20, include_metadata=False)([document])


def test_an_overlap_shrinks_where_metadata_takes_its_room() -> None:
    document = Document(text="One is. Two is. Three is.", id_="d", metadata={"k": "v" * 10})
    splitter = SentenceAlignedSplitter(chunk_size=30, chunk_overlap=25, length="characters")
    nodes = splitter([document])
    assert [node.text for node in nodes] == ["One is. Two is.", "Three is."]


def test_a_title_goes_in_front_of_each_chunk() -> None:
    document = Document(text="One is. Two is.", id_="d", metadata={"title": "Numbers"})
    document.excluded_embed_metadata_keys = document.excluded_llm_metadata_keys = ["title"]
    splitter = SentenceAlignedSplitter(chunk_size=20, length="characters", title_key="title")
    nodes = splitter([document])
    assert len(nodes) == 2
    for node in nodes:
        assert node.text.startswith("Numbers")
        prefix = node.metadata["prefix_length"]
        assert document.text[node.start_char_idx : node.end_char_idx] == node.text[prefix:]


def test_split_text_leaves_room_for_metadata_as_upstream_does() -> None:
    splitter = SentenceAlignedSplitter(chunk_size=20, length="characters")
    assert isinstance(splitter, TextSplitter)
    assert splitter.split_text("One is. Two is.") == ["One is. Two is."]
    assert splitter.split_text_metadata_aware("One is. Two is.", "k: v") == ["One is.", "Two is."]
    assert splitter.split_texts(["One is.", "Two is."]) == ["One is.", "Two is."]


@pytest.mark.parametrize(
    ("cls", "settings", "functions"),
    [
        (SentenceAlignedSplitter, {}, {}),
        (
            SentenceAlignedSplitter,
            {"chunk_size": 64, "overlap_sentences": 1},
            {"length": characters, "id_func": document_uuid},
        ),
        (
            SentenceAlignedSplitter,
            {"length": "words", "document_id": "slug", "id_style": "uuid5"},
            {},
        ),
        (SentenceAlignedSplitter, {"length": "words"}, {"document_id": by_slug}),
        (HeadingPathSplitter, {"sections": "merge", "prepend_heading_path": True}, {}),
        (DefinitionSplitter, {"language": "python", "chunk_size": 100}, {}),
    ],
)
def test_settings_survive_dictionaries_json_and_pickle(
    cls: Any, settings: dict[str, Any], functions: dict[str, Any]
) -> None:
    splitter = cls(**settings, **functions)
    for copy in (
        cls.from_dict(splitter.to_dict(), **functions),
        cls.from_json(splitter.to_json(), **functions),
        pickle.loads(pickle.dumps(splitter)),
        splitter.model_copy(deep=True),
    ):
        assert type(copy) is cls
        assert copy.to_dict() == splitter.to_dict()
        assert copy.id_func is splitter.id_func
        assert copy.document_id == splitter.document_id
        assert copy.length == splitter.length
    assert splitter.to_dict()["class_name"] == f"ragtrace.{cls.__name__}"
    json.dumps(splitter.to_dict())


def test_a_function_is_named_but_never_looked_up_by_its_name() -> None:
    splitter = SentenceAlignedSplitter(length=lambda text: len(text))
    other = SentenceAlignedSplitter(length=lambda text: len(text.split()))
    assert splitter.to_dict() != other.to_dict()
    with pytest.raises(ValueError, match=r"SentenceAlignedSplitter: length: .* pass it again"):
        SentenceAlignedSplitter.from_dict(splitter.to_dict())
    with pytest.raises(ValueError, match="os:system"):
        SentenceAlignedSplitter.from_dict({"length": {"function": "os:system"}})
    again = SentenceAlignedSplitter.from_dict(splitter.to_dict(), length=len)
    assert again.length is len


def test_every_setting_is_part_of_the_cache_key() -> None:
    nodes = [Document(text="One is. Two is.", id_="d")]
    variants = [
        SentenceAlignedSplitter(),
        SentenceAlignedSplitter(chunk_size=100),
        SentenceAlignedSplitter(overlap_sentences=1),
        SentenceAlignedSplitter(chunk_overlap=10),
        SentenceAlignedSplitter(window=3, step=1),
        SentenceAlignedSplitter(length="words"),
        SentenceAlignedSplitter(length=characters),
        SentenceAlignedSplitter(id_style="uuid5"),
        SentenceAlignedSplitter(id_func=document_uuid),
        SentenceAlignedSplitter(document_id=by_slug),
        SentenceAlignedSplitter(title_key="title"),
        SentenceAlignedSplitter(oversize="keep"),
        SentenceAlignedSplitter(include_metadata=False),
        HeadingPathSplitter(),
        HeadingPathSplitter(sections="merge"),
        HeadingPathSplitter(prepend_heading_path=True),
        DefinitionSplitter(language="python"),
        DefinitionSplitter(language="go"),
    ]
    keys = [get_transformation_hash(nodes, splitter) for splitter in variants]
    assert len(set(keys)) == len(keys)
    assert get_transformation_hash(nodes, SentenceAlignedSplitter()) == keys[0]


def test_a_cached_run_gives_the_same_nodes() -> None:
    cache = IngestionCache()
    splitter = SentenceAlignedSplitter(chunk_size=8, length="characters")
    document = Document(text="One is. Two is.", id_="d")
    first = IngestionPipeline(transformations=[splitter], cache=cache).run(documents=[document])
    again = IngestionPipeline(transformations=[splitter], cache=cache).run(documents=[document])
    assert [node.to_dict() for node in again] == [node.to_dict() for node in first]


def test_workers_in_fresh_processes_give_the_same_nodes() -> None:
    # In a process of its own: a worker that cannot unpickle its parser makes the pipeline hang.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORKERS],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    alone, together = json.loads(done.stdout)
    assert together == alone
    assert len(alone) == 8


async def test_the_async_way_gives_the_same_nodes() -> None:
    splitter = SentenceAlignedSplitter(chunk_size=8, length="characters")
    document = Document(text="One is. Two is.", id_="d")
    assert [n.to_dict() for n in await splitter.acall([document])] == [
        n.to_dict() for n in splitter([document])
    ]
    assert [n.node_id for n in await splitter.aget_nodes_from_documents([document])] == [
        "d#c0",
        "d#c1",
    ]


def test_ids_can_be_uuids_for_stores_that_take_nothing_else() -> None:
    document = Document(text="One is. Two is.", id_="d")
    make = SentenceAlignedSplitter(chunk_size=8, length="characters", id_style="uuid5")
    nodes = make([document])
    assert all(len(node.node_id) == 36 for node in nodes)
    assert [node.metadata["chunk_id"] for node in nodes] == ["d#c0", "d#c1"]
    assert [node.node_id for node in make([document])] == [node.node_id for node in nodes]


def test_an_id_func_decides_and_must_tell_chunks_apart() -> None:
    document = Document(text="One is. Two is.", id_="d")
    make = SentenceAlignedSplitter.from_defaults(
        chunk_size=8, length="characters", id_func=document_uuid
    )
    assert [node.node_id for node in make([document])] == ["d:0", "d:1"]
    same = SentenceAlignedSplitter(
        chunk_size=8, length="characters", id_func=lambda index, document: "same"
    )
    with pytest.raises(ValueError, match="two chunks have the node id 'same'"):
        same([document])


def test_ids_stay_apart_when_a_hierarchy_splits_piece_by_piece() -> None:
    parser = HierarchicalNodeParser.from_defaults(
        node_parser_ids=["large", "small"],
        node_parser_map={
            "large": SentenceAlignedSplitter(chunk_size=30, length="characters"),
            "small": SentenceAlignedSplitter(chunk_size=10, length="characters"),
        },
    )
    text = "One is. Two is. Three is. Four is. Five is. Six is."
    nodes = parser.get_nodes_from_documents([Document(text=text, id_="d")])
    assert len({node.node_id for node in nodes}) == len(nodes)
    leaves = [node for node in nodes if node.child_nodes is None]
    assert_exact(leaves, text)


def test_an_embedding_is_not_inherited() -> None:
    document = Document(text="One is. Two is.", id_="d", embedding=[1.0])
    nodes = SentenceAlignedSplitter(chunk_size=8, length="characters")([document])
    assert [node.embedding for node in nodes] == [None, None]


def test_every_kind_of_text_node_is_taken(tmp_path: Path) -> None:
    picture = tmp_path / "two.png"
    picture.write_bytes(PNG)
    splitter = SentenceAlignedSplitter(chunk_size=100, length="characters")
    plain = Node(id_="n", text_resource=MediaResource(text="One is."))
    image = ImageDocument(id_="i", text="Two is.", image_path=str(picture))
    nodes = splitter([plain, image, TextNode(id_="t", text="Three is.")])
    assert [(node.node_id, node.text) for node in nodes] == [
        ("n#c0", "One is."),
        ("i#c0", "Two is."),
        ("t#c0", "Three is."),
    ]
    assert isinstance(nodes[1], ImageNode)
    assert nodes[1].image_path == str(picture)


def test_the_document_is_named_by_the_key_or_function_asked_for() -> None:
    document = Document(text="One.", id_="random", metadata={"slug": "a"})
    key = SentenceAlignedSplitter(document_id="slug")([document])
    function = SentenceAlignedSplitter(document_id=by_slug)([document])
    assert [key[0].node_id, function[0].node_id] == ["a#c0", "slug-a#c0"]
    assert key[0].ref_doc_id == "random"
    with pytest.raises(ValueError, match="no 'absent' in its metadata"):
        SentenceAlignedSplitter(document_id="absent")([document])


def test_a_chunk_that_is_split_again_inherits_no_stale_offsets() -> None:
    whole = Document(text=MARKDOWN, id_="d", metadata={"lang": "en"})
    sections = HeadingPathSplitter(chunk_size=500, prepend_heading_path=True)([whole])
    nodes = SentenceAlignedSplitter(chunk_size=30)(sections)
    assert_exact(nodes, MARKDOWN)
    assert nodes[-1].metadata["heading_path"] == "Other"
    assert nodes[0].metadata["splitter"].startswith("sentence-aligned:")
    assert len({node.metadata["chunk_id"] for node in nodes}) == len(nodes)


def test_html_chunks_carry_no_offsets_into_the_document() -> None:
    nodes = HeadingPathSplitter(format="html", chunk_size=50)([Document(text=HTML, id_="d")])
    assert any("wait(5)" in node.text for node in nodes)
    for node in nodes:
        assert node.start_char_idx is None
        assert "start_index" not in node.metadata
        assert node.metadata["heading_path"] == "Guide"


def test_functions_stay_whole() -> None:
    code = "import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"
    splitter = DefinitionSplitter(language="python", chunk_size=30, length="characters")
    nodes = splitter([Document(text=code, id_="d")])
    assert any(node.text.strip() == "def second():\n    return 2" for node in nodes)
    assert_exact(nodes, code)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"chunk_size": 0}, "chunk_size"),
        ({"chunk_size": "many"}, "chunk_size"),
        ({"tokenizer": len}, "has no tokenizer: it takes .*length"),
        ({"chunk_size": 10, "chunk_overlap": 10}, "overlap"),
        ({"id_style": "uuid4"}, "id_style"),
        ({"oversize": "drop"}, "oversize"),
        ({"length": "cl101k_base"}, "cl101k_base"),
    ],
)
def test_wrong_settings_are_one_clear_line(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        SentenceAlignedSplitter(**wrong)
    assert "\n" not in str(caught.value)


def test_empty_input_gives_no_nodes() -> None:
    splitter = SentenceAlignedSplitter()
    assert splitter([]) == []
    assert splitter([Document(text="", id_="a"), Document(text=" \n", id_="b")]) == []


def test_it_works_as_the_parser_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, embedding: Any
) -> None:
    splitter = SentenceAlignedSplitter(chunk_size=8)
    monkeypatch.setattr(Settings, "_node_parser", splitter)
    # Whoever asked for the transformations before fixed them for the process.
    monkeypatch.setattr(Settings, "_transformations", None)
    index = VectorStoreIndex.from_documents(
        [Document(text="One is. Two is. Three is.", id_="d")], embed_model=embedding
    )
    [hit] = index.as_retriever(similarity_top_k=1).retrieve("Three")
    assert hit.node.metadata["chunk_id"].startswith("d#c")
    assert hit.node.start_char_idx == hit.node.metadata["start_index"]
