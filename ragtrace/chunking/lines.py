"""The parts of a text that no sentence crosses: paragraphs, and lines that stand alone."""

import re
from collections.abc import Iterator

from ragtrace.chunking.languages import UNFINISHED

# A blank line, however it is spelled.
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*|\r\r\s*|\u2029\s*")
_BULLETS = "-*+•‣▪●◦·⁃"
_MARKED_LINE = re.compile(
    rf"\n[^\S\n]*(?:[{_BULLETS}]|\(?(?:[0-9]{{1,3}}|[A-Za-z]|[ivx]{{1,4}})[.)])[^\S\n]"
)
_MARKER = re.compile(
    rf"[^\S\n]*(?:(?P<bullet>[{_BULLETS}])|\(?(?P<label>[0-9]{{1,3}}|[A-Za-z]|[ivx]{{1,4}})[.)])\s"
)
_FIRST_LABELS = frozenset(("1", "a", "A", "i", "I"))
_ITEM = re.compile(
    r"(?P<bullet>[•⁃‣▪●])?\s?\(?(?:(?P<number>[0-9]{1,2})|(?P<letter>a))(?P<closing>\.\)|[.)])\s"
)
_RULES = ("___", "---", "***", "===", "~~~")
_RULE = re.compile(r"(?<!\S)(?:_{4,}|-{5,}|\*{3,}|={4,}|~{4,})(?!\S)\s*")
# A line with less than this share of the paragraph's widest line had room for the next word.
_SHORT = 0.6
_NARROW = 30


def split_units(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans inside which sentences are looked for: blocks, and items of run-on lists.

    Each begins with a character that is not white; white space may trail.
    """
    for start, end in split_blocks(text):
        if _ITEM.match(text, start, end):
            yield from _split_run_on_list(text, start, end)
        else:
            yield start, end


def split_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of paragraphs and of lines that stand for themselves, as `split_units`."""
    start = len(text) - len(text.lstrip())
    # Looked for only where one can be: one search for a fixed string costs next to nothing.
    split = _split_ruled if any(rule in text for rule in _RULES) else _split_paragraph
    for gap in _PARAGRAPH_BREAK.finditer(text, start):
        yield from split(text, start, gap.start())
        start = gap.end()
    if start < len(text):
        yield from split(text, start, len(text))


def _split_ruled(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a paragraph at the rules that were drawn in it, as signatures and mails have them."""
    for rule in _RULE.finditer(text, start, end):
        if start < rule.start():
            yield from _split_paragraph(text, start, rule.start())
        yield rule.span()
        start = rule.end()
    if start < end:
        yield from _split_paragraph(text, start, end)


def _split_paragraph(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if text.find("\n", start, end) >= 0:
        for line in _standing_lines(text, start, end):
            yield start, line
            start = line
    yield start, end


def _standing_lines(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where lines begin that do not go on from the line before: items, and after headings."""
    lines = text[start:end].split("\n")
    lengths = list(map(len, lines))
    width = max(lengths)
    marked = _MARKED_LINE.search(text, start, end) is not None
    if not marked and (width < _NARROW or min(lengths[:-1]) > _SHORT * width):
        return
    previous = lines[0].strip()
    in_list = _MARKER.match(lines[0]) is not None
    at = start
    for number in range(1, len(lines)):
        at += lengths[number - 1] + 1
        line = lines[number].strip()
        if not line:
            continue
        had_room = (
            width >= _NARROW
            and len(previous) + 1 + len(line.split(None, 1)[0]) < _SHORT * width
            and _is_finished(previous)
        )
        if marked and (marker := _MARKER.match(lines[number])):
            in_list = in_list or had_room or _begins_list(previous, marker, lines, number)
            stands = in_list
        else:
            stands = had_room and line[0].isalnum() and not line[0].islower()
        if stands:
            yield at + len(lines[number]) - len(lines[number].lstrip())
        previous = line


def _begins_list(previous: str, marker: re.Match[str], lines: list[str], number: int) -> bool:
    """Say whether the marked line is a list's first, and not prose that was wrapped there."""
    if marker["bullet"] and number + 1 < len(lines):
        following = _MARKER.match(lines[number + 1])
        if following and following["bullet"] == marker["bullet"]:
            return True
    return previous[-1] in ".:;!?" and (marker["label"] is None or marker["label"] in _FIRST_LABELS)


def _is_finished(line: str) -> bool:
    return line[-1] not in ",;-–—" and line.rsplit(None, 1)[-1].lower() not in UNFINISHED


def _split_run_on_list(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the items of a list that was written, or extracted, in one line."""
    first = _ITEM.match(text, start, end)
    if first:
        for item in _further_items(text, first, end):
            yield start, item
            start = item
    yield start, end


def _further_items(text: str, first: re.Match[str], end: int) -> Iterator[int]:
    bullet, closing = first["bullet"] or "", first["closing"]
    number = int(first["number"] or 0)
    at = first.end()
    for step in range(1, 26):
        label = str(number + step) if first["number"] else chr(ord("a") + step)
        wanted = f"{label}{closing}"
        found = _find_item(text, wanted, bullet, at, end)
        if found is None:
            return
        yield found
        at = text.index(wanted, found) + len(wanted)


def _find_item(text: str, wanted: str, bullet: str, at: int, end: int) -> int | None:
    """Return where the item `wanted` begins, with its bullet, after white space."""
    while (at := text.find(wanted, at, end)) >= 0:
        after = at + len(wanted)
        begin = at
        if bullet:
            begin = text.rfind(bullet, max(0, at - 2), at)
        if begin > 0 and text[begin - 1].isspace() and text[after : after + 1].isspace():
            return begin
        at = after
    return None
