r"""The outline of a document: its blocks, with exact spans, in the order of the text.

A parser is any function from a text to an `Outline`. It names the blocks it knows; text between
them becomes prose, so that nothing is ever lost, and what is inside a block is found only when a
cut inside it is considered. A parser for a log of questions and answers is this short:

>>> import re
>>> from ragtrace.chunking import Block, Outline, split
>>> def parse_faq(text):
...     blocks = []
...     for entry in re.finditer(r"Q: (.+)\n((?:A: .+\n?)+)", text):
...         blocks.append(Block(entry.start(), entry.end(1), level=1, title=entry[1]))
...         blocks.append(Block(entry.start(2), entry.end(), whole=True))
...     return Outline(blocks)
>>> faq = "Q: Who pays?\nA: You do.\nA: In advance.\nQ: When?\nA: On Friday.\n"
>>> for chunk in split(faq, format=parse_faq, chunk_size=40, length="characters"):
...     print(chunk.heading_path, repr(chunk.text))
('Who pays?',) 'Q: Who pays?\nA: You do.\nA: In advance.'
('When?',) 'Q: When?\nA: On Friday.'
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ragtrace.chunking.chunk import Kind

_WORD_START = re.compile(r"\S")


class Block(msgspec.Struct, frozen=True, gc=False):
    """Hold one block: a half-open span of code points, and what it is.

    A block with a `level` is a heading, with the text `title`; levels count from 1, the highest.
    One with a `title` alone is a section of its own: the path of what is in it ends with the title.
    A `whole` block is never cut where it fits a chunk alone. A block that `leads` stays with the
    block after it where both fit. `parts` returns the blocks it may be cut into, in order, when
    it must be; without, prose is cut between sentences and anything else between lines. A chunk
    that begins with the block is given its `prefix`, one that ends with it its `suffix`: what a
    part needs to be readable alone.
    """

    start: int
    end: int
    kind: Kind = "prose"
    whole: bool = False
    leads: bool = False
    level: int = 0
    title: str = ""
    parts: Callable[[], Iterable["Block"]] | None = None
    prefix: str = ""
    suffix: str = ""


class Outline(msgspec.Struct, frozen=True):
    """Hold the blocks of a document, in order and apart.

    `complete` promises that no text but white space is outside the blocks and none is at their
    ends, which saves looking.
    """

    blocks: Sequence[Block] = ()
    complete: bool = False


Parser = Callable[[str], Outline]


def fill_gaps(text: str, blocks: Iterable[Block], start: int, end: int) -> Iterator[Block]:
    """Yield the blocks, and prose for the text between them.

    Blocks that hold only white space are left out. Raises `ValueError` for blocks outside their
    span, out of order or overlapping.
    """
    at = start
    for block in blocks:
        if not at <= block.start <= block.end <= end:
            raise ValueError(
                f"block {block.start}-{block.end} lies outside {at}-{end}: a parser must return "
                "blocks in the order of the text that do not overlap"
            )
        if block.start - at and not text[at : block.start].isspace():
            yield Block(*strip_span(text, at, block.start))
        at = block.end
        if block.start < at and text[at - 1].isspace():
            block = replace(block, end=block.start + len(text[block.start : at].rstrip()))
        if block.start < block.end:
            yield block
    if at < end and not text[at:end].isspace():
        yield Block(*strip_span(text, at, end))


def strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the white space at its ends.

    >>> strip_span("a  b ", 1, 5)
    (3, 4)
    """
    start = next_word(text, start, end)
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def next_word(text: str, at: int, end: int) -> int:
    """Return where the next character stands that is not white, or `end`."""
    word = _WORD_START.search(text, at, end)
    return word.start() if word else end
