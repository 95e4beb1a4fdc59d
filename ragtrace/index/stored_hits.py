"""Read what a live store holds, item by item, as hits beside the store's own ids, or as chunks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ragtrace.chunking.metadata import CHUNK_KEYS, content_hash
from ragtrace.index.manifest_chunk import ManifestChunk
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
        content = read_content(item, position)
        hit = read_hit(content, position)
        yield StoredHit(content.own_id or hit.chunk_id, hit)


def chunks_of(items: Iterable[Any]) -> Iterator[ManifestChunk]:
    """Turn what one of our splitters gave a framework back into chunks, for `sync`.

    Takes what `read_stored_hits` takes. Metadata beyond that of a chunk is kept and goes to the
    store. Raises `ValueError` for a text without document id, chunk index or offsets, as other
    splitters make and ours does of HTML; `split` gives chunks of everything.

    >>> metadata = {"doc_id": "guide", "chunk_index": 0, "start_index": 0, "title": "Guide"}
    >>> [chunk] = chunks_of([{"text": "Hello", "metadata": metadata}])
    >>> chunk.chunk_id, chunk.end, chunk.metadata
    ('guide#c0', 5, {'title': 'Guide'})
    """
    for position, item in enumerate(items, 1):
        content = read_content(item, position)
        hit = read_hit(content, position)
        if hit.doc_id is None or hit.chunk_index is None or hit.start is None or hit.end is None:
            raise ValueError(
                f"item {position} has no document id, chunk index and offsets: "
                "split with ragtrace, or with ragtrace.chunking.split"
            )
        at = content.text.find(hit.text)
        metadata = content.metadata
        yield ManifestChunk(
            doc_id=hit.doc_id,
            index=hit.chunk_index,
            start=hit.start,
            end=hit.end,
            text=hit.text,
            prefix=content.text[:at],
            suffix=content.text[at + len(hit.text) :],
            heading_path=hit.heading_path,
            own_id=f"{hit.doc_id}#c{hit.chunk_index}",
            content_hash=content_hash(content.text),
            splitter=metadata.get("splitter"),
            doc_version=hit.doc_version,
            metadata={key: value for key, value in metadata.items() if key not in CHUNK_KEYS},
        )


class Content(msgspec.Struct, frozen=True):
    """Hold a stored text as it is, whatever framework it came from."""

    text: str
    metadata: Mapping[str, Any]
    own_id: str | None
    doc_id: str | None = None


def read_content(item: Any, position: int) -> Content:
    """Read one item; raise `ValueError` for what is no stored chunk."""
    node = getattr(item, "node", item)  # a node with a score holds the node
    if isinstance(node, Mapping):
        own_id = node.get("id")
        return Content(
            str(node.get("text") or ""), node.get("metadata") or {}, own_id and str(own_id)
        )
    if hasattr(node, "page_content"):
        return Content(node.page_content, node.metadata, node.id or node.metadata.get("_id"))
    if hasattr(node, "get_content"):
        return Content(node.get_content(), node.metadata, node.node_id, node.ref_doc_id)
    raise ValueError(f"item {position} is a {type(item).__name__}, not a stored chunk")


def read_hit(content: Content, rank: int) -> Hit:
    """Make a hit of a stored text."""
    return read_stored(
        content.text, content.metadata, rank=rank, own_id=content.own_id, doc_id=content.doc_id
    )
