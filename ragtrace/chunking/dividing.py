"""What a block may be cut into: sentences, lines, and at last any piece that fits."""

import re
from collections.abc import Iterator

from ragtrace.chunking.graphemes import grapheme_cut
from ragtrace.chunking.outline import Block, fill_gaps
from ragtrace.chunking.sentences import Segmenter

_WINDOW = 50_000
_LONGEST_SENTENCE = 1_600_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_CLAUSE = re.compile(
    r"(?P<open>[(\[{（［「『【《])|(?P<close>[)\]}）］」』】》])|[,;:–—](?=\s)|[，、；：]"
)


def divide(text: str, block: Block, segmenter: Segmenter) -> tuple[Iterator[Block], bool]:
    """Return the parts of a block, and whether they are its last: sentences or lines."""
    if block.parts is not None:
        return fill_gaps(text, block.parts(), block.start, block.end), False
    if block.kind in ("prose", "list"):
        return _inherit(block, sentences_of(text, block.start, block.end, segmenter), text), True
    return _inherit(block, lines_of(text, block.start, block.end), text), True


def _inherit(block: Block, spans: Iterator[tuple[int, int]], text: str) -> Iterator[Block]:
    """Make the spans blocks like the one they are cut from; the last of them leads if it does."""
    blocks = (
        Block(start, end, block.kind, True, prefix=block.prefix, suffix=block.suffix)
        for start, end in spans
    )
    previous: Block | None = None
    for part in fill_gaps(text, blocks, block.start, block.end):
        if previous is not None:
            yield previous
        previous = part
    if previous is not None:
        yield Block(
            previous.start,
            previous.end,
            block.kind,
            True,
            block.leads,
            prefix=block.prefix,
            suffix=block.suffix,
        )


def sentences_of(
    text: str, start: int, end: int, segmenter: Segmenter
) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a span; a long one is read in windows, to need little memory."""
    window = _WINDOW
    while start < end:
        stop = min(end, start + window)
        spans = segmenter(text[start:stop])
        following = stop
        if stop < end:
            if len(spans) > 1:
                # The last one may go on behind the window.
                following = start + spans[-1][0]
                spans = spans[:-1]
            elif window < _LONGEST_SENTENCE:
                window *= 2
                continue
        for first, last in spans:
            yield start + first, start + last
        start, window = following, _WINDOW


def lines_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a span that are not blank, without their ends."""
    for line in _LINE.finditer(text, start, end):
        content = line[0].rstrip()
        if content:
            yield line.start(), line.start() + len(content)


def cut_before(text: str, start: int, limit: int) -> int:
    """Return the best place to cut at or before `limit`, for text that has no other.

    After a clause outside brackets if that does not leave too little, else after any clause, else
    between words, else between characters. Returns `start` where nothing may be cut.

    >>> cut_before("one and two, three (four, five", 0, 26)
    12
    """
    clause = _last_clause(text, start, limit)
    if clause is not None:
        return clause
    if limit >= len(text) or text[limit].isspace():
        return limit
    piece = text[start:limit]
    if piece and piece[-1].isspace():
        return limit
    words = piece.rsplit(None, 1)
    if len(words) == 2:
        return limit - len(words[1])
    return grapheme_cut(text, start, limit)


def _last_clause(text: str, start: int, limit: int) -> int | None:
    depth = 0
    outside = inside = None
    least = start + (limit - start) // 4
    for mark in _CLAUSE.finditer(text, start, limit):
        if mark["open"]:
            depth += 1
        elif mark["close"]:
            depth -= 1
        elif mark.end() > least:
            if depth <= 0:
                outside = mark.end()
            else:
                inside = mark.end()
    return outside or inside
