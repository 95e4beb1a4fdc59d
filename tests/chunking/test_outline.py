"""Outlines: a parser of one's own works like the built-in ones, and cannot lose text."""

import re

import pytest

from ragtrace.chunking import Block, Outline, length_function, split
from tests.chunking.judging import check_chunks

LOG = """\
2026-11-30 10:00 ERROR disk full
  at write (disk.c:10)
  at flush (disk.c:20)
2026-11-30 10:05 INFO cleaned
2026-11-30 10:06 ERROR disk full again
  at write (disk.c:10)
"""


def parse_log(text: str) -> Outline:
    """Keep the lines of a stack trace with the line they belong to."""
    entries = re.finditer(r"(?m)^\d{4}-.*\n(?:[ \t].*\n)*", text)
    return Outline([Block(e.start(), e.end(), kind="code", whole=True) for e in entries])


def test_a_parser_of_ones_own_keeps_its_blocks_whole() -> None:
    chunks = split(LOG, format=parse_log, chunk_size=100, length="characters")
    assert [chunk.text.count("\n") for chunk in chunks] == [2, 2]
    assert [chunk.kind for chunk in chunks] == ["code", "code"]
    check_chunks(LOG, chunks, 100, len)


def test_a_block_over_the_budget_is_cut_between_its_lines() -> None:
    chunks = split(LOG, format=parse_log, chunk_size=60, length="characters")
    lines = {line.strip() for line in LOG.splitlines()}
    assert all(line.strip() in lines for chunk in chunks for line in chunk.text.split("\n"))
    check_chunks(LOG, chunks, 60, len)


def test_text_outside_the_blocks_becomes_prose() -> None:
    text = "Before it. [block] After it."
    outline = Outline([Block(11, 18, kind="code")])
    chunks = split(text, format=lambda _: outline, chunk_size=12, length="characters")
    assert [(chunk.text, chunk.kind) for chunk in chunks] == [
        ("Before it.", "prose"),
        ("[block]", "code"),
        ("After it.", "prose"),
    ]


def test_parts_may_be_any_iterable_and_have_gaps() -> None:
    def parts() -> list[Block]:
        return [Block(0, 5, whole=True), Block(10, 15, whole=True)]

    text = "aa aa bbb cc cc dddd"
    outline = Outline([Block(0, 20, parts=parts)])
    chunks = split(text, format=lambda _: outline, chunk_size=6, length="characters")
    assert [chunk.text for chunk in chunks] == ["aa aa", "bbb", "cc cc", "dddd"]


def test_prefix_and_suffix_stand_around_parts_only_where_they_begin_or_end_a_chunk() -> None:
    text = "(one) (two) (three)"
    blocks = [
        Block(0, 5, suffix="…"),
        Block(6, 11, prefix="…", suffix="…"),
        Block(12, 19, prefix="…"),
    ]
    chunks = split(text, format=lambda _: Outline(blocks), chunk_size=13, length="characters")
    assert [chunk.content for chunk in chunks] == ["(one) (two)…", "…(three)"]


@pytest.mark.parametrize(
    "blocks", [[Block(3, 9)], [Block(2, 4), Block(3, 5)], [Block(4, 2)], [Block(-1, 2)]]
)
def test_blocks_that_lie_wrong_are_named(blocks: list[Block]) -> None:
    with pytest.raises(ValueError, match="order of the text"):
        split("123456", format=lambda _: Outline(blocks))


def test_headings_of_a_parser_give_paths() -> None:
    text = "A\nfirst\nB\nsecond\nC\nthird"
    blocks = [
        Block(0, 1, level=1, title="A"),
        Block(8, 9, level=2, title="B"),
        Block(17, 18, level=1, title="C"),
    ]
    chunks = split(text, format=lambda _: Outline(blocks), prepend_heading_path=True)
    assert [chunk.heading_path for chunk in chunks] == [("A",), ("A", "B"), ("C",)]
    assert chunks[1].content == "A > B\n\nB\nsecond"
    assert chunks[1].length == length_function("cl100k_base")(chunks[1].content)
