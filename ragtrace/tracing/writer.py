"""Write traces to a file: at once, whole, and without ever breaking the retrieval."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import msgspec

from ragtrace.tracing.failures import Failures, ForkLock
from ragtrace.tracing.json_values import encode_line
from ragtrace.tracing.line_file import LineFile
from ragtrace.tracing.schema import Trace

Record = TypeVar("Record", bound=msgspec.Struct)


class WriterStats(msgspec.Struct, frozen=True):
    """Hold how many records a writer wrote and, by kind of failure, how many it dropped."""

    written: int
    dropped: dict[str, int]


class RecordWriter(Generic[Record]):
    """Append records of one schema to a file; the base of the writers below."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        strict: bool = False,
        permissions: int = 0o600,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.strict = strict
        self.failures = Failures()
        self._file = LineFile(path, permissions=permissions, clock=clock)
        self._count = _Counter()

    @property
    def path(self) -> Path:
        """Return the path as given, date fields unfilled."""
        return self._file.path

    @property
    def stats(self) -> WriterStats:
        """Return what this writer has done so far in this process."""
        return WriterStats(self._count.value, self.failures.counts)

    def write(self, record: Record) -> bool:
        """Append one record and say whether it is in the file.

        What goes wrong is counted in `stats`, logged once per kind, and raised only with `strict`.
        """
        try:
            line = self._encode(record)
        except Exception as error:
            return self._failed("encode", error)
        try:
            self._file.append(line)
        except Exception as error:
            return self._failed("write", error)
        self._count.add()
        return True

    def close(self) -> None:
        """Close the file; writing again opens it again."""
        self._file.close()

    def _encode(self, record: Record) -> bytes:
        return encode_line(record)

    def _failed(self, kind: str, error: Exception) -> bool:
        self.failures.note(kind, error)
        if self.strict:
            raise error
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Frameworks copy retrievers freely; two copies may as well share a descriptor.
        return self

    def __getstate__(self) -> dict[str, Any]:
        # What this process counted and logged says nothing about another one.
        return {"strict": self.strict, "_file": self._file}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.failures = Failures()
        self._count = _Counter()


class TraceWriter(RecordWriter[Trace]):
    """Append traces to a JSONL file: one write each, no thread, queue or buffer.

    Many threads and processes may write to one local file. `path` may hold `strftime` fields
    ("traces-%Y-%m-%d.jsonl", in UTC). The file is made with `permissions`, since traces hold what
    users asked. A trace that cannot be written is counted and dropped, unless `strict`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/traces.jsonl"
    >>> from ragtrace.tracing import Trace
    >>> with TraceWriter(path) as writer:
    ...     writer.write(Trace(id="0" * 32, ts=0, query="q", top_k=5, hits=(), latency_ms=1.5))
    True
    """

    def _encode(self, record: Trace) -> bytes:
        if type(record) is not Trace:
            raise TypeError(f"a trace file takes Trace records, not {type(record).__name__}")
        return encode_line(record)


class _Counter:
    """Count across threads, from a fork on separately."""

    def __init__(self) -> None:
        self._lock = ForkLock()
        self.value = 0

    def add(self) -> None:
        with self._lock:
            self.value += 1
