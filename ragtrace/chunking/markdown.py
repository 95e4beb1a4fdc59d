"""The outline of Markdown: CommonMark blocks and tables, front matter, mathematics, containers."""

import re
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from ragtrace.chunking.chunk import Kind
from ragtrace.chunking.markdown_events import read_blocks
from ragtrace.chunking.markdown_parts import plain_lines
from ragtrace.chunking.markdown_regions import gather_regions
from ragtrace.chunking.outline import Block, Outline, strip_span

_FRONT_MATTER = re.compile(
    r"\ufeff?(?P<fence>---|\+\+\+)[ \t]*(?:\r\n?|\n)"
    r"(?:(?!(?P=fence)|\.\.\.)[^\r\n]*(?:\r\n?|\n))*+(?:(?P=fence)|\.\.\.)[ \t]*(?=[\r\n]|\Z)"
)


def outline_markdown(text: str) -> Outline:
    r"""Return the blocks of a Markdown document.

    >>> blocks = outline_markdown("# Guide #\n\nHello.\n").blocks
    >>> blocks[0].title, blocks[1].start, blocks[1].end
    ('Guide', 11, 17)
    """
    front = _FRONT_MATTER.match(text)
    mark = int(text.startswith("\ufeff"))
    start = front.end() if front else mark
    blocks = gather_regions(text, list(_with_definitions(text, start)))
    if front:
        blocks.insert(0, _by_lines(text, "code", 0, start))
    elif mark:
        # A byte order mark belongs to what it stands before.
        blocks[:1] = [replace(block, start=0) for block in blocks[:1]] or [Block(0, mark)]
    return Outline(blocks, complete=True)


def _with_definitions(text: str, start: int) -> Iterator[Block]:
    """Yield the blocks, and what no event tells of: link definitions."""
    for block in read_blocks(text, start, len(text)):
        if block.start - start > 1 and not text[start : block.start].isspace():
            yield _by_lines(text, "prose", *strip_span(text, start, block.start))
        yield block
        start = block.end
    if start < len(text) and not text[start:].isspace():
        yield _by_lines(text, "prose", *strip_span(text, start, len(text)))


def _by_lines(text: str, kind: Kind, start: int, end: int) -> Block:
    return Block(start, end, kind, whole=True, parts=partial(plain_lines, text, kind, start, end))
