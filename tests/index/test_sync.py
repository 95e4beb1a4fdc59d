"""A store ends up with today's chunks and no others, whatever was in the way."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.chunking import Chunk
from ragtrace.index import (
    Manifest,
    ManifestChunk,
    Stored,
    document_record,
    plan_sync,
    read_manifest,
    sync,
    synchronization,
)


class Killed(BaseException):
    """What a test raises where a process would die."""


class Store:
    """A store in memory, which counts what it embeds and can die before any step."""

    def __init__(self) -> None:
        self.rows: dict[str, ManifestChunk] = {}
        self.embedded: list[str] = []
        self.steps_left = 10**9

    def step(self) -> None:
        if self.steps_left == 0:
            raise Killed
        self.steps_left -= 1

    def add(self, chunks: Stored) -> None:
        for store_id, chunk in chunks.items():
            self.step()
            self.embedded.append(chunk.content)
            self.rows[store_id] = chunk

    def update(self, chunks: Stored) -> None:
        for store_id, chunk in chunks.items():
            self.step()
            assert self.rows[store_id].content == chunk.content
            self.rows[store_id] = chunk

    def delete(self, ids: Sequence[str]) -> None:
        for store_id in ids:
            self.step()
            self.rows.pop(store_id, None)

    def present(self, ids: Sequence[str]) -> Collection[str]:
        return self.rows.keys() & set(ids)


def chunks_of(*texts: str, doc_id: str = "guide") -> list[Chunk]:
    chunks, at = [], 0
    for index, text in enumerate(texts):
        chunks.append(Chunk(doc_id, index, at, at + len(text), text))
        at += len(text)
    return chunks


def held(store: Store) -> list[tuple[str, int, str]]:
    return sorted((chunk.doc_id, chunk.start, chunk.text) for chunk in store.rows.values())


def wanted(chunks: Sequence[Chunk]) -> list[tuple[str, int, str]]:
    return sorted((chunk.doc_id, chunk.start, chunk.text) for chunk in chunks)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return tmp_path / "chunks.jsonl"


def test_a_first_sync_adds_everything_and_a_second_nothing(manifest: Path) -> None:
    store, chunks = Store(), chunks_of("One. ", "Two. ", "Three.")
    assert (
        str(sync(store, chunks, manifest)) == "add 3, update 0 (text unchanged), keep 0, delete 0"
    )
    assert sync(store, chunks, manifest).changes_nothing
    assert held(store) == wanted(chunks)
    assert [chunk.text for chunk in read_manifest(manifest).chunks] == ["One. ", "Two. ", "Three."]


def test_an_edit_in_the_middle_embeds_only_what_changed(manifest: Path) -> None:
    store = Store()
    sync(store, chunks_of("One. ", "Two. ", "Three. ", "Four."), manifest)
    store.embedded.clear()
    edited = chunks_of("One. ", "Two and a half. ", "Three. ", "Four.")
    plan = sync(store, edited, manifest)
    assert store.embedded == ["Two and a half. "]
    assert [len(part) for part in (plan.add, plan.update, plan.keep, plan.delete)] == [1, 2, 1, 1]
    assert held(store) == wanted(edited)


def test_equal_texts_of_one_document_are_all_kept(manifest: Path) -> None:
    store = Store()
    sync(store, chunks_of("Yes.", "Yes.", "Yes."), manifest)
    assert len(store.rows) == 3
    sync(store, chunks_of("Yes.", "Yes."), manifest)
    assert held(store) == wanted(chunks_of("Yes.", "Yes."))
    assert len(store.embedded) == 3


def test_a_deleted_document_leaves_nothing(manifest: Path) -> None:
    store = Store()
    other = chunks_of("Hello.", doc_id="other")
    sync(store, [*chunks_of("One. ", "Two."), *other], manifest)
    plan = sync(store, other, manifest)
    assert len(plan.delete) == 2
    assert held(store) == wanted(other)
    sync(store, [], manifest)
    assert store.rows == {}


def test_a_scope_speaks_for_its_documents_only(manifest: Path) -> None:
    store = Store()
    guide, other = chunks_of("One. ", "Two."), chunks_of("Hello.", doc_id="other")
    sync(store, [*guide, *other], manifest)
    shorter = chunks_of("One. ")
    plan = sync(store, shorter, manifest, scope=["guide"])
    assert (len(plan.keep), len(plan.delete)) == (2, 1)
    assert held(store) == wanted([*shorter, *other])
    sync(store, [], manifest, scope=["guide"])
    assert held(store) == wanted(other)
    with pytest.raises(ValueError, match="'other' has chunks but is not in scope"):
        sync(store, other, manifest, scope=["guide"])


def test_what_a_document_newly_says_is_written_without_embedding(manifest: Path) -> None:
    store, chunks = Store(), chunks_of("One. ", "Two.")
    text = "One. Two."
    sync(store, chunks, manifest, documents={"guide": text})
    record = document_record("guide", text, version="2", permissions=["staff"])
    plan = sync(store, chunks, manifest, documents={"guide": record})
    assert len(plan.update) == 2
    assert len(store.embedded) == 2
    assert {chunk.permissions for chunk in store.rows.values()} == {("staff",)}
    assert read_manifest(manifest).documents["guide"].version == "2"


def test_a_dry_run_touches_nothing(manifest: Path) -> None:
    store = Store()
    plan = sync(store, chunks_of("One."), manifest, dry_run=True)
    assert len(plan.add) == 1
    assert store.rows == {}
    assert list(manifest.parent.iterdir()) == []


def test_a_store_that_was_emptied_is_filled_again(manifest: Path) -> None:
    store, chunks = Store(), chunks_of(*(f"Row {row}. " for row in range(40)))
    sync(store, chunks, manifest)
    store.rows.clear()
    assert len(sync(store, chunks, manifest).add) == 40
    assert held(store) == wanted(chunks)


def test_a_database_serves_as_manifest(tmp_path: Path) -> None:
    store, path = Store(), tmp_path / "chunks.sqlite"
    sync(store, chunks_of("One. ", "Two."), path)
    assert len(sync(store, chunks_of("One. ", "Three."), path).keep) == 1


def test_documents_with_one_id_are_refused_before_anything_is_touched(manifest: Path) -> None:
    store = Store()
    with pytest.raises(ValueError, match="two chunks have the id 'guide#c0'"):
        sync(store, [*chunks_of("One."), *chunks_of("Two.")], manifest)
    assert store.rows == {}


def test_a_plan_without_a_manifest_adds_everything() -> None:
    assert len(plan_sync(None, chunks_of("One. ", "Two.")).add) == 2
    assert len(plan_sync(Manifest([]), []).delete) == 0


TEXTS = st.lists(st.sampled_from(["A. ", "B. ", "C. ", "D. "]), max_size=5)


@settings(max_examples=150)
@given(st.lists(st.tuples(TEXTS, st.integers(0, 12)), min_size=1, max_size=4), TEXTS)
def test_killed_at_any_step_and_run_again_nothing_is_lost_or_doubled(
    runs: list[tuple[list[str], int]], last: list[str]
) -> None:
    store = Store()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        manifest = Path(folder) / "chunks.jsonl"
        journal = synchronization.Journal
        for owner, name in (
            (synchronization, "save_manifest"),
            (journal, "write"),
            (journal, "remove"),
        ):
            patch.setattr(owner, name, dying(store, getattr(owner, name)))
        for texts, steps in runs:
            store.steps_left = steps
            with suppress(Killed):
                sync(store, chunks_of(*texts), manifest, batch_size=2)
        store.steps_left = 10**9
        sync(store, chunks_of(*last), manifest, batch_size=2)
        assert held(store) == wanted(chunks_of(*last))
        assert sync(store, chunks_of(*last), manifest).changes_nothing


def dying(store: Store, real: Callable[..., None]) -> Callable[..., None]:
    """Make a step one before and after which the process can die."""

    def step(*values: object, **named: object) -> None:
        store.step()
        real(*values, **named)
        store.step()

    return step
