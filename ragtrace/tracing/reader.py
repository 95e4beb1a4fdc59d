"""Read traces back: streaming, from damaged files too, losing no complete record."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec

from ragtrace.tracing.files import find_files, read_blocks
from ragtrace.tracing.schema import Trace, TraceHit

Record = TypeVar("Record", bound=msgspec.Struct)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PARSER = json.JSONDecoder()
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Skipped(msgspec.Struct, frozen=True):
    """Hold a line, counted from 1, that was not read, or not all of it, and why."""

    path: str
    line: int
    reason: str


class RecordReader(Generic[Record]):
    """Iterate over the records of one schema in files; every iteration starts anew.

    `skipped` grows while iterating.
    """

    def __init__(
        self, path: str | os.PathLike[str], record: type[Record], *, strict: bool = False
    ) -> None:
        self.paths = find_files(path)
        self._lines = _Lines(record)
        self._strict = strict
        self._skipped: list[Skipped] = []

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Return the lines that could not be read so far, in order."""
        return tuple(self._skipped)

    def __iter__(self) -> Iterator[Record]:
        self._skipped.clear()
        for path in self.paths:
            yield from self._read(path)

    def _read(self, path: str) -> Iterator[Record]:
        decode = self._lines.decoder.decode
        number = 0
        tail: list[bytes] = []
        blocks = _guarded(read_blocks(path))
        for block in blocks:
            if isinstance(block, EOFError):
                records, _ = self._lines.read(b"".join(tail))
                yield from records
                self._skip(path, number + 1, str(block))
                return
            lines = block.split(b"\n")
            if len(lines) == 1:
                tail.append(block)
                continue
            if tail:
                tail.append(lines[0])
                lines[0] = b"".join(tail)
            tail = [lines.pop()]
            for line in lines:
                number += 1
                try:
                    yield decode(line)
                except _UNREADABLE:
                    yield from self._recover(path, number, line)
        yield from self._recover(path, number + 1, b"".join(tail))

    def _recover(self, path: str, number: int, line: bytes) -> Iterator[Record]:
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line.strip():
            return
        records, reason = self._lines.read(line)
        yield from records
        if reason is not None:
            self._skip(path, number, reason)

    def _skip(self, path: str, number: int, reason: str) -> None:
        if self._strict:
            raise ValueError(f"{path}, line {number}: {reason}")
        self._skipped.append(Skipped(path, number, reason))


class TraceReader(RecordReader[Trace]):
    """Iterate over the traces of files; see `read_traces`."""


def read_traces(path: str | os.PathLike[str], *, strict: bool = False) -> TraceReader:
    """Read the traces of a file, a folder, a glob or standard input (`-`), compressed or not.

    A line that is torn, foreign or of a later major version is skipped, and `skipped` says where
    and why; with `strict` it is a `ValueError`. Records after a torn one on the same line are
    read. Keys that this version does not know are in `extra`. Raises `ValueError` where the path
    names no file.

    >>> reader = read_traces("/dev/null")
    >>> list(reader), reader.skipped
    ([], ())
    """
    return TraceReader(path, Trace, strict=strict)


def _guarded(blocks: Iterator[bytes]) -> Iterator[bytes | EOFError]:
    try:
        yield from blocks
    except EOFError as error:
        yield error


class _Lines(Generic[Record]):
    """Read the lines that are not simply one record of this version."""

    def __init__(self, record: type[Record]) -> None:
        self.decoder = msgspec.json.Decoder(record)
        self._record = record
        self._schema = str(record.__struct_config__.tag)
        name, _, self._major = self._schema.rpartition("/")
        self._family = name + "/"
        self._marker = re.compile(r'\{\s*"schema"\s*:\s*"' + re.escape(self._family))

    def read(self, line: bytes) -> tuple[list[Record], str | None]:
        """Return the records of a line, and why something in it was not read."""
        try:
            return [self.decoder.decode(line)], None
        except _UNREADABLE:
            pass
        try:
            values = [msgspec.json.decode(line)]
            reason = None
        except _UNREADABLE:
            values, torn = self._resynchronise(line)
            reason = "not a whole JSON object" if torn else None
        records: list[Record] = []
        for value in values:
            try:
                records.append(self._convert(value))
            except ValueError as error:
                reason = str(error)
        return records, reason

    def _resynchronise(self, line: bytes) -> tuple[list[Any], bool]:
        """Find the complete records in a line that holds torn ones too.

        A torn record has no end, so after a whole one comes the end of the line or another
        opening brace; anything else means that it was nested inside a torn one.
        """
        text = line.decode("utf-8", "surrogateescape").rstrip()
        found: list[Any] = []
        position, torn = 0, False
        while match := self._marker.search(text, position):
            torn |= bool(text[position : match.start()].strip())
            try:
                value, end = _PARSER.raw_decode(text, match.start())
                text[match.start() : end].encode()
            except (ValueError, RecursionError):
                end = None
            if end is not None and (end == len(text) or text[end:].lstrip().startswith("{")):
                found.append(value)
                position = end
            else:
                torn, position = True, match.end()
        return found, torn or bool(text[position:].strip())

    def _convert(self, value: Any) -> Record:
        schema = value.get("schema") if isinstance(value, dict) else None
        if not isinstance(schema, str) or not schema.startswith(self._family):
            raise ValueError(f"not a {self._schema} record")
        if schema != self._schema:
            raise ValueError(f"schema {schema} is not {self._schema}, which this version reads")
        try:
            return msgspec.convert(self._with_extra(value), self._record)
        except msgspec.ValidationError as error:
            raise ValueError(f"not a valid {self._schema} record: {error}") from error

    def _with_extra(self, value: dict[str, Any]) -> dict[str, Any]:
        known = _apart(value, ("schema", *self._record.__struct_fields__))
        hits = known.get("hits")
        if self._record is Trace and isinstance(hits, list):
            known["hits"] = [
                _apart(hit, TraceHit.__struct_fields__) if isinstance(hit, dict) else hit
                for hit in hits
            ]
        return known


def _apart(value: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """Move the keys that are no fields into `extra`."""
    unknown = {key: item for key, item in value.items() if key not in fields}
    if not unknown:
        return value
    known = {key: item for key, item in value.items() if key in fields}
    return known | {"extra": (known.get("extra") or {}) | unknown}
