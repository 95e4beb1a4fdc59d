"""Markdown blocks: as CommonMark has them, and what CommonMark does not know."""

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ragtrace.chunking import split
from ragtrace.chunking.markdown import outline_markdown

DOCUMENTS = Path(__file__).parents[3] / "shared" / "data" / "markdown_docs" / "docs.json"
KINDS = {
    "fence": "fence",
    "code_block": "code",
    "table_open": "table",
    "html_block": "html",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}


def headings(text: str) -> list[tuple[int, str]]:
    blocks = outline_markdown(text).blocks
    return [(block.level, block.title) for block in blocks if block.level]


def pieces(text: str, size: int) -> list[str]:
    chunks = split(text, format="markdown", chunk_size=size, length="characters")
    return [chunk.text for chunk in chunks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One #\n", [(1, "One")]),
        ("## C# notes ##\r\n", [(2, "C# notes")]),
        ("Two\n===\n\nThree\n---\n", [(1, "Two"), (2, "Three")]),
        ("# *Bold* `code` [link](x) ![image](y)\n", [(1, "Bold code link image")]),
        ("Over\ntwo lines\n===\n", [(1, "Over two lines")]),
        ("#hashtag\n\n\\# no\n\n    # code\n", []),
        ("```\n# no\n```\n\n<!--\n# no\n-->\n", []),
        ("---\ntitle: x\n# no\n---\n\n# Yes\n", [(1, "Yes")]),
        ("+++\ntitle = 1\n# no\n+++\n# Yes\n", [(1, "Yes")]),
        ("\ufeff# Yes\n", [(1, "Yes")]),
        ("> # quoted\n\n- # listed\n", []),
        ("#\n", [(1, "")]),
        ("# \ud800 x\n", [(1, "\ufffd x")]),
    ],
)
def test_headings_are_those_of_commonmark(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


def test_a_rule_later_in_a_document_is_no_front_matter() -> None:
    text = "Words.\n\n---\n\ntitle: x\n\n---\n"
    assert [block.kind for block in outline_markdown(text).blocks] == ["prose"] * 4


def test_mathematics_stays_whole_over_blank_lines_and_is_cut_between_lines() -> None:
    block = "$$\na = b .\n\n    c = d .\n\n- e\n$$"
    text = f"Words before it.\n{block}\nWords after it. And more.\n"
    assert block in pieces(text, len(block))
    assert "a = b ." in "".join(pieces(text, 12))


@pytest.mark.parametrize("mark", [":::", "///"])
def test_a_container_stays_whole_and_is_cut_between_its_blocks(mark: str) -> None:
    block = f"{mark} note\n\nFirst words of it.\n\n- a\n- b\n\n{mark}"
    text = f"Words before it.\n\n{block}\n\nWords after it.\n"
    assert block in pieces(text, len(block))
    assert "- a\n- b" in "\n".join(pieces(text, 30))


def test_marks_in_code_open_no_container() -> None:
    text = "```rust\n/// A comment\nfn a() {}\n```\n\nWords.\n\n```rust\n///\n```\n"
    assert [block.kind for block in outline_markdown(text).blocks] == ["fence", "prose", "fence"]


def test_headings_inside_a_container_still_open_sections() -> None:
    text = "::: grid\n\n# Inside\n\nWords.\n\n:::\n"
    assert headings(text) == [(1, "Inside")]


def test_link_definitions_are_kept_line_by_line() -> None:
    definitions = '[a]: http://a.b "A, B. C"\n[b]: http://c.d'
    text = f"See [a] and [b].\n\n{definitions}\n"
    assert definitions in pieces(text, len(definitions))
    assert '[a]: http://a.b "A, B. C"' in pieces(text, 30)


def test_indentation_at_the_start_of_code_is_kept() -> None:
    assert pieces("Words go here.\n\n    indented code\n", 20)[1] == "    indented code"


def test_a_footnote_is_one_block() -> None:
    note = "[^1]: A note.\n\n    Its second paragraph."
    assert note in pieces(f"Words[^1] here.\n\n{note}\n", len(note))


@pytest.mark.skipif(not DOCUMENTS.exists(), reason="the shared Markdown documents are absent")
def test_blocks_agree_with_markdown_it_on_real_documents() -> None:
    found = json.loads(DOCUMENTS.read_text(encoding="utf-8"))
    texts = [item["text"] if isinstance(item, dict) else item for item in found]
    for text in texts[::4]:
        ours = {
            (block.kind, text.count("\n", 0, block.start))
            for block in outline_markdown(text).blocks
            if block.kind in ("fence", "table", "html", "list")
            and not text[: block.start].isspace()
        }
        parser = MarkdownIt("commonmark").enable("table")
        theirs = {
            (KINDS[token.type], token.map[0])
            for token in parser.parse(text)
            if token.level == 0 and token.type in KINDS and KINDS[token.type] != "code"
        }
        inside = {block for block in theirs - ours if not _in_region(text, block[1])}
        assert not inside
        assert ours <= theirs


def _in_region(text: str, line: int) -> bool:
    """Say whether a line is inside front matter, mathematics or a container."""
    starts = [0]
    for content in text.split("\n"):
        starts.append(starts[-1] + len(content) + 1)
    at = starts[line]
    return any(
        block.start < at < block.end and block.kind in ("prose", "code")
        for block in outline_markdown(text).blocks
    )
