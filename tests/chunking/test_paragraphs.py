import pytest

from ragtrace.chunking import split

SENTENCE = "All of these words stand here. "


def texts(text: str, **settings: object) -> list[str]:
    return [chunk.text for chunk in split(text, length="words", **settings)]


def test_a_paragraph_begins_the_next_chunk_where_this_one_is_rather_full() -> None:
    first, second = (SENTENCE * 5).strip(), (SENTENCE * 3).strip()
    assert texts(f"{first}\n\n{second}", chunk_size=40) == [first, second]


def test_a_paragraph_is_cut_where_much_room_is_left() -> None:
    first, second = (SENTENCE * 3).strip(), (SENTENCE * 5).strip()
    chunks = texts(f"{first}\n\n{second}", chunk_size=40)
    assert [len(chunk.split()) for chunk in chunks] == [36, 12]


def test_merged_sections_fill_chunks_with_part_of_a_paragraph() -> None:
    first, second = (SENTENCE * 5).strip(), (SENTENCE * 3).strip()
    chunks = texts(f"{first}\n\n{second}", chunk_size=40, sections="merge")
    assert [len(chunk.split()) for chunk in chunks] == [36, 12]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_end_of_a_long_line_is_the_end_of_a_paragraph(newline: str) -> None:
    first, second = (SENTENCE * 5).strip(), (SENTENCE * 3).strip()
    assert texts(f"{first}{newline}{second}", chunk_size=40) == [first, second]


def test_a_wrapped_line_ends_no_paragraph() -> None:
    lines = "\n".join(
        ["These words were wrapped to a width that people can read. And then more"] * 4
    )
    assert len(texts(lines, chunk_size=40)[0].split()) > 30
