"""Chunks that a live store should not return any more, whoever put them there."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from ragtrace.index.library import Reason
from ragtrace.index.locate import locate_chunks
from ragtrace.index.stored_hits import read_stored_hits
from ragtrace.postprocessing.shingles import shingles_of, words_of
from ragtrace.tracing.hit import Hit

StaleReason = Reason | Literal["old-version"]

SHARED = 0.3
"""Share of a text's runs of words that chunks of today's document hold, for it to be their past."""


class StaleChunk(msgspec.Struct, frozen=True, kw_only=True):
    """Hold a chunk whose text stands in no document of today, and why.

    `document-gone`: its document is not among those given. `old-version`: its document has much of
    this text and the store has that too. `text-changed`: the document has it no more. `extra-copy`:
    the store holds it more often than the documents do. `not-found`: it names no document, and none
    has it. `empty`: there is no text.
    """

    store_id: str
    hit: Hit
    reason: StaleReason


class StaleReport(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what is stale in a store of `total` chunks."""

    total: int
    stale: tuple[StaleChunk, ...]

    @property
    def ids(self) -> list[str]:
        """Return the ids to hand to the store's `delete`."""
        return [chunk.store_id for chunk in self.stale]

    @property
    def reasons(self) -> dict[StaleReason, int]:
        """Count the stale chunks by why."""
        return dict(Counter(chunk.reason for chunk in self.stale))

    def __str__(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.reasons.items())
        return f"{len(self.stale):,} of {self.total:,} chunks are stale: {reasons or 'none'}"


def find_stale(items: Iterable[Any], documents: Mapping[str, str]) -> StaleReport:
    """Compare what a store holds with the documents of today, all of them.

    `items` are what `read_stored_hits` takes, as from `ragtrace.boundary.read_store(store)`.
    Nothing is deleted: `store.delete(report.ids)` does that.

    >>> items = [{"id": at, "text": text} for at, text in enumerate(["Old.", "New."])]
    >>> print(find_stale(items, {"guide": "New."}))
    1 of 2 chunks are stale: 1 not-found
    """
    stored = list(read_stored_hits(items))
    located = locate_chunks((each.hit for each in stored), documents)
    store_ids = {id(each.hit): each.store_id for each in stored}
    current: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for chunk in located.chunks:
        current[chunk.doc_id] |= shingles_of(words_of(chunk.text))
    stale = []
    for missing in located.unlocated:
        reason: StaleReason = missing.reason
        if reason == "text-changed" and is_past(missing.hit, current):
            reason = "old-version"
        store_id = store_ids[id(missing.hit)]
        stale.append(StaleChunk(store_id=store_id, hit=missing.hit, reason=reason))
    return StaleReport(total=len(stored), stale=tuple(stale))


def is_past(hit: Hit, current: Mapping[str, set[tuple[str, ...]]]) -> bool:
    """Say whether chunks of today's document that the store has hold much of a text."""
    shingles = shingles_of(words_of(hit.text))
    named = current.get(hit.doc_id) if hit.doc_id is not None else None
    texts = current.values() if named is None else [named]
    return any(len(shingles & text) >= SHARED * len(shingles) > 0 for text in texts)
