"""Nobody sees what their groups do not open, and no labelled index is searched unfiltered."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.chunking import Chunk
from ragtrace.index import Manifest, document_record, permission_filter, require_filter
from ragtrace.index.manifest_chunk import describe_chunks
from ragtrace.index.permissions import allows, permission_key, permission_metadata

CHUNK = Chunk("guide", 0, 0, 5, "Hello")
LABELS = st.lists(st.text(max_size=8), max_size=4)


def test_a_search_for_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="no groups given"):
        permission_filter(None, "chroma")


def test_a_string_is_not_a_list_of_groups() -> None:
    with pytest.raises(ValueError, match="not the string 'staff'"):
        permission_filter("staff", "chroma")


def test_a_labelled_index_needs_a_filter_and_an_unlabelled_one_does_not() -> None:
    record = document_record("guide", "Hello", permissions=["staff"])
    labelled = Manifest(describe_chunks([CHUNK], documents={"guide": record}))
    with pytest.raises(ValueError, match="permission labels and the search has no filter"):
        require_filter(labelled, None)
    require_filter(labelled, permission_filter(["staff"], "chroma"))
    require_filter(Manifest([CHUNK]), None)


def test_a_chunk_without_labels_is_shown_to_nobody_and_one_for_everyone_to_all() -> None:
    assert not allows({}, ["staff"])
    assert allows(permission_metadata(["everyone"]), [])


@given(LABELS, LABELS)
def test_a_chunk_is_shown_exactly_to_those_who_share_a_label(
    labels: list[str], groups: list[str]
) -> None:
    shared = bool(set(labels) & {*groups, "everyone"})
    metadata = permission_metadata(labels)
    assert allows(metadata, groups) is shared
    may_read = permission_filter(groups, "callable")
    assert may_read(metadata) is shared
    assert may_read(SimpleNamespace(metadata=metadata)) is shared


@given(st.text(max_size=20))
def test_a_key_is_a_plain_name_whatever_the_label(label: str) -> None:
    assert permission_key(label).isidentifier()
    assert permission_key(label).isascii()


def test_a_filter_for_one_key_is_no_disjunction() -> None:
    assert permission_filter([], "chroma") == {"allow_everyone": {"$eq": 1}}


@pytest.mark.stores
def test_lancedb_takes_the_condition(tmp_path: Path) -> None:
    lancedb: Any = pytest.importorskip("lancedb")
    rows = [
        {"id": name, "vector": [1.0, 0.0], "metadata": {"allow_staff": flag, "allow_everyone": 0}}
        for name, flag in (("open", 1), ("closed", 0))
    ]
    table = lancedb.connect(str(tmp_path)).create_table("chunks", data=rows)
    found = table.search([1.0, 0.0]).where(permission_filter(["staff"], "lancedb")).to_list()
    assert [row["id"] for row in found] == ["open"]
