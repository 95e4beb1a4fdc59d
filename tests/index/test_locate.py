"""Every chunk of an index that others built finds its place, or the reason why it has none."""

import random
import re
from pydoc_data.topics import topics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.index import locate_chunks, read_manifest, write_manifest
from ragtrace.tracing.hit import Hit

DOCUMENTS = {f"topics/{name}.md": text for name, text in sorted(topics.items())}


def windows(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    step = size - overlap
    return [(at, min(at + size, len(text))) for at in range(0, max(len(text) - overlap, 1), step)]


def cut(size: int, overlap: int) -> list[tuple[str, int, int]]:
    return [
        (doc_id, start, end)
        for doc_id, text in DOCUMENTS.items()
        for start, end in windows(text, size, overlap)
        if text[start:end].strip()
    ]


def placed(located: object) -> list[tuple[str, int, int]]:
    return [(chunk.doc_id, chunk.start, chunk.end) for chunk in located.chunks]  # type: ignore[attr-defined]


@pytest.mark.parametrize("overlap", [0, 80])
def test_chunks_of_real_documents_given_in_order_are_all_found_where_they_were(
    overlap: int,
) -> None:
    parts = cut(400, overlap)
    located = locate_chunks([DOCUMENTS[d][a:b] for d, a, b in parts], DOCUMENTS)
    assert located.unlocated == ()
    assert placed(located) == parts
    assert located.how == {"exact": len(parts)}


def test_order_does_not_matter_where_texts_differ() -> None:
    parts = cut(600, 0)
    shuffled = list(parts)
    random.Random(7).shuffle(shuffled)
    located = locate_chunks([DOCUMENTS[d][a:b] for d, a, b in shuffled], DOCUMENTS)
    assert located.unlocated == ()
    everything = "\0".join(DOCUMENTS.values())
    certain = {(d, a, b) for d, a, b in parts if everything.count(DOCUMENTS[d][a:b]) == 1}
    assert len(certain) > 500
    assert certain <= set(placed(located))


def test_white_space_and_marks_that_a_chunker_changed_do_not_hide_a_chunk() -> None:
    text = "# Limits\n\nThe *limit* is\n  30 seconds.  It may grow.\n\nKeys rotate."
    squeezed = locate_chunks(["The *limit* is 30 seconds. It may grow."], {"a": text})
    assert squeezed.how == {"white space": 1}
    assert squeezed.chunks[0].text == "The *limit* is\n  30 seconds.  It may grow."
    stripped = locate_chunks(["the limit is 30 seconds it may grow"], {"a": text})
    assert stripped.how == {"words": 1}
    assert stripped.chunks[0].text == "The *limit* is\n  30 seconds.  It may grow."


def test_repeats_are_given_away_once_each_in_order() -> None:
    text = "Yes. No. Yes. Maybe. Yes."
    located = locate_chunks(["Yes.", "No.", "Yes.", "Maybe.", "Yes.", "Yes."], {"a": text})
    assert [chunk.start for chunk in located.chunks] == [0, 5, 9, 14, 21]
    assert located.reasons == {"extra-copy": 1}


def test_a_repeat_goes_where_its_neighbours_are() -> None:
    documents = {
        "a": "Alpha begins. Note well. Alpha ends.",
        "b": "Beta begins. Note well. Beta ends.",
    }
    located = locate_chunks(["Beta begins.", "Note well.", "Beta ends."], documents)
    assert {chunk.doc_id for chunk in located.chunks} == {"b"}


def test_ids_and_numbers_of_the_index_are_kept_where_they_agree() -> None:
    hits = [
        Hit(chunk_id="x7", text="Two.", doc_id="/srv/docs/guide.md", chunk_index=4),
        Hit(chunk_id="", text="One.", doc_id="/srv/docs/guide.md", chunk_index=2),
    ]
    located = locate_chunks(hits, {"guide.md": "One. Two.", "other/index.md": "One. Two."})
    assert [(c.chunk_id, c.doc_id, c.index) for c in located.chunks] == [
        ("guide.md#c2", "guide.md", 2),
        ("x7", "guide.md", 4),
    ]


def test_an_id_that_two_chunks_share_is_not_used_twice() -> None:
    hits = [Hit(chunk_id="1", text="One.", doc_id=name) for name in ("a", "b")]
    located = locate_chunks(hits, {"a": "One.", "b": "One."})
    assert [chunk.chunk_id for chunk in located.chunks] == ["1", "b#c0"]


def test_every_reason_is_told() -> None:
    documents = {
        "a.md": "The limit is forty seconds, and it may not grow any further than that, ever."
    }
    hits = [
        Hit(chunk_id="1", text=" \n", doc_id="a.md"),
        Hit(chunk_id="2", text="The limit is thirty seconds.", doc_id="a.md"),
        Hit(chunk_id="3", text="Keys rotate.", doc_id="gone.md"),
        Hit(chunk_id="4", text="Nothing of the kind."),
    ]
    located = locate_chunks(hits, documents)
    assert [(each.hit.chunk_id, each.reason) for each in located.unlocated] == [
        ("1", "empty"),
        ("2", "text-changed"),
        ("3", "document-gone"),
        ("4", "not-found"),
    ]
    assert str(located) == (
        "0 located (none), 1 empty, 1 text-changed, 1 document-gone, 1 not-found"
    )


def test_a_document_that_was_renamed_is_found_by_its_text() -> None:
    text = next(text for text in DOCUMENTS.values() if len(text) > 2000)
    located = locate_chunks([Hit(chunk_id="1", text=text[100:1500], doc_id="old.md")], DOCUMENTS)
    assert [chunk.text for chunk in located.chunks] == [text[100:1500]]


def test_what_was_located_makes_a_manifest(tmp_path: object) -> None:
    located = locate_chunks(["One.", "Two."], {"a": "One.\n\nTwo."})
    path = f"{tmp_path}/chunks.jsonl"
    write_manifest(located.chunks, path, documents={"a": "One.\n\nTwo."})
    assert [chunk.start for chunk in read_manifest(path).chunks] == [0, 6]


def test_one_text_of_one_letter_does_not_take_for_ever() -> None:
    located = locate_chunks(["a" * 50] * 40, {"a": "a" * 1_000_000})
    assert len(located.chunks) == 40


WORD = st.sampled_from(["key", "log", "Yes.", "No.", "limit\n", "30", "*a*", "  x"])


@settings(max_examples=150)
@given(
    st.lists(st.lists(WORD, min_size=1, max_size=25), min_size=1, max_size=3),
    st.integers(1, 6),
    st.integers(0, 2),
)
def test_chunks_given_in_order_cover_what_they_covered(
    words: list[list[str]], size: int, style: int
) -> None:
    documents = {str(name): " ".join(part) for name, part in enumerate(words)}
    chunks = []
    for name, part in enumerate(words):
        for at in range(0, len(part), size):
            text = " ".join(part[at : at + size])
            if style:
                text = re.sub(r"\s+", " ", text).strip()
            if style == 2:
                text = text.replace("*", "").lower()
            chunks.append(Hit(chunk_id="", text=text, doc_id=str(name)))
    located = locate_chunks(chunks, documents)
    assert not located.unlocated
    for chunk in located.chunks:
        assert documents[chunk.doc_id][chunk.start : chunk.end] == chunk.text
    if style == 0:
        for doc_id, text in documents.items():
            spans = [(c.start, c.end) for c in located.chunks if c.doc_id == doc_id]
            assert len(spans) == len(set(spans))
            assert min(spans)[0] <= len(text) - len(text.lstrip())
