"""Turn any value into one that every JSON parser reads, and any record into one line of JSON.

What a store keeps beside a chunk is whatever somebody put there: numpy numbers, dates, objects.
Here is decided what each becomes, so that a trace line is always strict JSON in UTF-8.
"""

import base64
import dataclasses
import datetime
import enum
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

MAX_DEPTH = 32
MAX_VALUES = 10_000
"""Values of one metadata mapping that are looked at; what comes after them is left out."""

_ENCODER = msgspec.json.Encoder()
_TOO_MUCH = "..."
_EMPTY = object()


def encode_line(record: msgspec.Struct) -> bytes:
    r"""Encode a record as one line of strict JSON, newline included.

    >>> from ragtrace.tracing.schema import TraceError
    >>> encode_line(TraceError(type="ValueError", message="a \ud800"))
    b'{"type":"ValueError","message":"a \xef\xbf\xbd"}\n'
    """
    if _has_extra(record):
        return _ENCODER.encode(_spread_extra(_clean_record(record))) + b"\n"
    try:
        return _ENCODER.encode(record) + b"\n"
    except (TypeError, ValueError, OverflowError, RecursionError):
        # Rare, so the walk over every value is paid for only here.
        return _ENCODER.encode(_clean_record(record)) + b"\n"


def encoded_length(value: Any) -> int:
    """Count the bytes of a value that `to_json` returned."""
    return len(_ENCODER.encode(value))


def to_json(value: Any) -> Any:
    r"""Return the value as JSON's own types; never raises.

    Numbers that JSON has no word for (NaN, infinity) become `None`; integers beyond 64 bits become
    strings of digits, since many parsers would round or refuse them. Lone surrogates become
    U+FFFD. Dates, times and UUIDs become their ISO form, paths and decimals their text, bytes
    their text where it is UTF-8 and Base64 where not, sets sorted lists, arrays lists. What is
    nested too deep, or refers to itself, ends in "...".

    >>> to_json({1: {"b", "a"}, "big": 2**70, "nan": float("nan"), "raw": b"\xff"})
    {'1': ['a', 'b'], 'big': '1180591620717411303424', 'nan': None, 'raw': '/w=='}
    """
    return _Walk().convert(value, 0)


def clean_text(text: str) -> str:
    r"""Return the text as it can be encoded: surrogate pairs joined, lone ones as U+FFFD.

    >>> clean_text("\ud83d\ude00 and \ud83d")
    '😀 and �'
    """
    if type(text) is not str:
        text = str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def to_number(value: Any) -> float | None:
    """Return a score as a finite float, else `None`; takes numpy numbers and digits in a string.

    >>> to_number("0.5"), to_number(float("inf")), to_number("high")
    (0.5, None, None)
    """
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number - number == 0 else None


def _clean_record(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        fields = {name: _clean_record(getattr(value, name)) for name in value.__struct_fields__}
        return type(value)(**fields)
    if isinstance(value, tuple):
        return tuple(_clean_record(item) for item in value)
    return to_json(value)


def _has_extra(record: Any) -> bool:
    if getattr(record, "extra", None):
        return True
    return any(hit.extra for hit in getattr(record, "hits", ()))


def _spread_extra(record: msgspec.Struct) -> dict[str, Any]:
    """Put keys that this version does not know back where they were read."""
    values: dict[str, Any] = msgspec.to_builtins(record)
    parts = [values, *values.get("hits", ())]
    for part in parts:
        for key, value in part.pop("extra", {}).items():
            part.setdefault(key, value)
    return values


class _Walk:
    """Convert one value, with a budget: a structure that shares its parts can be endless."""

    def __init__(self) -> None:
        self.left = MAX_VALUES
        self.open: set[int] = set()

    def convert(self, value: Any, depth: int) -> Any:
        self.left -= 1
        simple = _simple(value)
        if simple is not _EMPTY:
            return simple
        if depth >= MAX_DEPTH or self.left <= 0 or id(value) in self.open:
            return _TOO_MUCH
        self.open.add(id(value))
        try:
            return self._nested(value, depth + 1)
        except Exception:  # an object whose own methods fail is named, not read
            return f"<{type(value).__name__}>"
        finally:
            self.open.discard(id(value))

    def _nested(self, value: Any, depth: int) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value.items(), depth)
        if isinstance(value, set | frozenset):
            return sorted((self.convert(item, depth) for item in value), key=_ENCODER.encode)
        if isinstance(value, list | tuple):
            return self._items(value, depth)
        if isinstance(value, enum.Enum):
            return self.convert(value.value, depth)
        if isinstance(value, msgspec.Struct):
            return self._mapping(msgspec.structs.asdict(value).items(), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = (field.name for field in dataclasses.fields(value))
            return self._mapping(((name, getattr(value, name)) for name in names), depth)
        to_list = getattr(value, "tolist", None)  # numpy's scalars and arrays, and those like them
        if callable(to_list):
            return self.convert(to_list(), depth)
        return clean_text(str(value))

    def _mapping(self, pairs: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        for key, value in pairs:
            if self.left <= 0:
                break
            converted[clean_text(key if isinstance(key, str) else str(key))] = self.convert(
                value, depth
            )
        return converted

    def _items(self, values: Iterable[Any], depth: int) -> list[Any]:
        converted: list[Any] = []
        for value in values:
            if self.left <= 0:
                converted.append(_TOO_MUCH)
                break
            converted.append(self.convert(value, depth))
        return converted


def _simple(value: Any) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, enum.Enum):
        return _EMPTY  # also when it is a string or an integer: its value is what counts
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int):
        number = int(value)
        return number if -(2**63) <= number < 2**63 else _digits(number)
    if isinstance(value, float):
        return to_number(value)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        raw = bytes(value)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(raw).decode("ascii")
    return _EMPTY


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:  # Python refuses to write out more than some thousand digits
        return hex(number)
