"""The chunk: one piece of a document, with exact offsets."""

import re
from typing import Literal

import msgspec

Kind = Literal["prose", "list", "table", "fence", "code", "html", "mixed"]

_CHUNK_ID = re.compile(r"(?s)(?P<doc_id>.*)#c?(?P<index>[0-9]+)")


class Chunk(msgspec.Struct, frozen=True):
    """Hold one piece of a document and where it came from.

    `start` and `end` are half-open code-point offsets into the document as given, so
    `document[chunk.start:chunk.end] == chunk.text`. `prefix` and `suffix` are what a chunk needs
    to be readable alone (a heading path, a repeated table header, a reopened fence); `content` is
    what gets embedded and stored, and `length` is content's, in the units asked for.

    >>> chunk = Chunk("guide", 0, 0, 5, "Hello")
    >>> chunk.chunk_id, chunk.content
    ('guide#c0', 'Hello')
    """

    doc_id: str
    index: int
    start: int
    end: int
    text: str
    prefix: str = ""
    suffix: str = ""
    heading_path: tuple[str, ...] = ()
    heading_paths: tuple[tuple[str, ...], ...] = ()
    kind: Kind = "prose"
    length: int = 0

    @property
    def chunk_id(self) -> str:
        """Return the readable id, `doc_id#cN`."""
        return f"{self.doc_id}#c{self.index}"

    @property
    def content(self) -> str:
        """Return what is embedded and stored: prefix, exact slice, suffix."""
        return self.prefix + self.text + self.suffix


def parse_chunk_id(chunk_id: str) -> tuple[str, int]:
    """Split a chunk id into its document id and index; `doc#7` is read as well as `doc#c7`.

    Raises `ValueError` where the id has no index.

    >>> parse_chunk_id("a#b#c7")
    ('a#b', 7)
    """
    match = _CHUNK_ID.fullmatch(chunk_id)
    if match is None:
        raise ValueError(f"chunk id {chunk_id!r} has no index: expected 'document#cN'")
    return match["doc_id"], int(match["index"])


def strip_decoration(content: str, prefix_length: int, suffix_length: int) -> str:
    r"""Return the exact slice inside a decorated text; lengths are in code points.

    >>> strip_decoration("Guide > Intro\n\nHello", 15, 0)
    'Hello'
    """
    return content[prefix_length : len(content) - suffix_length]
