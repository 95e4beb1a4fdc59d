"""Nodes as hits, and hits as nodes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    TextNode,
)

from ragtrace.chunking.metadata import CHUNK_KEYS
from ragtrace.postprocessing import MergedHit
from ragtrace.tracing import Hit, read_stored, stored_metadata
from ragtrace.tracing.stored import decoration_of

LINKS = ("previous_id", "next_id")
"""Where `merge_adjacent` looks for a chunk's neighbours; nodes have relationships for that."""


def to_hit(item: NodeWithScore, rank: int) -> Hit:
    """Read a hit from a scored node; `rank` counts from 1."""
    node = item.node
    if type(node) is TextNode:  # its text is its content, at a twentieth of the cost of asking
        content = node.text
    else:
        content = node.get_content(metadata_mode=MetadataMode.NONE)
    return read_stored(
        content,
        node.metadata,
        rank=rank,
        score=item.score,
        own_id=node.node_id,
        doc_id=node.ref_doc_id,
        span=(getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)),
    )


def to_hits(items: Iterable[NodeWithScore]) -> list[Hit]:
    """Read hits, best first."""
    return [to_hit(item, rank) for rank, item in enumerate(items, 1)]


class Part(NamedTuple):
    """Hold a node and what was read from it."""

    node: BaseNode
    hit: Hit


def to_node(merged: MergedHit, parts: Sequence[Part]) -> TextNode:
    """Make a node of a merged hit; `parts` are what it is made of, in document order.

    What made the ends readable alone (a heading path or table header in front, a closing fence
    behind) stays there.
    """
    members = [part.node for part in parts]
    first, last = members[0], members[-1]
    prefix = decoration_of(first.get_content(), parts[0].hit)[0]
    suffix = decoration_of(last.get_content(), parts[-1].hit)[1]
    metadata = {k: v for k, v in stored_metadata(merged).items() if k not in LINKS}
    metadata |= {"prefix_length": len(prefix), "suffix_length": len(suffix)}
    ours = (CHUNK_KEYS | {"merged_ids"}) & metadata.keys()
    relationships = {
        kind: node.relationships[kind]
        for kind, node in (
            (NodeRelationship.SOURCE, first),
            (NodeRelationship.PREVIOUS, first),
            (NodeRelationship.NEXT, last),
        )
        if kind in node.relationships
    }
    return TextNode(
        id_=merged.chunk_id,
        text=prefix + merged.text + suffix,
        metadata=metadata,
        excluded_embed_metadata_keys=_together(
            ours, *(node.excluded_embed_metadata_keys for node in members)
        ),
        excluded_llm_metadata_keys=_together(
            ours, *(node.excluded_llm_metadata_keys for node in members)
        ),
        metadata_template=first.metadata_template,
        metadata_separator=first.metadata_separator,
        text_template=getattr(first, "text_template", TextNode().text_template),
        relationships=relationships,
        start_char_idx=merged.start if merged.verbatim else None,
        end_char_idx=merged.end if merged.verbatim else None,
    )


def _together(extra: Iterable[str], *keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*(key for some in keys for key in some), *sorted(extra)]))
