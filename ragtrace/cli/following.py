"""Follow trace files while others write to them."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ragtrace.tracing import Trace, read_traces
from ragtrace.tracing.files import find_files

STEP = 1 << 26  # bytes looked at together
HEAD = 128
_COMPRESSED = b"\x1f\x8b"


class Follower:
    """Give the traces that came since the last call, whole lines only.

    A file that begins otherwise than before, or became shorter, is read anew; compressed files do
    not grow and are read once.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._read_to: dict[str, tuple[bytes, int]] = {}  # how it begins, offset
        if "-" in self._paths:
            raise ValueError("--every follows files: standard input cannot be read again")
        self._files()

    def new_traces(self) -> Iterator[Trace]:
        """Yield what is new, of files that are new too."""
        for name in self._files():
            yield from self._new_in(Path(name))

    def _files(self) -> list[str]:
        return [file for path in self._paths for file in find_files(path)]

    def _new_in(self, path: Path) -> Iterator[Trace]:
        with path.open("rb") as file:
            head = file.read(HEAD)
            began, offset = self._read_to.get(str(path), (head, 0))
            # Inodes are given again, so a file is known by its first line, which holds an id.
            if not head.startswith(began) or path.stat().st_size < offset:
                offset = 0
            if head.startswith(_COMPRESSED):
                self._read_to[str(path)] = head, path.stat().st_size
                if offset == 0:
                    yield from read_traces(path)
                return
            file.seek(offset)
            while block := file.read(STEP):
                if not block.endswith(b"\n"):
                    block += file.readline()
                end = block.rfind(b"\n") + 1
                yield from _read(block[:end])
                offset += end
                if end < len(block):
                    break  # a line that is still being written
            self._read_to[str(path)] = head, offset


def _read(lines: bytes) -> list[Trace]:
    if not lines:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.jsonl"
        path.write_bytes(lines)
        return list(read_traces(path))
