"""Name what a chunk boundary cuts: a table, a fence, a list, a sentence, or only a passage."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal

from ragtrace.chunking import RuleSegmenter
from ragtrace.evaluation.spans import Span

Structure = Literal["table", "fence", "list", "sentence", "passage"]

_FAR = 2000
"""Code points around a place in which its sentence must begin and end."""

ORDER: tuple[Structure, ...] = ("table", "fence", "sentence", "list", "passage")
"""What hurts most when cut comes first; a list is cut between its items."""


class Blocks:
    """Hold where a Markdown document has fences, tables and lists.

    Text that is no Markdown simply has none.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.fences: list[Span] = []
        self.tables: list[Span] = []
        self.lists: list[Span] = []
        self.items: list[int] = []
        for kind, span in _block_spans(text):
            if kind == "item":
                self.items.append(span[0])
            else:
                getattr(self, kind).append(span)

    def cut_at(self, position: int) -> Structure:
        """Name the structure that a boundary at `position` cuts.

        The boundary may lie anywhere in the white space between two chunks.
        """
        before = len(self.text[:position].rstrip())
        after = position + len(self.text[position:]) - len(self.text[position:].lstrip())
        if _within(self.tables, before, after):
            return "table"
        if _within(self.fences, before, after):
            return "fence"
        if _within(self.lists, before, after) and self._starts_item(before, after):
            return "list"
        if self._cuts_sentence(before, after):
            return "sentence"
        return "list" if _within(self.lists, before, after) else "passage"

    def keeps(self, structure: Structure, span: Span) -> bool:
        """Tell whether a splitter that never cuts such structures keeps a span in one piece."""
        if structure == "sentence":
            return any(start <= span[0] and span[1] <= end for start, end in self._around(*span))
        blocks = {"table": self.tables, "fence": self.fences, "list": self.lists}
        return any(start <= span[0] and span[1] <= end for start, end in blocks.get(structure, ()))

    def _starts_item(self, before: int, after: int) -> bool:
        return any(before <= start <= after for start in self.items)

    def _cuts_sentence(self, before: int, after: int) -> bool:
        if before == 0 or after >= len(self.text):
            return False
        if "\n\n" in self.text[before:after].replace("\r", ""):
            return False
        return _within(self._around(before, after), before, after)

    def _around(self, before: int, after: int) -> list[Span]:
        """Return the sentences of the paragraph around a place."""
        border = self.text.rfind("\n\n", 0, before)
        start = max(0 if border < 0 else border + 2, before - _FAR)
        end = self.text.find("\n\n", after)
        end = min(len(self.text) if end < 0 else end, after + _FAR)
        found = RuleSegmenter()(self.text[start:end])
        return [(start + first, start + last) for first, last in found]


def worst_cut(blocks: Blocks, positions: Sequence[int]) -> tuple[Structure, int]:
    """Return the structure that is hurt most by boundaries at these positions, and where."""
    cuts = [(blocks.cut_at(position), position) for position in positions]
    return min(cuts, key=lambda cut: ORDER.index(cut[0]))


def _within(spans: Sequence[Span], before: int, after: int) -> bool:
    return any(start < before and after < end for start, end in spans)


def _block_spans(text: str) -> Iterator[tuple[str, Span]]:
    from pyromark import Markdown, Options

    data = text.encode("utf-8", "replace")
    offsets = None if len(data) == len(text) else _code_points(text)
    for event, where in Markdown(options=Options.ENABLE_TABLES).events_with_range(
        data.decode("utf-8")
    ):
        start = event.get("Start") if isinstance(event, dict) else None
        if start == "Item":
            kind = "item"
        elif not isinstance(start, dict):
            continue
        elif "Table" in start:
            kind = "tables"
        elif "List" in start:
            kind = "lists"
        elif isinstance(start.get("CodeBlock"), dict) and "Fenced" in start["CodeBlock"]:
            kind = "fences"
        else:
            continue
        first, last = where["start"], where["end"]
        if offsets is not None:
            first, last = bisect_right(offsets, first) - 1, bisect_right(offsets, last) - 1
        last = first + len(text[first:last].rstrip())
        yield kind, (first, last)


def _code_points(text: str) -> list[int]:
    """Return the byte at which each code point starts, and the length."""
    starts = [0]
    for character in text:
        code = ord(character)
        width = 1 if code < 0x80 or 0xD800 <= code < 0xE000 else 2 if code < 0x800 else 3
        starts.append(starts[-1] + (4 if code > 0xFFFF else width))
    return starts
