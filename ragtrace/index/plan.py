"""What has to change in a store so that it holds these chunks and no others.

A store knows a chunk by an id made of its document and its text, not of its place, so that a page
edited in the middle keeps the ids of everything else, and with them the embeddings.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from ragtrace.chunking.chunk import Chunk
from ragtrace.index.manifest import Manifest
from ragtrace.index.manifest_chunk import ManifestChunk, describe_chunks

Stored = dict[str, ManifestChunk]
"""Chunks by the id under which the store holds them."""


class SyncPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Hold chunks by store id, parted by what has to be done with them.

    `add` are to be embedded and written. `update` are in the store with the same text, but moved,
    or their document says something new of them: only metadata is written. `keep` need nothing.
    `delete` are store ids.
    """

    add: Stored
    update: Stored
    keep: Stored
    delete: tuple[str, ...]

    @property
    def changes_nothing(self) -> bool:
        """Say whether the store is as it should be."""
        return not (self.add or self.update or self.delete)

    def __str__(self) -> str:
        return (
            f"add {len(self.add):,}, update {len(self.update):,} (text unchanged), "
            f"keep {len(self.keep):,}, delete {len(self.delete):,}"
        )


def plan_sync(old_manifest: Manifest | None, new_chunks: Iterable[Chunk]) -> SyncPlan:
    """Compare what a store holds, as its manifest says, with the chunks it should hold.

    >>> old = Manifest([Chunk("a", 0, 0, 4, "One."), Chunk("a", 1, 5, 9, "Two.")])
    >>> new = [Chunk("a", 0, 0, 6, "Zero."), Chunk("a", 1, 6, 10, "One.")]
    >>> str(plan_sync(old, new))
    'add 1, update 1 (text unchanged), keep 0, delete 1'
    """
    held = stored(old_manifest.chunks if old_manifest is not None else ())
    wanted = stored(new_chunks)
    add: Stored = {}
    update: Stored = {}
    keep: Stored = {}
    for store_id, chunk in wanted.items():
        earlier = held.get(store_id)
        kind = add if earlier is None else keep if earlier == chunk else update
        kind[store_id] = chunk
    gone = tuple(store_id for store_id in held if store_id not in wanted)
    return SyncPlan(add=add, update=update, keep=keep, delete=gone)


def stored(chunks: Iterable[Chunk]) -> Stored:
    """Give every chunk the id under which a store holds it."""
    seen: Counter[tuple[str, str]] = Counter()
    by_id: Stored = {}
    for chunk in describe_chunks(chunks):
        key = (chunk.doc_id, chunk.content_hash)
        by_id[content_id(*key, seen[key])] = chunk
        seen[key] += 1
    return by_id


def content_id(doc_id: str, content_hash: str, repeat: int = 0) -> str:
    """Make a store id, a UUID, of a document and a text; `repeat` tells equal texts apart.

    >>> content_id("guide", "3c5c8a1fdb206886")
    '244d78ed-fcb9-d597-f78a-5c1194bd2822'
    """
    name = f"{doc_id}\0{content_hash}\0{repeat}".encode("utf-8", "surrogatepass")
    digits = blake2b(name, digest_size=16).hexdigest()  # `uuid.UUID` would take most of a sync
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
