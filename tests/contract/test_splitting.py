"""Both frameworks cut the same documents at the same places."""

import pytest

from ragtrace.chunking import split
from tests.contract.side import Side

PROSE = (
    "Dr. Smith arrived at 3 p.m. on Friday. He was late. Nobody minded, since the meeting "
    "had not begun. OK\n\nOK\n\nThe second paragraph repeats itself. He was late. He was late.\n"
)
MARKDOWN = """\
# Guide

Read this first. It says how.

## Timeouts > limits

A timeout is 5 seconds.

```python
# not a heading
wait(5)
```

| name | value |
|------|-------|
| a    | 1     |
| b    | 2     |
"""
PYTHON = '''\
import os


def first(a):
    """Return it."""
    return a


@decorated
def second(b):
    return os.path.join(b, "x")
'''
KEYS = {
    "doc_id",
    "chunk_id",
    "chunk_index",
    "start_index",
    "end_index",
    "heading_path",
    "prefix_length",
    "suffix_length",
    "splitter",
    "content_hash",
}
CALLS = (
    ("sentence-aligned", {"chunk_size": 60}, PROSE, {"format": "prose"}),
    ("sentence-aligned", {"chunk_size": 90, "overlap_sentences": 1}, PROSE, {"format": "prose"}),
    ("heading-path", {"chunk_size": 120}, MARKDOWN, {"format": "markdown"}),
    ("heading-path", {"chunk_size": 120, "sections": "merge"}, MARKDOWN, {"format": "markdown"}),
    (
        "heading-path",
        {"chunk_size": 120, "prepend_heading_path": True},
        MARKDOWN,
        {"format": "markdown"},
    ),
    (
        "definition",
        {"chunk_size": 80, "language": "python"},
        PYTHON,
        {"format": "code", "language": "python"},
    ),
    (
        "definition",
        {"chunk_size": 120, "language": "python", "prepend_heading_path": True},
        PYTHON,
        {"format": "code", "language": "python"},
    ),
)


@pytest.mark.parametrize(("name", "settings", "text", "form"), CALLS)
def test_an_adapter_cuts_where_split_cuts(
    side: Side, name: str, settings: dict, text: str, form: dict
) -> None:
    stored = side.split(side.make_splitter(name, **settings), [("d", text)])
    chunks = split(text, **{**settings, **form}, length="characters", doc_id="d")
    assert [s.content for s in stored] == [chunk.content for chunk in chunks]
    for one, chunk in zip(stored, chunks, strict=True):
        assert set(one.metadata) >= KEYS
        assert one.metadata["chunk_id"] == f"d#c{chunk.index}"
        assert (one.metadata["start_index"], one.metadata["end_index"]) == (chunk.start, chunk.end)


def test_html_is_split_alike_and_has_no_offsets(sides: list[Side]) -> None:
    html = "<h1>Guide</h1><p>Read <b>it</b>.</p><h2>Time</h2><table><tr><td>5</td></tr></table>"
    settings = {"chunk_size": 40, "format": "html"}
    first, second = (
        [
            (stored.content, stored.metadata)
            for stored in side.split(side.make_splitter("heading-path", **settings), [("d", html)])
        ]
        for side in sides
    )
    assert first == second
    expected = split(html, **settings, length="characters", doc_id="d")
    assert [content for content, _ in first] == [chunk.content for chunk in expected]
    assert [metadata["heading_path"] for _, metadata in first] == ["Guide", "Guide > Time"]
    assert all("start_index" not in metadata for _, metadata in first)


@pytest.mark.parametrize(("name", "settings", "text", "form"), CALLS)
def test_both_frameworks_write_equal_chunks(
    sides: list[Side], name: str, settings: dict, text: str, form: dict
) -> None:
    documents = [("one", text), ("two", text + "One more sentence.")]
    first, second = (
        [
            (stored.content, {key: stored.metadata[key] for key in KEYS})
            for stored in side.split(side.make_splitter(name, **settings), documents)
        ]
        for side in sides
    )
    assert first == second


def test_chunks_are_numbered_per_document(side: Side) -> None:
    stored = side.split(
        side.make_splitter("sentence-aligned", chunk_size=60), [("a", PROSE), ("b", PROSE)]
    )
    for doc_id in ("a", "b"):
        indexes = [s.metadata["chunk_index"] for s in stored if s.metadata["doc_id"] == doc_id]
        assert indexes == list(range(len(indexes)))
        assert len(indexes) > 2


def test_two_documents_with_one_id_are_an_error_that_says_so(side: Side) -> None:
    with pytest.raises(ValueError, match="two documents have the id 'a'"):
        side.split(side.make_splitter("sentence-aligned", chunk_size=60), [("a", "x"), ("a", "y")])


@pytest.mark.parametrize("text", ["", " \n\t ", "\ufeff"])
def test_a_text_without_words_is_no_error(side: Side, text: str) -> None:
    stored = side.split(side.make_splitter("sentence-aligned", chunk_size=60), [("a", text)])
    assert all(s.content.strip() for s in stored)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"chunk_size": 0}, "chunk_size"),
        ({"chunk_size": 10, "chunk_overlap": -1}, "overlap"),
        ({"chunk_size": 10, "chunk_overlap": 20}, "overlap"),
        ({"chunk_size": 10, "chunk_overlap": 5, "overlap_sentences": 1}, "overlap"),
    ],
)
def test_wrong_settings_are_refused_when_the_splitter_is_made(
    side: Side, settings: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        side.make_splitter("sentence-aligned", **settings)


def test_the_fingerprint_follows_the_settings(side: Side) -> None:
    def fingerprint(**settings: object) -> str:
        splitter = side.make_splitter("sentence-aligned", **settings)
        return side.split(splitter, [("a", PROSE)])[0].metadata["splitter"]

    assert fingerprint(chunk_size=60) == fingerprint(chunk_size=60)
    assert fingerprint(chunk_size=60) != fingerprint(chunk_size=61)
    assert fingerprint(chunk_size=60) != fingerprint(chunk_size=60, overlap_sentences=1)
    assert fingerprint(chunk_size=60).startswith("sentence-aligned:")
