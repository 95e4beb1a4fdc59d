"""Whatever a store keeps beside a chunk, a trace line is strict JSON."""

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from pathlib import PurePosixPath
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.tracing.json_values import (
    MAX_VALUES,
    clean_text,
    encode_line,
    encoded_length,
    to_json,
    to_number,
)
from tests.tracing.records import make_trace, make_trace_hit, refuse_constant


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    __slots__ = ()


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


@dataclasses.dataclass
class Point:
    x: int
    y: Any


ZONE = datetime.timezone(datetime.timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.25), 0.25),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array([0.5, float("nan")]), [0.5, None]),
        (np.str_("x"), "x"),
        (np.datetime64("2023-11-05"), "2023-11-05"),
        (float("nan"), None),
        (float("-inf"), None),
        (2**63 - 1, 2**63 - 1),
        (2**63, "9223372036854775808"),
        (-(2**70), "-1180591620717411303424"),
        (10**5000, hex(10**5000)),
        (True, True),
        (Level.HIGH, 3),
        (Colour.RED, "red"),
        (Name("n"), "n"),
        (datetime.datetime(2023, 11, 5, 9, 30, tzinfo=ZONE), "2023-11-05T09:30:00+02:00"),
        (datetime.date(2023, 11, 5), "2023-11-05"),
        (datetime.time(9, 30), "09:30:00"),
        (datetime.timedelta(days=1), "1 day, 0:00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("1.50"), "1.50"),
        (PurePosixPath("/a/b"), "/a/b"),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({3, 1}), [1, 3]),
        ((1, "a"), [1, "a"]),
        (b"caf\xc3\xa9", "café"),
        (b"\xff\x00", "/wA="),
        (bytearray(b"x"), "x"),
        ({1: "a", None: "b", (1, 2): "c"}, {"1": "a", "None": "b", "(1, 2)": "c"}),
        ("\ud83d\ude00 \ud800", "😀 \ufffd"),
        ({"\ud800": "\udfff"}, {"\ufffd": "\ufffd"}),
        (Point(1, {2}), {"x": 1, "y": [2]}),
        (make_trace_hit().__class__, "<class 'ragtrace.tracing.schema.TraceHit'>"),
        (Broken(), "<Broken>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_of_value_has_a_form(value: Any, expected: Any) -> None:
    assert to_json(value) == expected
    assert type(to_json(value)) is type(expected)


def test_a_value_that_refers_to_itself_ends() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert to_json(loop) == [1, "..."]
    deep: Any = 0
    for _ in range(5000):
        deep = [deep]
    assert "..." in json.dumps(to_json(deep))


def test_shared_parts_do_not_multiply_without_end() -> None:
    value: Any = ["x"] * 10
    for _ in range(20):
        value = [value] * 10
    assert encoded_length(to_json(value)) < 20 * MAX_VALUES


def test_the_value_itself_is_not_touched() -> None:
    value = {"a": {1}, "b": np.array([1.0])}
    to_json(value)
    assert value["a"] == {1}
    assert isinstance(value["b"], np.ndarray)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=12,
)


@given(ANYTHING)
def test_any_value_becomes_strict_json_and_stays_as_it_is_then(value: Any) -> None:
    converted = to_json(value)
    text = json.dumps(converted, allow_nan=False)
    assert json.loads(text) == converted
    assert to_json(converted) == converted


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_encoded(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text


@given(ANYTHING, st.text(st.characters(exclude_categories=())))
def test_any_record_is_one_line_of_strict_json(value: Any, text: str) -> None:
    record = make_trace(
        query=text, hits=(make_trace_hit(snippet=text, metadata={"k": value}),), tags=(text,)
    )
    line = encode_line(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    read = json.loads(line.decode("utf-8"), parse_constant=refuse_constant)
    assert read["query"] == clean_text(text)
    assert next(iter(read)) == "schema"


def test_a_ten_megabyte_text_is_one_line() -> None:
    text = "a\u2028\n" * 3_500_000
    assert json.loads(encode_line(make_trace(query=text)))["query"] == text


def test_keys_of_a_newer_version_are_written_back_where_they_were() -> None:
    record = make_trace(
        hits=(make_trace_hit(extra={"colour": "red", "rank": 9}),), extra={"weight": {1}}
    )
    read = json.loads(encode_line(record))
    assert read["weight"] == [1]
    assert read["hits"][0]["colour"] == "red"
    assert read["hits"][0]["rank"] == 1  # what this version knows is not overwritten
    assert "extra" not in read


def test_a_score_is_a_finite_number_or_nothing() -> None:
    given = [np.float32(0.5), "0.25", 3, None, "high", float("nan"), np.inf, 10**400, object()]
    assert [to_number(value) for value in given] == [0.5, 0.25, 3.0, *[None] * 6]
    assert type(to_number(np.float64(0.5))) is float


def test_the_fast_way_and_the_careful_way_write_the_same_line() -> None:
    record = make_trace(hits=(make_trace_hit(heading_path=("A", "B")),), tags=("x",))
    odd = msgspec.structs.replace(record, tags=("x", "\ud800"))
    assert encode_line(odd) == encode_line(record).replace(b'["x"]', '["x","\ufffd"]'.encode())
