"""Read what a live store holds, item by item, as hits beside the store's own ids."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ragtrace.tracing.hit import Hit
from ragtrace.tracing.stored import read_stored


class StoredHit(msgspec.Struct, frozen=True):
    """Hold a chunk as a store has it; `store_id` is what its `delete` takes."""

    store_id: str
    hit: Hit


def read_stored_hits(items: Iterable[Any]) -> Iterator[StoredHit]:
    """Read mappings with `id`, `text` and `metadata`, LangChain documents or LlamaIndex nodes.

    `ragtrace.boundary.read_store` yields them for the stores it knows. Raises `ValueError` for
    anything else, naming its place.

    >>> [stored] = read_stored_hits([{"id": "7", "text": "Hi", "metadata": {"doc_id": "guide"}}])
    >>> stored.store_id, stored.hit.doc_id
    ('7', 'guide')
    """
    for position, item in enumerate(items, 1):
        node = getattr(item, "node", item)  # a node with a score holds the node
        if isinstance(node, Mapping):
            store_id, text = node.get("id"), node.get("text")
            metadata, doc_id = node.get("metadata") or {}, None
        elif hasattr(node, "page_content"):
            store_id, text = node.id or node.metadata.get("_id"), node.page_content
            metadata, doc_id = node.metadata, None
        elif hasattr(node, "get_content"):
            store_id, text = node.node_id, node.get_content()
            metadata, doc_id = node.metadata, node.ref_doc_id
        else:
            raise ValueError(f"item {position} is a {type(item).__name__}, not a stored chunk")
        own_id = None if store_id is None else str(store_id)
        hit = read_stored(str(text or ""), metadata, rank=position, own_id=own_id, doc_id=doc_id)
        yield StoredHit(own_id or hit.chunk_id, hit)
