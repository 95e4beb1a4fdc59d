"""Markdown blocks from pyromark's events: bytes become code points, blocks begin with their line.

Containers (lists, quotes, footnotes) are not entered at first. When a cut inside one is considered
its text is read again, this time as a whole tree.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import pyromark
from msgspec.structs import replace

from ragtrace.chunking.chunk import Kind
from ragtrace.chunking.graphemes import replace_surrogates
from ragtrace.chunking.markdown_parts import fence_lines, table_rows
from ragtrace.chunking.outline import Block
from ragtrace.chunking.places import place_finder

_OPTIONS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
_CONTAINERS = frozenset(("List", "BlockQuote", "FootnoteDefinition", "Item"))
_LEAVES = frozenset(("Paragraph", "Heading", "CodeBlock", "HtmlBlock", "Table", "Rule"))
_BLOCKS = _CONTAINERS | _LEAVES
_LEAD_END = re.compile(r"[:：][*_]{0,3}\Z")


def read_blocks(text: str, start: int, end: int) -> list[Block]:
    """Return the top-level blocks of the Markdown in a span.

    An event that begins before the end of a block is inside it and is passed over, but for the
    text of headings.
    """
    readable = replace_surrogates(text[start:end], "\ufffd")
    place = place_finder(readable)
    blocks: list[Block] = []
    heading: list[str] | None = None
    at, limit = start, -1
    for event, span in _events(readable):
        if span["start"] < limit:
            if heading is not None:
                heading.append(_plain_text(event))
            continue
        if heading is not None:
            blocks[-1] = _with_title(blocks[-1], heading)
            heading = None
        if event != "Rule" and "Start" not in event:
            continue  # the end of a block without text
        limit = span["end"]
        value = event if type(event) is str else event["Start"]
        tag = value if type(value) is str else next(iter(value))
        first = max(at, _line_start(text, start + place(span["start"]), at))
        at = _strip_end(text, first, start + place(limit))
        if at > first:  # pyromark ends some tables with an empty row behind them
            blocks.append(_make(text, tag, value, first, at))
            if tag == "Heading":
                heading = []
    if heading is not None:
        blocks[-1] = _with_title(blocks[-1], heading)
    return _with_leads(text, blocks)


def _with_title(block: Block, title: list[str]) -> Block:
    return replace(block, title=" ".join("".join(title).split()))


def _plain_text(event: Any) -> str:
    """Return what a reader of a heading sees of an event inside it."""
    if type(event) is str:
        return " "
    text: str = event.get("Text") or event.get("Code") or ""
    return text


def _events(source: str) -> Iterable[tuple[Any, Any]]:
    # Typed loosely on purpose: events are dictionaries with one key, and strings.
    return pyromark.events_with_range(source, options=_OPTIONS)


class _Frame:
    """Hold a block of the tree whose end has not come yet."""

    def __init__(self, tag: str, value: Any, start: int, end: int) -> None:
        self.tag = tag
        self.value = value
        self.start = start
        self.end = end
        self.children: list[Block] = []
        self.has_text = False  # text that is in no block of its own, as tight lists have it


def read_tree(text: str, start: int, end: int) -> list[Block]:
    """Return what is inside the one container that a span holds, all the way down."""
    readable = replace_surrogates(text[start:end], "\ufffd")
    place = place_finder(readable)
    root = _Frame("", None, start, end)
    frames = [root]
    inline = 0
    for event, span in _events(readable):
        frame = frames[-1]
        if event == "Rule":
            at = _child_start(text, frame, start + place(span["start"]))
            last = _strip_end(text, at, start + place(span["end"]))
            frame.children.append(_make(text, "Rule", None, at, last))
        elif "Start" in event and type(event) is not str:
            value = event["Start"]
            tag = value if type(value) is str else next(iter(value))
            if inline or tag not in _BLOCKS:
                inline += 1
                frame.has_text = True
                continue
            at = _child_start(text, frame, start + place(span["start"]))
            last = _strip_end(text, at, start + place(span["end"]))
            frames.append(_Frame(tag, value, at, last))
        elif "End" in event and type(event) is not str:
            if inline:
                inline -= 1
                continue
            frames.pop()
            frames[-1].children.append(_close(text, frame))
        else:
            frame.has_text = True
    return root.children


def _child_start(text: str, frame: _Frame, first: int) -> int:
    """Return where a block in a container begins: with the marker of its item, else its line."""
    if frame.children:
        return max(frame.children[-1].end, _line_start(text, first, frame.children[-1].end))
    if frame.has_text:
        return max(frame.start, _line_start(text, first, frame.start))
    return frame.start


def _close(text: str, frame: _Frame) -> Block:
    end = max([frame.end, *(child.end for child in frame.children[-1:])])
    block = _make(text, frame.tag, frame.value, frame.start, end)
    if frame.tag not in _CONTAINERS:
        return block
    children = _with_leads(text, _with_text(text, frame, end))
    if frame.tag in ("List", "Item"):
        children = [
            replace(child, kind="list") if child.kind == "prose" else child for child in children
        ]
    return replace(block, parts=children.copy if children else None)


def _with_text(text: str, frame: _Frame, end: int) -> list[Block]:
    """Return the children of a container, and before them the text of a tight item."""
    children = frame.children
    if not children:
        return []
    first = _strip_end(text, frame.start, children[0].start)
    if first <= frame.start:
        return children
    return [Block(frame.start, first, leads=True), *children]


def _make(text: str, tag: str, value: Any, start: int, end: int) -> Block:
    if tag == "Paragraph":
        return Block(start, end)
    if tag == "Heading":
        return Block(start, end, level=int(value["Heading"]["level"][1]))
    if tag == "CodeBlock":
        if value["CodeBlock"] == "Indented":
            return Block(start, end, "code", whole=True)
        return Block(start, end, "fence", True, parts=partial(fence_lines, text, start, end))
    if tag == "Table":
        return Block(start, end, "table", True, parts=partial(table_rows, text, start, end))
    if tag == "HtmlBlock":
        return Block(start, end, "html", True)
    kind: Kind = "list" if tag in ("List", "Item") else "prose"
    if tag in _CONTAINERS:
        whole = tag != "BlockQuote"
        return Block(start, end, kind, whole, parts=partial(_inside, text, start, end))
    return Block(start, end, whole=True)


def _inside(text: str, start: int, end: int) -> Sequence[Block]:
    [container, *rest] = read_tree(text, start, end) or [Block(start, end)]
    if rest or container.parts is None:
        return [container, *rest] if rest else [Block(start, end, container.kind)]
    return list(container.parts())


def _with_leads(text: str, blocks: list[Block]) -> list[Block]:
    """Mark the paragraphs that lead to the block after them: by a colon, or to code."""
    for index, block in enumerate(blocks[:-1]):
        if block.kind == "prose" and not block.level and not block.leads:
            following = blocks[index + 1].kind
            leads = following in ("fence", "code") or text[block.end - 1] in ":：*_"
            if leads and (
                following in ("fence", "code")
                or _LEAD_END.search(text, max(block.start, block.end - 4), block.end)
            ):
                blocks[index] = replace(block, leads=True)
    return blocks


def _line_start(text: str, at: int, floor: int) -> int:
    if text[at - 1 : at] in ("\n", "\r"):
        return at
    return max(text.rfind("\n", floor, at), text.rfind("\r", floor, at)) + 1


def _strip_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
