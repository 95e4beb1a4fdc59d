"""What an oversize fence or table is cut into: lines and rows that can each be read alone."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ragtrace.chunking.chunk import Kind
from ragtrace.chunking.dividing import lines_of
from ragtrace.chunking.outline import Block

_OPENING = re.compile(r"(?P<lead>(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*)(?P<fence>`{3,}|~{3,})")
_LINE_END = re.compile(r"[\r\n]")
_LEAD = re.compile(r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*")
_MARKER = re.compile(r"[^ \t>]")


def fence_lines(text: str, start: int, end: int) -> Iterator[Block]:
    r"""Yield the lines of a fence; each repeats the opening line before it and closes after it.

    >>> text = "```py\na = 1\nb = 2\n```"
    >>> [(b.prefix, text[b.start : b.end], b.suffix) for b in fence_lines(text, 0, len(text))][2]
    ('```py\n', 'b = 2', '\n```')
    """
    first_end = end_of_line(text, start)
    opening = _OPENING.match(text, start, first_end)
    if opening is None or first_end >= end:
        yield from plain_lines(text, "fence", start, end)
        return
    newline = _newline(text, first_end)
    lead = _without_markers(opening["lead"])
    prefix = lead + text[opening.end("lead") : first_end] + newline
    suffix = f"{newline}{lead}{opening['fence']}"
    last_start = max(text.rfind("\n", first_end, end), text.rfind("\r", first_end, end)) + 1
    closes = _closes(text[last_start:end], opening["fence"])
    yield Block(start, first_end, "fence", leads=True, suffix=suffix)
    line: Block | None = None
    for span in lines_of(text, first_end, last_start if closes else end):
        if line is not None:
            yield line
        line = Block(*span, kind="fence", prefix=prefix, suffix=suffix)
    if line is not None:
        # The last line of code stays with the closing one; where there is none, nothing closes.
        yield replace(line, leads=True) if closes else replace(line, suffix="")
    if closes:
        yield Block(last_start, end, "fence", prefix=prefix)


def table_rows(text: str, start: int, end: int) -> Iterator[Block]:
    r"""Yield the header of a table with its delimiter row, then rows that repeat it.

    >>> text = "| a |\n|---|\n| 1 |"
    >>> [(b.prefix, text[b.start : b.end]) for b in table_rows(text, 0, len(text))][1]
    ('| a |\n|---|\n', '| 1 |')
    """
    rows = lines_of(text, start, end)
    header, delimiter = next(rows), next(rows, None)
    if delimiter is None:
        yield Block(*header, kind="table")
        return
    newline = _newline(text, header[1])
    lead = _LEAD.match(text, *header)
    width = len(lead[0]) if lead else 0
    first = (
        _without_markers(text[header[0] : header[0] + width]) + text[header[0] + width : header[1]]
    )
    prefix = f"{first}{newline}{text[delimiter[0] : delimiter[1]]}{newline}"
    yield Block(header[0], delimiter[1], "table", whole=True, leads=True)
    for row in rows:
        yield Block(*row, kind="table", prefix=prefix)


def plain_lines(text: str, kind: Kind, start: int, end: int) -> Iterator[Block]:
    """Yield the lines of a block that has no sentences: front matter, mathematics, link targets."""
    for span in lines_of(text, start, end):
        yield Block(*span, kind)


def end_of_line(text: str, at: int) -> int:
    """Return where the line ends that a place is in."""
    end = _LINE_END.search(text, at)
    return end.start() if end else len(text)


def _closes(line: str, fence: str) -> bool:
    mark = line.lstrip(" \t>")
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def _newline(text: str, at: int) -> str:
    return "\r\n" if text.startswith("\r\n", at) else "\n"


def _without_markers(lead: str) -> str:
    """Turn list markers into the indentation that the lines after them have."""
    return _MARKER.sub(" ", lead)
