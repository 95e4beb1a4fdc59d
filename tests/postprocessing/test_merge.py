"""Neighbours become one hit; nothing else does, and no text is lost or doubled."""

import copy
import math
import random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.chunking.lengths import length_function
from ragtrace.postprocessing import Hit, MergedHit, merge_adjacent

TEXT = "".join(f"Row {row} is filled in. " for row in range(12))


def spans(sizes: list[int]) -> list[tuple[int, int]]:
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    return [(start, start + size) for start, size in zip(starts, sizes, strict=True)]


def hit_at(start: int, end: int, index: int | None = None, /, **values: object) -> Hit:
    given_values: dict[str, object] = {
        "chunk_id": f"doc#c{index}" if index is not None else f"{start}-{end}",
        "doc_id": "doc",
        "text": TEXT[start:end],
        "chunk_index": index,
        "start": start,
        "end": end,
    }
    return Hit(**{**given_values, **values})  # type: ignore[arg-type]


def bare(index: int, text: str, **values: object) -> Hit:
    return Hit(chunk_id=f"n{index}", doc_id="doc", text=text, chunk_index=index, **values)  # type: ignore[arg-type]


def test_touching_chunks_become_one_slice() -> None:
    [merged] = merge_adjacent([hit_at(18, 36, 1, score=0.9), hit_at(0, 18, 0, score=0.8)])
    assert merged.text == TEXT[0:36]
    assert (merged.start, merged.end, merged.verbatim) == (0, 36, True)
    assert merged.merged_ids == ("doc#c0", "doc#c1")
    assert merged.merged_scores == (0.8, 0.9)
    assert merged.merged_spans == ((0, 18), (18, 36))
    assert merged.score == 0.9
    assert merged.rank == 1
    assert merged.chunk_id not in merged.merged_ids


def test_a_hit_without_neighbour_keeps_its_id_and_text() -> None:
    [merged] = merge_adjacent([hit_at(0, 18, 0, score=0.8, metadata={"content_hash": "ab"})])
    assert merged.chunk_id == "doc#c0"
    assert merged.merged_ids == ("doc#c0",)
    assert merged.metadata == {"content_hash": "ab"}


def test_overlap_is_cut_once_and_a_real_repeat_survives() -> None:
    text = "The log is kept. Keys rotate. The log is kept. Reports go out."
    parts = [(0, 29), (17, 46), (30, 62)]
    hits = [
        Hit(chunk_id=str(at), doc_id="d", text=text[a:b], start=a, end=b)
        for at, (a, b) in enumerate(parts)
    ]
    [merged] = merge_adjacent(hits)
    assert merged.text == text


def test_equal_text_without_offsets_is_not_taken_for_overlap() -> None:
    [merged] = merge_adjacent([bare(0, "Stop. Wait."), bare(1, "Wait. Go.")])
    assert merged.text == "Stop. Wait.\n\nWait. Go."
    assert not merged.verbatim
    assert merged.start is None


def test_overlap_that_the_texts_do_not_share_is_a_contradiction() -> None:
    old = Hit(chunk_id="old", doc_id="d", text="The limit is 30.", start=0, end=16)
    new = Hit(chunk_id="new", doc_id="d", text="40. Ask for more.", start=13, end=30)
    merged = merge_adjacent([old, new])
    assert [hit.text for hit in merged] == [old.text, new.text]
    assert [hit.contradictions for hit in merged] == [1, 1]


def test_a_chunk_inside_another_is_swallowed() -> None:
    [merged] = merge_adjacent([hit_at(0, 90, score=0.4), hit_at(18, 36, score=0.6)])
    assert merged.text == TEXT[0:90]
    assert merged.score == 0.6
    assert merged.merged_ids == ("0-90", "18-36")


def test_documents_and_versions_are_kept_apart() -> None:
    first = hit_at(0, 18, 0)
    second = hit_at(18, 36, 1)
    assert len(merge_adjacent([first, hit_at(18, 36, 1, doc_id="other")])) == 2
    assert len(merge_adjacent([first, hit_at(18, 36, 1, doc_version="2")])) == 2
    assert len(merge_adjacent([first, second])) == 1


def test_hits_of_no_document_are_joined_by_links_only() -> None:
    first = Hit(chunk_id="a", text="One.", start=0, end=4, metadata={"next_id": "b"})
    second = Hit(chunk_id="b", text="Two.", start=4, end=8)
    [merged] = merge_adjacent([first, second])
    assert merged.merged_ids == ("a", "b")
    assert len(merge_adjacent([second, Hit(chunk_id="c", text="x", start=8, end=9)])) == 2


def test_either_end_of_a_link_is_enough() -> None:
    first, second = bare(5, "One."), Hit(chunk_id="b", doc_id="doc", text="Two.")
    linked = Hit(chunk_id="b", doc_id="doc", text="Two.", metadata={"previous_id": "n5"})
    assert len(merge_adjacent([first, second])) == 2
    assert len(merge_adjacent([first, linked])) == 1


def test_a_link_that_the_offsets_rule_out_is_counted_and_not_followed() -> None:
    far = hit_at(200, 221, metadata={"previous_id": "0-18"})
    merged = merge_adjacent([hit_at(0, 18), far])
    assert [hit.contradictions for hit in merged] == [1, 1]


def test_a_link_that_the_index_rules_out_is_counted_and_not_followed() -> None:
    first = bare(0, "One.", metadata={"next_id": "n4"})
    merged = merge_adjacent([first, bare(4, "Five.")])
    assert [hit.contradictions for hit in merged] == [1, 1]


def test_consecutive_indices_far_apart_are_a_contradiction() -> None:
    assert [
        hit.contradictions for hit in merge_adjacent([hit_at(0, 18, 0), hit_at(180, 200, 1)])
    ] == [1, 1]


def test_indices_of_two_splitters_say_nothing() -> None:
    old = bare(0, "One.", metadata={"splitter": "a:1"})
    new = bare(1, "Two.", metadata={"splitter": "b:2"})
    assert len(merge_adjacent([old, new])) == 2


def test_the_same_index_with_another_text_is_an_old_version_not_a_neighbour() -> None:
    assert len(merge_adjacent([bare(3, "The limit is 30."), bare(3, "The limit is 40.")])) == 2


@pytest.mark.parametrize("index", ["10", "10.0", 10.0, np.int64(10), " 10 "])
def test_an_index_is_read_whatever_type_the_store_made_of_it(index: object) -> None:
    ten = Hit(chunk_id="x", doc_id="doc", text="Ten.", chunk_index=index)  # type: ignore[arg-type]
    [merged] = merge_adjacent([ten, bare(9, "Nine.")])
    assert merged.text == "Nine.\n\nTen."
    assert merged.merged_indices == (9, 10)


def test_the_index_is_read_from_the_id_where_the_id_is_built_on_the_document() -> None:
    first = Hit(chunk_id="doc#c3", doc_id="doc", text="Three.")
    second = Hit(chunk_id="doc#c4", doc_id="doc", text="Four.")
    stranger = Hit(chunk_id="page#5", doc_id="doc", text="Five.")
    assert [len(hit.merged_ids) for hit in merge_adjacent([first, second, stranger])] == [2, 1]


def test_offsets_that_do_not_measure_the_text_are_not_trusted() -> None:
    replaced = hit_at(18, 36, text="a whole window of text that took the place of the sentence")
    merged = merge_adjacent([hit_at(0, 18), replaced])
    assert len(merged) == 2
    assert merged[1].start is None


def test_a_start_alone_is_enough() -> None:
    [merged] = merge_adjacent([hit_at(0, 18, end=None), hit_at(18, 36, end=None)])
    assert (merged.start, merged.end) == (0, 36)


def test_the_source_restores_white_space_that_the_splitter_stripped() -> None:
    text = "One.\n\n\n  Two."
    hits = [
        Hit(chunk_id="a", doc_id="d", text="One.", start=0, end=4, chunk_index=0),
        Hit(chunk_id="b", doc_id="d", text="Two.", start=9, end=13, chunk_index=1),
    ]
    [merged] = merge_adjacent(hits, documents={"d": text})
    assert (merged.text, merged.verbatim) == (text, True)
    [blind] = merge_adjacent(hits)
    assert (blind.text, blind.verbatim) == ("One.\n\nTwo.", False)
    assert (blind.start, blind.end) == (0, 13)


def test_one_stripped_character_is_a_space_in_running_text_and_a_break_between_lines() -> None:
    [merged] = merge_adjacent([hit_at(0, 19), hit_at(20, 39)])
    assert merged.text == TEXT[0:39]
    assert not merged.verbatim, "it is a guess all the same"
    rows = "a\nb\nc"
    hits = [
        Hit(chunk_id=str(a), doc_id="d", text=rows[a:b], start=a, end=b)
        for a, b in ((0, 3), (4, 5))
    ]
    assert merge_adjacent(hits)[0].text == rows


def test_the_source_shows_offsets_that_lie() -> None:
    wrong = hit_at(0, 18, text=TEXT[18:36])
    [merged] = merge_adjacent([wrong, hit_at(36, 54)], documents={"doc": TEXT})
    assert (merged.start, merged.end) == (18, 54)


def test_a_text_that_occurs_once_in_its_source_needs_no_offsets() -> None:
    hits = [
        Hit(chunk_id=name, doc_id="doc", text=TEXT[a:b])
        for name, a, b in (("x", 36, 54), ("y", 18, 36))
    ]
    [merged] = merge_adjacent(hits, documents=lambda doc_id: TEXT)
    assert merged.text == TEXT[18:54]


def test_a_document_that_is_not_known_changes_nothing() -> None:
    hits = [hit_at(0, 18, 0), hit_at(18, 36, 1)]
    table: dict[str, str] = {}
    assert merge_adjacent(hits, documents=table) == merge_adjacent(hits)
    assert merge_adjacent(hits, documents=table.__getitem__) == merge_adjacent(hits)


def test_a_gap_of_one_chunk_is_filled_from_the_source() -> None:
    hits = [hit_at(0, 18, 0, score=0.5), hit_at(36, 54, 2, score=0.7)]
    assert len(merge_adjacent(hits, documents={"doc": TEXT})) == 2
    assert len(merge_adjacent(hits, fill_gap=1)) == 2
    [merged] = merge_adjacent(hits, fill_gap=1, documents={"doc": TEXT})
    assert merged.text == TEXT[0:54]
    assert merged.merged_ids == ("doc#c0", "doc#c1", "doc#c2")
    assert merged.merged_scores == (0.5, None, 0.7)
    assert merged.merged_spans == ((0, 18), (18, 36), (36, 54))
    assert merged.filled_ids == ("doc#c1",)


def test_a_wider_gap_stays_open() -> None:
    hits = [hit_at(0, 18, 0), hit_at(54, 72, 3)]
    assert len(merge_adjacent(hits, fill_gap=1, documents={"doc": TEXT})) == 2
    assert len(merge_adjacent(hits, fill_gap=2, documents={"doc": TEXT})) == 1


def test_without_an_index_the_longest_chunk_measures_the_gap() -> None:
    documents = {"doc": TEXT}
    assert (
        len(merge_adjacent([hit_at(0, 18), hit_at(36, 54)], fill_gap=1, documents=documents)) == 1
    )
    assert (
        len(merge_adjacent([hit_at(0, 18), hit_at(37, 54)], fill_gap=1, documents=documents)) == 2
    )


def test_a_gap_is_filled_from_a_store_of_chunks() -> None:
    chunks = {("doc", 1): hit_at(18, 36, 1)}
    hits = [hit_at(0, 18, 0), hit_at(36, 54, 2)]
    [merged] = merge_adjacent(hits, fill_gap=1, chunk_at=lambda *key: chunks.get(key))
    assert merged.text == TEXT[0:54]
    assert merged.filled_ids == ("doc#c1",)
    assert len(merge_adjacent(hits, fill_gap=1, chunk_at=lambda *key: None)) == 2


def test_a_section_border_is_kept_where_asked() -> None:
    hits = [hit_at(0, 18, heading_path=("A", "B")), hit_at(18, 36, heading_path=("A", "C"))]
    assert len(merge_adjacent(hits, within_section=True)) == 2
    [merged] = merge_adjacent(hits)
    assert merged.heading_path == ("A",)


def test_the_length_limit_holds_and_the_best_hit_grows_first() -> None:
    ranks = (4, 3, 1, 2)
    hits = [hit_at(at * 18, at * 18 + 18, at, rank=rank) for at, rank in enumerate(ranks)]
    merged = merge_adjacent(hits, max_length=36, length=len)
    assert [hit.merged_indices for hit in merged] == [(2, 3), (0, 1)]
    assert [hit.rank for hit in merged] == [1, 3]


def test_the_limit_is_counted_in_tokens_unless_told_otherwise() -> None:
    hits = [hit_at(0, 18, 0), hit_at(18, 36, 1)]
    tokens = length_function("cl100k_base")(TEXT[0:36])
    assert len(merge_adjacent(hits, max_length=tokens)) == 1
    assert len(merge_adjacent(hits, max_length=tokens - 1)) == 2
    assert len(merge_adjacent(hits, max_length=10, length="words")) == 1
    with pytest.raises(ValueError, match="no-such-encoding"):
        merge_adjacent(hits, max_length=9, length="no-such-encoding")


def test_a_hit_over_the_limit_passes_alone() -> None:
    [merged] = merge_adjacent([hit_at(0, 90)], max_length=10, length=len)
    assert merged.text == TEXT[0:90]


@pytest.mark.parametrize(
    ("scores", "higher_is_better", "best"),
    [
        ([None, 0.2, math.nan], True, 0.2),
        ([0.9, 0.2, None], False, 0.2),
        ([-3.0, -1.0, -2.0], True, -1.0),
        ([0.0, None, None], True, 0.0),
        ([None, math.nan, None], True, None),
        ([np.float32(0.5), "0.25", None], True, 0.5),
    ],
)
def test_the_score_is_the_best_known_one(
    scores: list[object], higher_is_better: bool, best: float | None
) -> None:
    hits = [hit_at(at * 18, at * 18 + 18, at, score=score) for at, score in enumerate(scores)]
    [merged] = merge_adjacent(hits, higher_is_better=higher_is_better)
    assert merged.score == best
    assert type(merged.score) in (float, type(None))


def test_ranks_come_from_scores_in_their_direction_where_hits_have_none() -> None:
    hits = [hit_at(0, 18, 0, score=0.9), hit_at(90, 108, 5, score=0.1)]
    assert [hit.chunk_index for hit in merge_adjacent(hits)] == [0, 5]
    assert [hit.chunk_index for hit in merge_adjacent(hits, higher_is_better=False)] == [5, 0]


def test_the_order_given_counts_where_a_score_is_missing() -> None:
    hits = [hit_at(90, 108, 5), hit_at(0, 18, 0, score=0.9)]
    assert [(hit.chunk_index, hit.rank) for hit in merge_adjacent(hits)] == [(5, 1), (0, 2)]


def test_the_same_chunk_twice_is_one() -> None:
    for repeat in (hit_at(0, 18, 0, score=0.9), bare(3, "Three.", score=0.9)):
        worse = msgspec.structs.replace(repeat, score=0.2)
        [merged] = merge_adjacent([worse, repeat])
        assert merged.merged_ids == (repeat.chunk_id,)
        assert merged.score == 0.9


def test_metadata_of_one_chunk_does_not_speak_for_several() -> None:
    first = hit_at(
        0, 18, 0, metadata={"page": 3, "title": "T", "content_hash": "a", "previous_id": "p"}
    )
    second = hit_at(
        18, 36, 1, metadata={"page": 4, "title": "T", "content_hash": "b", "next_id": "n"}
    )
    [merged] = merge_adjacent([first, second])
    assert merged.metadata == {"page": 3, "title": "T", "previous_id": "p", "next_id": "n"}


def test_a_heading_path_still_written_as_a_string_is_read() -> None:
    hits = [hit_at(0, 18, heading_path="A > B"), hit_at(18, 36, heading_path=("A", "B"))]
    assert merge_adjacent(hits, within_section=True)[0].heading_path == ("A", "B")


def test_no_hits_give_no_hits() -> None:
    assert merge_adjacent([]) == []


@pytest.mark.parametrize("wrong", [{"fill_gap": -1}, {"max_length": 0}])
def test_a_setting_that_cannot_be_meant_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        merge_adjacent([], **wrong)  # type: ignore[arg-type]


@st.composite
def retrievals(draw: st.DrawFn) -> tuple[str, list[Hit]]:
    """Draw a document and some chunks of it, with every kind of gap in what is known of them."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=9))
    text = draw(st.text("ab .\n", min_size=sum(sizes), max_size=sum(sizes)))
    overlap = draw(st.integers(0, 4))
    stripped = draw(st.booleans())
    hits = []
    for index, (start, end) in enumerate(spans(sizes)):
        if draw(st.booleans()):
            continue
        start = max(0, start - overlap)
        body = text[start:end]
        if stripped and body.strip():
            start += len(body) - len(body.lstrip())
            body = body.strip()
        known = draw(st.sampled_from(["both", "offsets", "index", "link"]))
        hits.append(
            Hit(
                chunk_id=f"c{index}",
                doc_id="doc",
                text=body,
                score=draw(st.none() | st.floats(-1, 1) | st.just(math.nan)),
                rank=len(hits) + 1,
                chunk_index=index if known in ("both", "index") else None,
                start=start if known in ("both", "offsets") else None,
                end=start + len(body) if known in ("both", "offsets") else None,
                metadata={"next_id": f"c{index + 1}"} if known == "link" else {},
            )
        )
    return text, hits


@settings(max_examples=400)
@given(retrievals(), st.integers(0, 2), st.booleans(), st.none() | st.integers(1, 40), st.randoms())
def test_merging_loses_nothing_doubles_nothing_and_can_be_repeated(
    drawn: tuple[str, list[Hit]], fill_gap: int, known: bool, limit: int | None, dice: random.Random
) -> None:
    text, hits = drawn
    before = copy.deepcopy(hits)

    def merge(given_hits: list[Hit]) -> list[MergedHit]:
        return merge_adjacent(
            given_hits,
            fill_gap=fill_gap,
            max_length=limit,
            length=len,
            documents={"doc": text} if known else None,
        )

    merged = merge(hits)
    assert repr(hits) == repr(before)
    shuffled = hits.copy()
    dice.shuffle(shuffled)
    assert merge(shuffled) == merged
    assert merge(list(merged)) == merged
    named = [name for hit in merged for name in hit.merged_ids if name not in hit.filled_ids]
    assert sorted(named) == sorted(hit.chunk_id for hit in hits)
    for hit in merged:
        if hit.verbatim and hit.start is not None:
            assert text[hit.start : hit.end] == hit.text
        if limit is not None and len(hit.merged_ids) > 1:
            assert len(hit.text) <= limit
        for member in hits:
            if member.chunk_id in hit.merged_ids:
                assert member.text in hit.text
    assert [hit.rank for hit in merged] == sorted(hit.rank for hit in merged)


@given(st.lists(st.integers(3, 9), min_size=1, max_size=12), st.integers(0, 3), st.randoms())
def test_all_chunks_of_a_document_give_the_document_back(
    sizes: list[int], overlap: int, dice: random.Random
) -> None:
    text = "".join(dice.choice("ab \n") for _ in range(sum(sizes)))
    parts = [(max(0, start - overlap), end) for start, end in spans(sizes)]
    hits = [
        Hit(chunk_id=str(at), doc_id="d", text=text[a:b], start=a, end=b, chunk_index=at)
        for at, (a, b) in enumerate(parts)
    ]
    dice.shuffle(hits)
    [merged] = merge_adjacent(hits)
    assert merged.text == text
    assert merged.contradictions == 0
