"""Packing: which rule wins, what overlaps, what stands around a chunk."""

import itertools
import logging

import pytest

from ragtrace.chunking import split

SENTENCES = [f"Sentence number {n} is here." for n in range(10, 20)]
PROSE = " ".join(SENTENCES)


def texts(*args: object, **settings: object) -> list[str]:
    return [chunk.text for chunk in split(*args, length="characters", **settings)]


def test_neighbours_share_whole_sentences() -> None:
    chunks = texts(PROSE, chunk_size=85, overlap_sentences=1)
    for one, other in itertools.pairwise(chunks):
        shared = other[: len(SENTENCES[0])]
        assert one.endswith(shared)
        assert shared in SENTENCES


def test_an_overlap_shrinks_where_it_does_not_fit() -> None:
    long = "This one sentence is so long that nothing else fits beside it in a chunk."
    chunks = texts(f"Short one. {long} Short two.", chunk_size=len(long), overlap_sentences=2)
    assert chunks == ["Short one.", long, "Short two."]


def test_an_overlap_in_units_is_of_whole_sentences() -> None:
    chunks = split(PROSE, chunk_size=120, chunk_overlap=60, length="characters")
    for one, other in itertools.pairwise(chunks):
        shared = one.end - other.start
        assert 0 < shared <= 60
        assert other.text.split(".")[0] + "." in SENTENCES


def test_an_overlap_never_crosses_a_heading_or_enters_code() -> None:
    text = "# A\n\nOne. Two.\n\n# B\n\nThree. Four.\n\n```\ncode. code.\n```\n\nFive. Six.\n"
    chunks = texts(text, format="markdown", chunk_size=35, overlap_sentences=2)
    assert [chunk for chunk in chunks if "Two." in chunk] == ["# A\n\nOne. Two."]
    assert sum("code." in chunk for chunk in chunks) == 1


def test_a_lead_in_stays_with_its_list() -> None:
    text = "Some words before it. They go on. Do as follows:\n\n- one thing\n- another thing\n"
    chunks = texts(text, format="markdown", chunk_size=60)
    assert chunks[-1].startswith("Do as follows:\n\n- one")


def test_a_list_that_fits_alone_is_not_cut_for_its_lead_in() -> None:
    items = "\n".join(f"- item number {n}" for n in range(4))
    text = f"A sentence that goes before it, as follows:\n\n{items}\n"
    assert items in texts(text, format="markdown", chunk_size=len(items) + 5)


def test_a_heading_goes_with_what_follows() -> None:
    text = "Some words go first here.\n\n## Next\n\nSome more words.\n"
    chunks = texts(text, format="markdown", chunk_size=40, sections="merge")
    assert chunks == ["Some words go first here.", "## Next\n\nSome more words."]


def test_merged_sections_share_a_chunk_and_keep_their_paths() -> None:
    text = "# A\n\nOne.\n\n## B\n\nTwo.\n\n## C\n\nThree.\n"
    [chunk] = split(text, format="markdown", sections="merge")
    assert chunk.heading_path == ("A",)
    assert chunk.heading_paths == (("A",), ("A", "B"), ("A", "C"))
    assert [c.heading_path for c in split(text, format="markdown")] == [
        ("A",),
        ("A", "B"),
        ("A", "C"),
    ]


def test_a_heading_without_text_goes_with_the_next_section() -> None:
    [chunk] = split("# A\n\n## B\n\nText.\n", format="markdown")
    assert chunk.heading_path == ("A", "B")
    assert chunk.heading_paths == (("A", "B"),)


def test_an_oversize_list_is_cut_between_items_and_keeps_their_children() -> None:
    items = [f"- Item {n}\n  - child of {n}\n  - other child of {n}" for n in range(6)]
    chunks = texts("\n".join(items), format="markdown", chunk_size=100)
    assert len(chunks) > 1
    assert [item for chunk in chunks for item in items if item in chunk] == items


def test_kinds_say_what_a_chunk_holds() -> None:
    text = "Words.\n\n- a\n- b\n\n```\nx\n```\n\n| a |\n|---|\n| 1 |\n\n    code\n\n<div>\n</div>\n"
    chunks = split(text, format="markdown", chunk_size=20, length="characters")
    assert [chunk.kind for chunk in chunks] == ["mixed", "fence", "table", "code", "html"]
    small = split(text, format="markdown", chunk_size=12, length="characters")
    assert {"prose", "list", "html", "code"} <= {chunk.kind for chunk in small}


def test_a_row_over_the_budget_is_cut_and_each_piece_has_the_header() -> None:
    row = "| " + " ".join(f"word{n}" for n in range(30)) + " | x |"
    text = f"| a | b |\n|---|---|\n{row}\n"
    chunks = split(text, format="markdown", chunk_size=80, length="characters")
    assert all("| a | b |\n|---|---|\n" in chunk.content for chunk in chunks)
    assert max(chunk.length for chunk in chunks) <= 80


def test_a_fence_in_a_quote_is_reopened_and_closed_inside_the_quote() -> None:
    lines = "\n".join(f"> call({n})" for n in range(9))
    chunks = split(
        f"> ```python\n{lines}\n> ```\n", format="markdown", chunk_size=70, length="characters"
    )
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.content.startswith("> ```python\n> call(")
        assert chunk.content.endswith("\n> ```")


def test_decoration_over_half_of_the_budget_is_left_out_and_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "ragtrace"):
        chunks = split(PROSE, chunk_size=40, length="characters", title="A title much too long")
    assert {chunk.prefix for chunk in chunks} == {""}
    assert [record.message for record in caplog.records] == [
        "document 'document': the title in front of a chunk takes 23 of chunk_size 40, more than "
        "half: left out"
    ]


def test_oversize_keep_leaves_sentences_and_blocks_whole_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    long = "This sentence is far longer than any chunk may be."
    fence = "```\nsome code\nmore code\n```"
    text = f"Short. {long} Short.\n\n{fence}\n"
    with caplog.at_level(logging.WARNING, "ragtrace"):
        chunks = texts(text, format="markdown", chunk_size=20, oversize="keep")
    assert chunks == ["Short.", long, "Short.", fence]
    assert "2 of 4 chunks are over chunk_size 20" in caplog.text


def test_windows_step_through_sentences() -> None:
    chunks = texts("One. Two. Three. Four. Five.", chunk_size=99, window=3, step=1)
    assert chunks == ["One. Two. Three.", "Two. Three. Four.", "Three. Four. Five."]
    assert texts("One. Two. Three.", chunk_size=99, window=2) == ["One. Two.", "Three."]


def test_a_window_over_the_budget_is_shorter_and_loses_nothing() -> None:
    chunks = texts("One. Two. Three. Four.", chunk_size=11, window=3, step=2)
    assert chunks == ["One. Two.", "Three.", "Four."]


@pytest.mark.parametrize(
    "text",
    ["👨‍👩‍👧" * 9, "🇩🇪🇫🇷" * 9, "e\u0301" * 30, "각" * 9, "\ud83d\ude00" * 9],
    ids=["family", "flags", "accents", "hangul", "surrogates"],
)
def test_a_cut_never_tears_a_character(text: str) -> None:
    whole = {"👨‍👩‍👧", "🇩🇪", "🇫🇷", "e\u0301", "각", "\ud83d\ude00"}
    for chunk in texts(text, chunk_size=7):
        rest = chunk
        while rest:
            character = next(sign for sign in whole if rest.startswith(sign))
            rest = rest[len(character) :]


def test_clauses_are_kept_before_words_are() -> None:
    text = "the pump was fine, the valve (which, by then, was stuck) made the noise at night"
    assert texts(text, chunk_size=60)[0] == "the pump was fine,"
