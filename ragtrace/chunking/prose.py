"""The outline of plain text: paragraphs, set apart by blank lines or each a long line."""

import re
from collections.abc import Iterator

from ragtrace.chunking.outline import Block, Outline

# A line this long was not wrapped to a width: its end is that of a paragraph.
_LONG = r"[^\r\n]{120}"
_BREAK = re.compile(
    r"(?:\n[^\S\n]*\n|\r[^\S\r\n]*\r|\u2029"
    rf"|\n(?<={_LONG}\n)|\r\n(?<={_LONG}\r\n)|\r(?<={_LONG}\r))\s*"
)
_LEAD_END = (":", "：")


def outline_prose(text: str) -> Outline:
    r"""Return the paragraphs of a text; one that ends with a colon leads to the next.

    >>> [(block.start, block.end) for block in outline_prose("One. Two.\n\nThree.").blocks]
    [(0, 9), (11, 17)]
    """
    return Outline(tuple(_paragraphs(text)), complete=True)


def _paragraphs(text: str) -> Iterator[Block]:
    start = len(text) - len(text.lstrip())
    for gap in _BREAK.finditer(text, start):
        yield _paragraph(text, start, start + len(text[start : gap.start()].rstrip()))
        start = gap.end()
    if start < len(text):
        yield _paragraph(text, start, start + len(text[start:].rstrip()))


def _paragraph(text: str, start: int, end: int) -> Block:
    return Block(start, end, leads=text.endswith(_LEAD_END, start, end))
