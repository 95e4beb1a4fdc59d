"""The blocks of a document as far as a cut can hurt them: paragraphs, lists, tables, fences."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from ragtrace.boundary.shapes import BLANK_LINE

BlockKind = Literal["text", "heading", "list", "item", "table", "fence", "html", "group"]

_MARKDOWN = re.compile(
    r"(?m)^(?:[ ]{0,3}#{1,6}[ \t]+\S|[ ]{0,3}(?:```|~~~)|[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*\||"
    r"[ ]{0,3}[-*+][ \t]+\S|[ ]{0,3}\d{1,9}[.)][ \t]+\S|\[[^\]\n]+\]:[ \t])"
)
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
    for event, span in pyromark.events_with_range(text, options=options):
        if not isinstance(event, dict):
            continue
        if "Start" in event:
            kind = _KINDS.get(_name(event["Start"]))
            if kind is not None:
                start, end = to_place(span["start"]), to_place(span["end"])
                block = Block(kind, start, start + len(text[start:end].rstrip()))
                stack[-1].children.append(block)
                stack.append(block)
        elif "End" in event and _name(event["End"]) in _KINDS:
            stack.pop()
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
