"""What an oversize fence or table is cut into: lines and rows that can each be read alone."""

import re
from collections.abc import Iterator

from ragtrace.chunking.chunk import Kind
from ragtrace.chunking.dividing import lines_of
from ragtrace.chunking.outline import Block

_OPENING = re.compile(r"(?P<lead>(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*)(?P<fence>`{3,}|~{3,})")
_LEAD = re.compile(r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*")
_MARKER = re.compile(r"[^ \t>]")


def fence_lines(text: str, start: int, end: int) -> Iterator[Block]:
    r"""Yield the lines of a fence; each repeats the opening line before it and closes after it.

    >>> text = "```py\na = 1\nb = 2\n```"
    >>> [(b.prefix, text[b.start : b.end], b.suffix) for b in fence_lines(text, 0, len(text))][2]
    ('```py\n', 'b = 2', '\n```')
    """
    spans = list(lines_of(text, start, end))
    first, last = spans[0], spans[-1]
    opening = _OPENING.match(text, *first)
    if opening is None:
        for span in spans:
            yield Block(*span, kind="fence")
        return
    newline = _newline(text, first[1])
    lead = _without_markers(opening["lead"])
    fence = opening["fence"]
    prefix = lead + text[first[0] + len(opening["lead"]) : first[1]] + newline
    suffix = f"{newline}{lead}{fence}"
    closes = len(spans) > 1 and _closes(text[last[0] : last[1]], fence)
    yield Block(*first, kind="fence", leads=len(spans) > 1, suffix=suffix)
    body = spans[1 : -1 if closes else None]
    for index, span in enumerate(body):
        final = index + 1 == len(body)
        ends = "" if final and not closes else suffix
        yield Block(*span, kind="fence", leads=final and closes, prefix=prefix, suffix=ends)
    if closes:
        yield Block(*last, kind="fence", prefix=prefix)


def table_rows(text: str, start: int, end: int) -> Iterator[Block]:
    r"""Yield the header of a table with its delimiter row, then rows that repeat it.

    >>> text = "| a |\n|---|\n| 1 |"
    >>> [(b.prefix, text[b.start : b.end]) for b in table_rows(text, 0, len(text))][1]
    ('| a |\n|---|\n', '| 1 |')
    """
    header, *rows = lines_of(text, start, end)
    if not rows:
        yield Block(*header, kind="table")
        return
    delimiter, *rows = rows
    newline = _newline(text, header[1])
    lead = _LEAD.match(text, *header)
    width = len(lead[0]) if lead else 0
    first = (
        _without_markers(text[header[0] : header[0] + width]) + text[header[0] + width : header[1]]
    )
    prefix = f"{first}{newline}{text[delimiter[0] : delimiter[1]]}{newline}"
    yield Block(header[0], delimiter[1], "table", whole=True, leads=bool(rows))
    for row in rows:
        yield Block(*row, kind="table", prefix=prefix)


def plain_lines(text: str, kind: Kind, start: int, end: int) -> Iterator[Block]:
    """Yield the lines of a block that has no sentences: front matter, mathematics, link targets."""
    for span in lines_of(text, start, end):
        yield Block(*span, kind)


def _closes(line: str, fence: str) -> bool:
    mark = line.lstrip(" \t>")
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def _newline(text: str, at: int) -> str:
    return "\r\n" if text.startswith("\r\n", at) else "\n"


def _without_markers(lead: str) -> str:
    """Turn list markers into the indentation that the lines after them have."""
    return _MARKER.sub(" ", lead)
