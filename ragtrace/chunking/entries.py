"""What the packer works with: blocks with their lengths, and the pieces made of them."""

from collections.abc import Sequence

import msgspec

from ragtrace.chunking.chunk import Kind
from ragtrace.chunking.outline import Block

Path = tuple[str, ...]


class Entry(msgspec.Struct, frozen=True, gc=False):
    """Hold a block, how many units stand before its start and its end, and its heading path.

    `opens` says that it begins a section; `last`, that it is a sentence or a line; `torn`, that it
    is a piece of one; `run`, that it is several of them, taken at once.
    """

    block: Block
    low: float
    high: float
    path: Path
    opens: bool = False
    last: bool = False
    torn: bool = False
    run: bool = False


class Piece(msgspec.Struct, frozen=True, gc=False):
    """Hold a chunk to be: its span, what is put around it, and what is in it."""

    start: int
    end: int
    prefix: str
    suffix: str
    length: int
    kind: Kind
    path: Path
    paths: tuple[Path, ...]


def paths_of(entries: Sequence[Entry]) -> list[Path]:
    """Return the sections that entries stand in; a heading right before another opens none."""
    paths: list[Path] = []
    for index, entry in enumerate(entries):
        if paths and entry.path is paths[-1]:
            continue
        if entry.block.level and index + 1 < len(entries) and entries[index + 1].block.level:
            continue
        if not paths or paths[-1] != entry.path:
            paths.append(entry.path)
    return paths
