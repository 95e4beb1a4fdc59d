"""Nodes of a syntax tree in groups that belong together."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

# How many levels of a tree are opened at once in the search for a place to cut.
_REACH = 50
_INDENTATION = 256  # a line indented deeper than that is code all the same, but begins no group

_COMMENT = re.compile(r".*comment")
# What belongs to the node after it.
_LEAD = re.compile(r".*comment|decorator|attribute_item|modifiers|.*annotation")
# Nodes whose children are equals; anywhere else, a child leads to the next one.
_ROW = re.compile(
    r".*(?:block|body|list|case|clause|preproc|section|arguments|parameters|elements?)\w*"
    r"|program|module|compound_statement|source_file|translation_unit|ERROR|object\w*|array|dictionary|set|tuple"
    r"|literal_value"
)
# Cut between lines, never between the nodes that some grammars see inside.
_LEAF = re.compile(r"(?!concatenated).*string\w*|.*comment|.*char\w*_literal|regex|heredoc\w*")
_CLOSING = frozenset(("}", ")", "]", ">", ";", ",", "#endif", "string_end"))
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r")


@cache  # a grammar has some hundred types, a file may have a million nodes
def _is(kind: re.Pattern[str], name: str) -> bool:
    return kind.fullmatch(name) is not None


class Source(NamedTuple):
    """Hold a text, and what turns a byte offset of its tree into an offset into it."""

    text: str
    place: Callable[[int], int]


class Item(NamedTuple):
    """Hold a node, and whether the nodes beside it are its equals."""

    node: "Node"
    equal: bool


class Group(NamedTuple):
    """Hold nodes that belong together, where they begin, and whether they lead to the next."""

    start: int
    items: list[Item]
    leads: bool = False

    @property
    def is_body(self) -> bool:
        """Whether these are only the statements of something, which has its head before them."""
        named = [item for item in self.items if _is_statement(item.node)]
        return bool(named) and not any(
            item.equal or not _is(_ROW, item.node.type) for item in named
        )


def children_of(node: "Node") -> list[Item]:
    """Return what is inside a node."""
    equal = _is(_ROW, node.type)
    return [Item(child, equal) for child in node.children if child.start_byte < child.end_byte]


def open_group(source: Source, items: Sequence[Item]) -> list[Group]:
    """Open nodes until there are several groups; return none where there are none to be found.

    First a definition is set apart from the comments before it and the brackets behind it. Then
    groups begin with a line if that is possible, else with any node.
    """
    apart = _set_apart(source, items)
    if apart:
        return apart
    for by_lines in (True, False):
        level = items
        for _ in range(_REACH):
            groups = group_items(source, level, by_lines=by_lines)
            if len(groups) > 1:
                return groups
            opened = _opened(level, by_lines=by_lines)
            if opened is None:
                break
            level = opened
    return []


def group_items(source: Source, items: Sequence[Item], *, by_lines: bool = True) -> list[Group]:
    """Return nodes in groups: with the comments and decorators before them, and what closes them.

    A comment that a blank line follows stands alone.
    """
    groups: list[Group] = []
    waits = False
    for item in items:
        node = item.node
        start = _line_start(source, node) if by_lines else None
        if start is None and not by_lines and node.is_named and not _is(_COMMENT, node.type):
            start = source.place(node.start_byte)
        begins = start is not None and node.type not in _CLOSING
        if waits and begins and _stands_alone(source, groups[-1].items[-1].node, node):
            waits = False
        if not groups or (begins and not waits):
            first = source.place(node.start_byte) if start is None else start
            groups.append(Group(first, [item]))
        else:
            groups[-1].items.append(item)
        if begins:
            waits = is_lead(node)
        elif node.is_named:
            waits = waits and is_lead(node)
    return [group._replace(leads=_leads(group)) for group in groups]


def is_lead(node: "Node") -> bool:
    """Say whether a node belongs to the one after it: a comment, a decorator."""
    return _is(_LEAD, node.type)


def is_comment(group: Group) -> bool:
    """Say whether there is nothing but comments in a group."""
    return all(_is(_COMMENT, item.node.type) for item in group.items)


def is_text(node: "Node") -> bool:
    """Say whether a statement is a string and nothing else, as a documentation string is."""
    child = node.named_child(0) if node.named_child_count == 1 else None
    return node.type == "expression_statement" and child is not None and child.type == "string"


def _set_apart(source: Source, items: Sequence[Item]) -> list[Group]:
    """Return the statements of a group, what leads to them and what closes after them, if any."""
    own = [at for at, (node, equal) in enumerate(items) if equal and _is_statement(node)]
    if not own:
        return []
    parts = [items[: own[0]], items[own[0] : own[-1] + 1], items[own[-1] + 1 :]]
    groups = [Group(_start(source, part[0].node), list(part)) for part in parts if part]
    return [group._replace(leads=_leads(group)) for group in groups] if len(groups) > 1 else []


def _is_statement(node: "Node") -> bool:
    return node.is_named and not is_lead(node)


def _start(source: Source, node: "Node") -> int:
    start = _line_start(source, node)
    return source.place(node.start_byte) if start is None else start


def _leads(group: Group) -> bool:
    last, equal = group.items[-1]
    if all(is_lead(item.node) for item in group.items) or is_text(last):
        return True
    return last.type not in _CLOSING and not (equal and last.is_named)


def _opened(items: Sequence[Item], *, by_lines: bool) -> list[Item] | None:
    """Return the items with their children in place of those that can be opened, if any can."""
    openable = [_is_openable(item.node, by_lines=by_lines) for item in items]
    if not any(openable):
        return None
    leads = [is_lead(item.node) for item in items]
    # What is decorated is opened before its decorators are.
    spared = any(can and not lead for can, lead in zip(openable, leads, strict=True))
    opened: list[Item] = []
    for item, can, lead in zip(items, openable, leads, strict=True):
        if can and not (spared and lead):
            opened += children_of(item.node)
        else:
            opened.append(item)
    return opened


def _is_openable(node: "Node", *, by_lines: bool) -> bool:
    if not node.child_count or _is(_LEAF, node.type):
        return False
    return not by_lines or node.start_point[0] < node.end_point[0]


def _line_start(source: Source, node: "Node") -> int | None:
    """Return where the line begins that a node is the first on."""
    at = source.place(node.start_byte)
    before = source.text[max(0, at - _INDENTATION) : at]
    indentation = len(before) - len(before.rstrip(" \t\f\v\ufeff"))
    if indentation < len(before):
        return at - indentation if before[-indentation - 1] in "\r\n" else None
    return at - indentation if at <= _INDENTATION else None


def _stands_alone(source: Source, node: "Node", following: "Node") -> bool:
    if not _is(_COMMENT, node.type):
        return False
    start, end = source.place(node.end_byte), source.place(following.start_byte)
    # Some grammars count the end of its line to a comment.
    while start and source.text[start - 1] in "\r\n":
        start -= 1
    return _BLANK_LINE.search(source.text, start, end) is not None
