"""The blocks of a document as far as a cut can hurt them: paragraphs, lists, tables, fences."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from ragtrace.boundary.shapes import BLANK_LINE, CODE_END, CODE_START
from ragtrace.chunking import outline

BlockKind = Literal[
    "text", "heading", "list", "item", "table", "fence", "lines", "code", "html", "group"
]

_MARKDOWN = re.compile(
    r"(?m)^(?:[ ]{0,3}#{1,6}[ \t]+\S|[ ]{0,3}(?:```|~~~)|[ \t]*+(?:\|[ \t]*+)?:?-{3,}+:?[ \t]*+\||"
    r"[ ]{0,3}[-*+][ \t]+\S|[ ]{0,3}\d{1,9}[.)][ \t]+\S|\[[^\]\n]+\]:[ \t])"
)
_INDENTED = {"CodeBlock": "Indented"}
_ONLY_MARKDOWN = re.compile(r"(?m)^[ ]{0,3}(?:```|~~~|#{2,6}[ \t]+\S|[-*+][ \t]+\S)")
_KINDS: dict[str, BlockKind] = {
    "Paragraph": "text",
    "Heading": "heading",
    "List": "list",
    "Item": "item",
    "Table": "table",
    "CodeBlock": "fence",
    "HtmlBlock": "html",
    "MetadataBlock": "html",
    "BlockQuote": "group",
    "FootnoteDefinition": "group",
}


class Block(msgspec.Struct):
    """Hold a block: its kind, its half-open span without the white space at its end, its parts."""

    kind: BlockKind
    start: int
    end: int
    children: list["Block"] = msgspec.field(default_factory=list)


def find_blocks(text: str, markup: Any = None) -> list[Block]:
    """Return the blocks of a document: of a named format, by a parser, or as its text looks.

    Raises `ValueError` for an unknown format.
    """
    if callable(markup):
        return _from_outline(text, markup(text).blocks, 0, len(text))
    if markup is None:
        markup = "markdown" if looks_like_markdown(text) else "prose"
        markup = "code" if looks_like_code(text) else markup
    match markup:
        case "prose":
            return find_prose_blocks(text)
        case "markdown" | "html":
            return find_markdown_blocks(text)
        case "code":
            return [Block("code", 0, len(text.rstrip()))]
    raise ValueError(
        f"unknown format {markup!r}: choose 'prose', 'markdown', 'html', 'code' or give a parser"
    )


def looks_like_code(text: str) -> bool:
    r"""Tell whether most lines of a text, as far as its beginning goes, are code.

    >>> looks_like_code("import os\n\ndef f():\n    return os.name\n"), looks_like_code("So be it.")
    (True, False)
    """
    beginning = text[:8000]
    if _ONLY_MARKDOWN.search(beginning):
        return False
    lines = [line for line in beginning.split("\n")[:200] if line.strip()]
    code = [line for line in lines if CODE_START.match(line) or CODE_END.search(line[-12:])]
    inner = sum(line[0].isspace() for line in lines if line not in code)
    return 5 * len(code) > 2 * len(lines) and 5 * (len(code) + inner) > 3 * len(lines)


def looks_like_markdown(text: str) -> bool:
    r"""Tell whether a text has a line that only Markdown would have.

    >>> looks_like_markdown("Hello\n\n- one\n"), looks_like_markdown("Hello - one.")
    (True, False)
    """
    return _MARKDOWN.search(text) is not None


def find_path(blocks: Sequence[Block], cut: int) -> list[Block]:
    """Return the blocks that a cut goes through, outermost first."""
    path: list[Block] = []
    while True:
        at = bisect_right(blocks, cut - 1, key=lambda block: block.start) - 1
        if at < 0 or blocks[at].end <= cut:
            return path
        path.append(blocks[at])
        blocks = blocks[at].children


def find_prose_blocks(text: str) -> list[Block]:
    """Return the paragraphs of plain text: what blank lines set apart."""
    blocks: list[Block] = []
    start = 0
    for gap in [*(m.start() for m in BLANK_LINE.finditer(text)), len(text)]:
        body = text[start:gap]
        if body.strip():
            first = start + len(body) - len(body.lstrip())
            blocks.append(Block("text", first, start + len(body.rstrip())))
        start = gap
    return blocks


def find_markdown_blocks(text: str) -> list[Block]:
    """Return the blocks of Markdown as a tree."""
    import pyromark

    options = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
    options |= pyromark.Options.ENABLE_YAML_STYLE_METADATA_BLOCKS
    # A lone surrogate has no UTF-8; a question mark keeps its place.
    text = text.encode("utf-8", "replace").decode()
    to_place = _byte_places(text)
    top = Block("group", 0, len(text))
    stack = [top]
    content_end = 0  # link definitions give no event: a list ends where its last content does
    for event, span in pyromark.events_with_range(text, options=options):
        tag = event.get("Start") if isinstance(event, dict) else None
        if tag is not None:
            kind = "lines" if tag == _INDENTED else _KINDS.get(_name(tag))
            if kind is not None:
                start, end = to_place(span["start"]), to_place(span["end"])
                # In place: blocks may be nested as deep as the text is long.
                while start < end and text[start].isspace():
                    start += 1
                while start < end and text[end - 1].isspace():
                    end -= 1
                block = Block(kind, start, end)
                stack[-1].children.append(block)
                stack.append(block)
        elif isinstance(event, dict) and _name(event.get("End")) in _KINDS:
            block = stack.pop()
            if block.kind in ("list", "item", "group"):
                block.end = min(block.end, max(content_end, block.start))
            content_end = max(content_end, block.end)
        else:
            content_end = max(content_end, to_place(span["end"]))
    return top.children


def _name(tag: Any) -> str:
    return str(next(iter(tag))) if isinstance(tag, dict) else str(tag)


def _byte_places(text: str) -> Callable[[int], int]:
    """Return what turns a place in the UTF-8 bytes of a text into one in code points."""
    if text.isascii():
        return lambda place: place
    starts = (np.frombuffer(text.encode(), dtype=np.uint8) & 0xC0) != 0x80
    before = np.concatenate([[0], np.cumsum(starts)])
    return lambda place: int(before[place])


_OUTLINE_KINDS: dict[str, BlockKind] = {
    "list": "list",
    "table": "table",
    "fence": "fence",
    "code": "code",
    "html": "html",
}


def _from_outline(text: str, blocks: Iterable[outline.Block], start: int, end: int) -> list[Block]:
    """Turn what a parser found into blocks; the text between them becomes prose, as in `split`."""
    found: list[Block] = []
    for block in outline.fill_gaps(text, blocks, start, end):
        span = outline.strip_span(text, block.start, block.end)
        kind: BlockKind = "heading" if block.level else _OUTLINE_KINDS.get(block.kind, "text")
        children: list[Block] = []
        if kind == "list" and block.parts is not None:
            parts = outline.fill_gaps(text, block.parts(), block.start, block.end)
            children = [Block("item", *outline.strip_span(text, p.start, p.end)) for p in parts]
        found.append(Block(kind, *span, children))
    return found
