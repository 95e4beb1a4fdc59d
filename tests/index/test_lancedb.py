"""A LanceDB table follows its documents through a target of a few lines, as users may write one."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragtrace.index import Stored, find_stale, sync
from tests.index.stores import DELETED, EDITED, FIRST, embed

lancedb: Any = pytest.importorskip("lancedb")
pytestmark = pytest.mark.stores


class Table:
    def __init__(self, folder: Path) -> None:
        row = {"id": "", "vector": embed(""), "text": "", "chunk_id": "", "start": 0}
        self.table = lancedb.connect(str(folder)).create_table("chunks", data=[row])
        self.table.delete("id = ''")
        self.embedded: list[str] = []

    def add(self, chunks: Stored) -> None:
        texts = [chunk.content for chunk in chunks.values()]
        self.embedded += texts
        rows = [
            {"id": i, "vector": embed(c.content), "text": c.content}
            | {"chunk_id": c.chunk_id, "start": c.start}
            for i, c in chunks.items()
        ]
        merge = self.table.merge_insert("id").when_matched_update_all()
        merge.when_not_matched_insert_all().execute(rows)

    def update(self, chunks: Stored) -> None:
        for i, chunk in chunks.items():
            values = {"chunk_id": chunk.chunk_id, "start": chunk.start}
            self.table.update(where=f"id = '{i}'", values=values)

    def delete(self, ids: Sequence[str]) -> None:
        self.table.delete(among(ids))

    def present(self, ids: Sequence[str]) -> Collection[str]:
        return {row["id"] for row in self.rows() if row["id"] in set(ids)}

    def rows(self) -> list[dict[str, Any]]:
        return list(self.table.to_arrow().to_pylist())


def among(ids: Sequence[str]) -> str:
    return "id in ({})".format(", ".join(f"'{i}'" for i in ids))


def test_a_table_follows_an_edit_a_shorter_page_and_a_deletion(tmp_path: Path) -> None:
    target, manifest = Table(tmp_path / "lance"), tmp_path / "chunks.jsonl"
    for chunks in (FIRST, EDITED, DELETED, FIRST, DELETED):
        sync(target, chunks, manifest, batch_size=2)
        held = sorted((row["text"], row["chunk_id"], row["start"]) for row in target.rows())
        assert held == sorted((c.content, c.chunk_id, c.start) for c in chunks)
    assert target.embedded[:6] == [*(c.content for c in FIRST), "Keys rotate every week. "]
    text = "".join(chunk.text for chunk in DELETED)
    assert find_stale(target.rows(), {"guide": text}).ids == []
    found = target.table.search(embed("invoices refunds")).limit(99).to_list()
    assert {row["text"] for row in found} == {chunk.content for chunk in DELETED}
    assert sync(target, DELETED, manifest).changes_nothing


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_langchains_class_for_it_is_refused_before_anything_is_lost(tmp_path: Path) -> None:
    stores = pytest.importorskip("langchain_community.vectorstores")
    from ragtrace.langchain.sync import VectorStoreTarget
    from tests.index.test_langchain_stores import CountingEmbeddings

    store = stores.LanceDB(uri=str(tmp_path), embedding=CountingEmbeddings())
    with pytest.raises(ValueError, match="SyncTarget over the LanceDB table"):
        VectorStoreTarget(store)
