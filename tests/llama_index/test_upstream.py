"""What these node parsers do that LlamaIndex's own do not, each asked of both."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import MarkdownNodeParser, NodeParser, SentenceSplitter
from llama_index.core.schema import BaseNode, Document

from ragtrace.llama_index import HeadingPathSplitter, SentenceAlignedSplitter

Make = Callable[..., NodeParser]

MARKDOWN = """\
# Guide

One is first. Two comes next. Three is third.

## Numbers

Four is here. Five follows. Six ends it.
"""


def both(ours: Make, upstream: Make, reason: str) -> Any:
    """Ask LlamaIndex's own parser too, which does not do this, for the reason given."""
    fails = pytest.mark.xfail(strict=True, reason=reason)
    return pytest.mark.parametrize(
        "make",
        [pytest.param(ours, id="ours"), pytest.param(upstream, id="upstream", marks=fails)],
    )


def sentences(**settings: Any) -> NodeParser:
    return SentenceAlignedSplitter(chunk_size=6, include_metadata=False, **settings)


def upstream_sentences(**settings: Any) -> NodeParser:
    return SentenceSplitter(chunk_size=6, chunk_overlap=0, include_metadata=False, **settings)


def chained(parser: NodeParser) -> list[BaseNode]:
    parsers = [MarkdownNodeParser(), parser]
    return list(
        IngestionPipeline(transformations=parsers).run(documents=[Document(text=MARKDOWN, id_="d")])
    )


@both(sentences, upstream_sentences, "a short chunk is found inside an earlier one")
def test_a_chunk_that_repeats_earlier_text_keeps_its_own_place(make: Make) -> None:
    text = "Well it is OK.\n\nOK.\n\nFive more words are here."
    nodes = make()([Document(text=text, id_="d")])
    places = [node.start_char_idx for node in nodes]
    assert len(places) > 2
    covered = {at for node in nodes for at in range(node.start_char_idx, node.end_char_idx)}
    assert all(text[at].isspace() for at in set(range(len(text))) - covered)
    assert all(first.end_char_idx <= second.start_char_idx for first, second in pairwise(nodes))


@both(sentences, upstream_sentences, "offsets count from the section, under the document's id")
def test_offsets_after_another_parser_count_from_the_document(make: Make) -> None:
    nodes = chained(make())
    assert {node.ref_doc_id for node in nodes} == {"d"}
    assert [MARKDOWN[n.start_char_idx : n.end_char_idx] for n in nodes] == [n.text for n in nodes]


@both(sentences, upstream_sentences, "NEXT is missing, and PREVIOUS crosses sections")
def test_links_after_another_parser_go_both_ways(make: Make) -> None:
    nodes = chained(make())
    assert len(nodes) > 4
    assert any(node.next_node for node in nodes)
    for before, after in pairwise(nodes):
        assert (before.next_node is None) == (after.prev_node is None)


@both(SentenceAlignedSplitter, SentenceSplitter, "the id function comes back as a dictionary")
def test_settings_read_back_from_their_dictionary(make: Make) -> None:
    parser = make()
    assert type(parser).from_dict(parser.to_dict()).to_dict() == parser.to_dict()


@both(HeadingPathSplitter, MarkdownNodeParser, "only fences of three backticks are known")
@pytest.mark.parametrize(
    "fenced", ["~~~\n# no heading\n~~~", "````\n```\n````\n\n````\n# no heading\n````"]
)
def test_no_heading_is_seen_inside_a_fence(make: Make, fenced: str) -> None:
    text = f"# Top\n\n{fenced}\n\nThe end.\n"
    nodes = make()([Document(text=text, id_="d")])
    assert len(nodes) == 1


@both(HeadingPathSplitter, MarkdownNodeParser, "it has no class name of its own")
def test_the_class_name_tells_parsers_apart(make: Make) -> None:
    assert make().class_name() not in {"base_component", ""}
