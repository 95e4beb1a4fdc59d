"""Find the files that a path means, and read them in blocks, compressed or not."""

import glob
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

BLOCK_SIZE = 1 << 20
STDIN = "-"
_SUFFIXES = (".jsonl", ".jsonl.gz")
_GZIP_OR_ZLIB = zlib.MAX_WBITS + 32


def find_files(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the files that a path names: itself, `-`, a folder's JSONL files, or a glob's.

    Raises `ValueError` where there are none.
    """
    name = os.fspath(path)
    if name == STDIN:
        return (STDIN,)
    target = Path(name)
    if target.is_dir():
        found = sorted(str(file) for file in target.iterdir() if file.name.endswith(_SUFFIXES))
        if not found:
            raise ValueError(f"{name}: the folder holds no .jsonl or .jsonl.gz file")
        return tuple(found)
    if target.exists():
        return (name,)
    if glob.has_magic(name):
        matches = glob.iglob(name, recursive=True)  # noqa: PTH207  # Path.glob wants relative ones
        found = sorted(file for file in matches if Path(file).is_file())
        if found:
            return tuple(found)
    raise ValueError(
        f"{name}: no such file; give a file, a folder, a glob, or - for standard input"
    )


def read_blocks(name: str) -> Iterator[bytes]:
    """Yield a file's bytes in blocks, unpacked where it is gzip by its first bytes.

    Raises `EOFError` after the last whole block where a compressed file ends early or is damaged.
    """
    if name == STDIN:
        yield from _unpacked(_blocks(sys.stdin.buffer.read))
        return
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        yield from _unpacked(_blocks(lambda size: os.read(descriptor, size)))
    finally:
        os.close(descriptor)


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while block := read(BLOCK_SIZE):
        yield block


def _unpacked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(blocks, b"")
    if not first.startswith(b"\x1f\x8b"):
        yield first
        yield from blocks
        return
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    block: bytes | None = first
    while block is not None:
        try:
            # Bounded, since a small block may unpack to a thousand times its size.
            yield unpacker.decompress(block, BLOCK_SIZE)
        except zlib.error as error:
            raise EOFError(f"compressed data is damaged ({error})") from error
        if unpacker.eof:
            # Another member may follow; what is left of this block belongs to it.
            block = unpacker.unused_data or next(blocks, None)
            if block is not None:
                unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
        else:
            block = unpacker.unconsumed_tail or next(blocks, None)
    if not unpacker.eof:
        raise EOFError("compressed data ends early")
