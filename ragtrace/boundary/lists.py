"""Lists that a cut separates between two items."""

import re
from collections.abc import Iterable

from ragtrace.boundary.shapes import BLANK_LINE, Item, read_item


def starts_in_list(text: str) -> str:
    """Say that a chunk starts with a later item of a numbered list, `""` if it does not."""
    item = read_item(text.lstrip("\r\n").split("\n", 1)[0])
    if item is None or item.number is None or item.number < 2:
        return ""
    # A lone "3. Results" may be a numbered heading; two numbers in a row are a list.
    following = re.search(rf"(?m)^[ \t]*{item.number + 1}[.)][ \t]", text)
    return f"starts with item {item.number} of a list" if following else ""


def is_list_cut(before: str, after: str, most: int) -> bool:
    r"""Tell whether a cut separates items of a list that a chunk of `most` characters would hold.

    >>> is_list_cut("- one\n- two\n", "- three\n", 100)
    True
    """
    item = read_item(after.lstrip("\r\n ").split("\n", 1)[0])
    return item is not None and _goes_on(before, item) and _list_length(before, after) <= most


def _goes_on(before: str, item: Item) -> bool:
    """Tell whether the last list item before a cut belongs to the list of the item after it."""
    for block in reversed(BLANK_LINE.split(before.rstrip())):
        lines = block.split("\n")
        for line in reversed(lines):
            above = read_item(line)
            if above is None:
                continue
            if above.indent < item.indent:
                return True
            if item.number is not None:
                return above.number is not None and (
                    above.number + 1 == item.number or above.number == item.number == 1
                )
            return above.bullet == item.bullet or above.indent > item.indent
        if any(line.strip() and not line[0].isspace() for line in lines):
            return False  # a paragraph ended the list
    return False


def _list_length(before: str, after: str) -> int:
    """Return how many characters of list stand on both sides of a cut."""
    upwards = reversed(before.rstrip().split("\n"))
    return _run_of_items(upwards) + _run_of_items(after.strip().split("\n"))


def _run_of_items(lines: Iterable[str]) -> int:
    length = 0
    waiting = 0  # lines that count only when an item follows
    for line in lines:
        if read_item(line):
            length += waiting + len(line) + 1
            waiting = 0
        elif line[:1].isspace() or not line.strip() or waiting == 0:
            waiting += len(line) + 1
        else:
            break
    return length
