"""The outline of source code: definitions with their comments and decorators, then statements.

A file is a row of nodes of its syntax tree. Nodes that belong together are one block: comments and
decorators with what they stand before, imports with each other. A block that must be cut is opened
until there is more than one row of nodes to cut between: first where a line begins, and only in
code without lines between any two nodes. What has no nodes inside, a string or a comment, is cut
between lines. Blocks tile the text, so nothing depends on the grammar understanding all of it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragtrace.chunking.code_names import name_of
from ragtrace.chunking.code_nodes import (
    Group,
    Source,
    children_of,
    group_items,
    is_comment,
    is_lead,
    is_text,
    open_group,
)
from ragtrace.chunking.dividing import lines_of
from ragtrace.chunking.grammars import load_grammar
from ragtrace.chunking.graphemes import replace_surrogates
from ragtrace.chunking.outline import Block, Outline, Parser
from ragtrace.chunking.places import place_finder

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORT = re.compile(
    r"\w*import\w*|preproc_include|use_declaration|extern_crate_declaration|using_declaration"
    r"|package_\w+|hash_bang_line"
)
_REQUIRE = re.compile(rb"(?:const|let|var)\s[^=;]{1,200}=\s*require\(")
# How often a block is cut into smaller ones; what is nested deeper is cut between lines.
_DEEPEST = 100


def code_parser(language: str) -> Parser:
    r"""Return the parser of a programming language.

    Raises `ValueError` for a language that is not known and `ImportError` where its grammar is not
    installed.

    >>> code = "import os\n\n# Look.\ndef look():\n    return os.listdir()\n"
    >>> [code[block.start : block.end] for block in code_parser("python")(code).blocks]
    ['import os', '# Look.\ndef look():\n    return os.listdir()']
    """
    load_grammar(language)
    return partial(outline_code, language=language)


def outline_code(text: str, *, language: str) -> Outline:
    """Return the definitions and statements of a source file, as one row of blocks."""
    from tree_sitter import Parser as TreeParser

    readable = replace_surrogates(text, "\ufffd")
    if readable.startswith("\ufeff"):
        readable = " " + readable[1:]
    tree = TreeParser(load_grammar(language)).parse(readable.encode())
    source = Source(text, place_finder(readable))
    groups = _with_header(group_items(source, children_of(tree.root_node)))
    start = groups[0].start if groups and not text[: groups[0].start].strip() else 0
    return Outline(list(_blocks(source, groups, start, len(text))))


def _blocks(
    source: Source,
    groups: Sequence[Group],
    start: int,
    end: int,
    *,
    within: str = "",
    depth: int = 0,
) -> Iterator[Block]:
    """Yield groups as blocks that tile a span, so that nothing in it is lost.

    `within` is the name of what they are the parts of, whose name a part does not repeat.
    """
    for index, group in enumerate(groups):
        last = index + 1 == len(groups)
        following = end if last else max(start, groups[index + 1].start)
        stop = following
        while stop > start and source.text[stop - 1].isspace():
            stop -= 1
        title = name_of(item.node for item in group.items if not is_lead(item.node))
        yield Block(
            start,
            stop,
            "code",
            whole=not group.is_body,
            leads=group.leads and not last,
            title="" if title == within else title,
            parts=partial(_parts, source, group, start, stop, title or within, depth + 1),
        )
        start = following


def _parts(
    source: Source, group: Group, start: int, end: int, within: str, depth: int
) -> Iterator[Block]:
    groups = open_group(source, group.items) if depth < _DEEPEST else []
    if groups:
        yield from _blocks(source, groups, start, end, within=within, depth=depth)
    else:
        for span in lines_of(source.text, start, end):
            yield Block(*span, kind="code")


def _with_header(groups: list[Group]) -> list[Group]:
    """Return the groups of a file with its imports, and what stands before them, in one."""
    count = 0
    for index, group in enumerate(groups):
        if any(_imports(item.node) for item in group.items):
            count = index + 1
        elif not (is_comment(group) or is_text(group.items[0].node)):
            break
    if count < 2:
        return groups
    items = [item for group in groups[:count] for item in group.items]
    return [Group(groups[0].start, items), *groups[count:]]


def _imports(node: "Node") -> bool:
    if node.type in ("lexical_declaration", "variable_declaration"):
        return _REQUIRE.match(node.text or b"") is not None
    return _IMPORT.fullmatch(node.type) is not None
