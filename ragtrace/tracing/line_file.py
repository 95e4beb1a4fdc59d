"""A file that many threads and processes append whole lines to."""

import os
import re
import stat
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ragtrace.tracing.failures import ForkLock

_DATE_FIELD = re.compile("%[aAbBdHIjmMpSUwWyYGuV%]")


class LineFile:
    """Append lines, each with one write on an append-only descriptor.

    `path` may hold `strftime` fields, filled in UTC at the time of each line: a new name a day
    needs no renaming, on which processes could not agree. The file is made on the first line, with
    its folder. A file that was deleted or renamed meanwhile is made anew. A tail that was torn by
    a killed process or a full disk is closed by a newline before the next line.

    Raises `ValueError` where the path is a folder.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        permissions: int = 0o600,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder: name a file in it")
        self._permissions = permissions
        self._clock = clock
        self._dated = _DATE_FIELD.search(str(self.path)) is not None
        self._lock = ForkLock()
        self._descriptor: int | None = None
        self._name = ""
        self._file = (0, 0)
        self._torn = False

    def append(self, line: bytes) -> None:
        """Write one line; raises `OSError` where it could not be written whole."""
        with self._lock:
            descriptor = self._current()
            if self._torn:
                line = b"\n" + line
            self._torn = True  # until it is known to be whole
            written = os.write(descriptor, line)
            if written < len(line):
                raise OSError(f"only {written} of {len(line)} bytes fitted into {self._name}")
            self._torn = False

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        with self._lock:
            if self._descriptor is not None:
                descriptor, ours, self._descriptor = self._descriptor, self._is_ours(), None
                if ours:
                    os.close(descriptor)

    def _current(self) -> int:
        name = self._name_now()
        if self._descriptor is not None and not self._is_ours():
            self._descriptor = None  # closed by somebody else, and its number perhaps reused
        if self._descriptor is not None and (name != self._name or self._is_gone()):
            self.close()
        if self._descriptor is None:
            self._open(name)
        assert self._descriptor is not None
        return self._descriptor

    def _name_now(self) -> str:
        if not self._dated:
            return str(self.path)
        return time.strftime(str(self.path), time.gmtime(self._clock()))

    def _is_gone(self) -> bool:
        try:
            found = os.stat(self._name)  # noqa: PTH116  # a Path would double the cost of the check
        except OSError:
            return True
        return (found.st_dev, found.st_ino) != self._file

    def _is_ours(self) -> bool:
        try:
            found = os.fstat(self._descriptor or 0)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._file

    def _open(self, name: str) -> None:
        flags = os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            try:
                descriptor = os.open(name, os.O_RDWR | flags, self._permissions)
            except FileNotFoundError:
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(name, os.O_RDWR | flags, self._permissions)
        except PermissionError:
            # A file that may be written but not read: its tail cannot be seen.
            descriptor = os.open(name, os.O_WRONLY | flags, self._permissions)
        try:
            found = os.fstat(descriptor)
            self._torn = stat.S_ISREG(found.st_mode) and _is_torn(descriptor, found.st_size)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor, self._name = descriptor, name
        self._file = (found.st_dev, found.st_ino)

    def __reduce__(self) -> tuple[Callable[..., "LineFile"], tuple[Any, ...]]:
        return partial(LineFile, permissions=self._permissions, clock=self._clock), (self.path,)

    def __del__(self) -> None:
        if getattr(self, "_descriptor", None) is not None:
            self.close()


def _is_torn(descriptor: int, size: int) -> bool:
    if size == 0:
        return False
    try:
        os.lseek(descriptor, size - 1, os.SEEK_SET)
        return os.read(descriptor, 1) != b"\n"
    except OSError:
        return True  # not readable: an empty line too many does no harm
