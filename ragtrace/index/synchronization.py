"""Make a store hold exactly the chunks of today's documents, whatever happens on the way."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from ragtrace.chunking.chunk import Chunk
from ragtrace.index.manifest import SCHEMA, Manifest, ManifestHeader
from ragtrace.index.manifest_chunk import Documents, describe_chunks, document_records
from ragtrace.index.manifest_file import (
    read_manifest,
    replacing,
    save_manifest,
    without_repeated_ids,
)
from ragtrace.index.plan import Stored, SyncPlan, plan_sync

PROBES = 8
"""Chunks that every sync looks for in the store, to notice one that was emptied behind its back."""


class SyncTarget(Protocol):
    """What a store must be able to do. Every call may be repeated."""

    def add(self, chunks: Stored) -> None:
        """Embed and write chunks; an id that is there is replaced."""

    def update(self, chunks: Stored) -> None:
        """Write the metadata of chunks whose text the store already has."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; an id that is not there is no error."""

    def present(self, ids: Sequence[str]) -> Collection[str]:
        """Return those of the ids that the store has."""


def sync(
    target: SyncTarget,
    chunks: Iterable[Chunk],
    manifest: str | os.PathLike[str],
    *,
    splitter: str | None = None,
    settings: Mapping[str, Any] | None = None,
    documents: Documents | None = None,
    keep_texts: bool = False,
    scope: Collection[str] | None = None,
    dry_run: bool = False,
    batch_size: int = 500,
) -> SyncPlan:
    """Bring a store up to date and write its manifest; return what was done.

    Texts that did not change are not embedded again. `scope` names the documents that `chunks`
    speak for, those of them without a chunk being deleted; without it they speak for the whole
    store. A `dry_run` returns the plan and touches nothing. The other options are those of
    `write_manifest`. Raises `ValueError` where that does.

    A run that was interrupted is finished by running again, also with other chunks: a journal
    beside the manifest says which ids it may have touched. Run one sync of a store at a time.
    """
    path = Path(manifest)
    journal = Journal(path)
    records = document_records(documents)
    rows = list(describe_chunks(chunks, splitter=splitter, documents=records))
    old = read_manifest(path) if path.exists() else None
    if scope is not None and old is not None:
        named = frozenset(scope)
        for chunk in rows:
            if chunk.doc_id not in named:
                raise ValueError(f"document {chunk.doc_id!r} has chunks but is not in scope")
        rows = [chunk for chunk in old.chunks if chunk.doc_id not in named] + rows
        records = {i: r for i, r in old.documents.items() if i not in named} | records
    header = ManifestHeader(schema=SCHEMA, splitter=splitter, settings=dict(settings or {}))
    new = Manifest(without_repeated_ids(rows), header=header, documents=records)
    plan = with_doubts(plan_sync(old, new.chunks), journal.read())
    plan = with_doubts(plan, missing(target, plan))
    if dry_run:
        return plan
    journal.write([*plan.add, *plan.update, *plan.delete])
    for batch in batches(plan.add, batch_size):
        target.add({store_id: plan.add[store_id] for store_id in batch})
    for batch in batches(plan.update, batch_size):
        target.update({store_id: plan.update[store_id] for store_id in batch})
    for batch in batches(plan.delete, batch_size):
        target.delete(batch)
    save_manifest(new, path, keep_texts=keep_texts)
    journal.remove()
    return plan


def with_doubts(plan: SyncPlan, doubtful: Collection[str]) -> SyncPlan:
    """Write anew, or delete, what the store may or may not hold."""
    if not doubtful:
        return plan
    doubts = frozenset(doubtful)
    wanted = plan.add | plan.update | plan.keep
    return SyncPlan(
        add={i: chunk for i, chunk in wanted.items() if i in plan.add or i in doubts},
        update={i: chunk for i, chunk in plan.update.items() if i not in doubts},
        keep={i: chunk for i, chunk in plan.keep.items() if i not in doubts},
        delete=tuple(dict.fromkeys((*plan.delete, *sorted(doubts - wanted.keys())))),
    )


def missing(target: SyncTarget, plan: SyncPlan) -> Collection[str]:
    """Return the ids that the store should have and has not; a few are asked for, then all."""
    held = [*plan.update, *plan.keep]
    probes = held[:: max(1, len(held) // PROBES)]
    if not held or len(target.present(probes)) == len(probes):
        return ()
    found = {i for batch in batches(held, 500) for i in target.present(batch)}
    return [store_id for store_id in held if store_id not in found]


def batches(ids: Iterable[str], size: int) -> Iterator[list[str]]:
    """Part ids into lists of at most `size`."""
    rest = iter(ids)
    while batch := list(islice(rest, size)):
        yield batch


class Journal:
    """Keep the ids that a sync may have touched, beside the manifest, until it is done."""

    def __init__(self, manifest: Path) -> None:
        self.path = manifest.with_name(manifest.name + ".journal")

    def read(self) -> list[str]:
        """Return the ids that an interrupted run may have touched."""
        return self.path.read_text("utf-8").split() if self.path.exists() else []

    def write(self, ids: Iterable[str]) -> None:
        """Note what is about to be touched; it is on disk when this returns."""
        with replacing(self.path) as partial, partial.open("w", encoding="utf-8") as file:
            file.writelines(f"{store_id}\n" for store_id in ids)
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Forget the ids: the manifest speaks for the store again."""
        self.path.unlink(missing_ok=True)
