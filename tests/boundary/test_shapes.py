"""What lines look like, and the brackets, fences, tables and lists that a cut separates."""

import pytest

from ragtrace.boundary.brackets import first_unopened, left_open, pairs_across
from ragtrace.boundary.lists import is_list_cut, starts_in_list
from ragtrace.boundary.shapes import find_fences, is_code, open_fence, read_item
from ragtrace.boundary.tables import ends_in_table, starts_in_table


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```py\nx = 1\n", "```"),
        ("```py\nx = 1\n```\n", ""),
        ("````md\n```py\nx\n```\n", "````"),
        ("~~~\n```\n", "~~~"),
        ("Use ``` in text", ""),
        ("> ```\n> x\n", "```"),
        ("- ```\n  x\n  ```\n", ""),
        ("```not ` a fence\n", ""),
        ("```\nx\n``` py\n", "```"),
    ],
)
def test_fences_open_and_close_as_in_commonmark(text: str, fence: str) -> None:
    assert open_fence(text) == fence


def test_a_long_line_of_fence_marks_takes_linear_time() -> None:
    assert list(find_fences("x " + "``` " * 500_000)) == []


@pytest.mark.parametrize("line", ["x = [1, 2]", "def f(a):", "}", "import os", "foo();", "$ ls -l"])
def test_code_is_seen(line: str) -> None:
    assert is_code(line)


@pytest.mark.parametrize(
    "line", ["It is over.", "Note: the valve is open.", "He said so; it was", "Imports rose."]
)
def test_prose_is_not_code(line: str) -> None:
    assert not is_code(line)


def test_a_rule_is_no_list_item() -> None:
    assert read_item("* * *") is None
    assert read_item("* one") is not None


@pytest.mark.parametrize(
    "text",
    ["a) first b) second", "smile :) wink ;-)", r"an escaped \( one", "`f(` is code", "f(x)[0]"],
)
def test_what_is_no_bracket_is_not_left_open(text: str) -> None:
    assert left_open(text) == []
    assert first_unopened(text) is None


def test_a_pair_is_found_across_a_cut_past_pairs_of_its_own() -> None:
    assert pairs_across("He (or [she] or", " (they)) left") == [("unbalanced-()", 15 - 3, 7)]


def test_an_opener_that_is_never_closed_is_the_authors() -> None:
    assert pairs_across("Open ( for ever", " and ever") == []


def test_tables_are_known_by_their_header() -> None:
    table = ["| a | b |", "|---|---|", "| 1 | 2 |"]
    assert starts_in_table(table, None) == ""
    assert starts_in_table(table[1:], None)
    assert starts_in_table(table[2:], None)
    assert starts_in_table(["2 |", "| 3 | 4 |"], "| 1 |")
    assert ends_in_table(table, "\n| 3 | 4 |")
    assert ends_in_table(table[:2], None)
    assert ends_in_table([*table, "| 3 "], None)
    assert ends_in_table(table, "\n\nText") == ""


def test_a_list_is_cut_only_where_it_goes_on_and_would_fit() -> None:
    assert is_list_cut("1. one\n2. two", "\n3. three", 100)
    assert not is_list_cut("1. one\n2. two", "\n3. three", 10)
    assert not is_list_cut("1. one\n2. two", "\n1. other list", 100)
    assert not is_list_cut("- one\n\nA paragraph.", "\n\n- another list", 100)
    assert is_list_cut("- one\n  - inner", "\n- two", 100)


def test_a_later_item_starts_a_chunk_but_a_numbered_heading_does_not() -> None:
    assert starts_in_list("4. four\n5. five")
    assert not starts_in_list("4. Results\nWe found much.")
