"""Every complete record is read, and what was not read is said."""

import gzip
import hashlib
import io
import json
import sys
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.tracing import Skipped, Trace, read_traces
from ragtrace.tracing.files import BLOCK_SIZE
from ragtrace.tracing.json_values import encode_line
from tests.tracing.records import make_trace, make_trace_hit

HOSTILE = [
    "plain",
    'she said "{"schema":"ragtrace/1","id":',
    '{"schema":"ragtrace/1","id":"x"}',
    "line\nbreak\u2028and\x85more\x00",
    "caf\u00e9 \U0001f600",
    "\\",
    "}{",
]


def write(path: Path, *parts: Trace | bytes) -> Path:
    path.write_bytes(
        b"".join(encode_line(part) if isinstance(part, Trace) else part for part in parts)
    )
    return path


def read(path: Path) -> tuple[list[str], list[Skipped]]:
    reader = read_traces(path)
    return [trace.query for trace in reader], list(reader.skipped)


def traces(*queries: str) -> list[Trace]:
    return [make_trace(query=query, hits=(make_trace_hit(snippet=query),)) for query in queries]


def test_an_empty_file_holds_no_traces(tmp_path: Path) -> None:
    assert read(write(tmp_path / "t.jsonl")) == ([], [])


def test_lines_are_split_at_newlines_only(tmp_path: Path) -> None:
    assert read(write(tmp_path / "t.jsonl", *traces(*HOSTILE))) == (HOSTILE, [])


def test_empty_lines_windows_line_ends_and_a_byte_order_mark_are_read_over(tmp_path: Path) -> None:
    line = encode_line(make_trace(query="one"))
    path = write(
        tmp_path / "t.jsonl", b"\xef\xbb\xbf", line, b"\n  \n", line[:-1] + b"\r\n", line[:-1]
    )
    assert read(path) == (["one"] * 3, [])


def test_spaces_and_another_order_of_keys_are_read(tmp_path: Path) -> None:
    values = json.loads(encode_line(make_trace(query="one")))
    spaced = json.dumps(dict(reversed(values.items())), indent=None).encode() + b"\n"
    assert read(write(tmp_path / "t.jsonl", spaced)) == (["one"], [])


def test_a_torn_line_is_one_skip_and_the_record_glued_to_it_is_read(tmp_path: Path) -> None:
    one, two = map(encode_line, traces("one", "two"))
    path = write(tmp_path / "t.jsonl", one, one[:40], two, one[:17], one[:3], two)
    queries, skipped = read(path)
    assert queries == ["one", "two", "two"]
    assert skipped == [
        Skipped(str(path), 2, "not a whole JSON object"),
        Skipped(str(path), 3, "not a whole JSON object"),
    ]


def test_a_record_that_lost_only_its_newline_is_read_like_the_next_one(tmp_path: Path) -> None:
    one, two = map(encode_line, traces("one", "two"))
    assert read(write(tmp_path / "t.jsonl", one[:-1], two, one[:-1])) == (["one", "two", "one"], [])


def test_a_record_nested_in_a_torn_one_is_not_taken_for_a_record(tmp_path: Path) -> None:
    inner = json.loads(encode_line(make_trace(query="inner")))
    outer = encode_line(make_trace(query="outer", metadata={"of": inner, "more": 1}))
    torn = outer[: outer.index(b'"more"')]
    assert read(write(tmp_path / "t.jsonl", torn, encode_line(make_trace(query="one"))))[0] == [
        "one"
    ]


def test_zero_bytes_left_by_a_crash_are_skipped(tmp_path: Path) -> None:
    queries, skipped = read(write(tmp_path / "t.jsonl", b"\0" * 4096, *traces("one")))
    assert queries == ["one"]
    assert len(skipped) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"schema":"ragtrace/2","id":1}', "schema ragtrace/2 is not ragtrace/1"),
        (b'{"schema":"ragtrace-feedback/1","id":"x"}', "not a ragtrace/1 record"),
        (b'{"schema":1}', "not a ragtrace/1 record"),
        (b'{"event":"x"}', "not a ragtrace/1 record"),
        (b"[1, 2]", "not a ragtrace/1 record"),
        (b"hello", "not a whole JSON object"),
        (b"\xff\xfe", "not a whole JSON object"),
        (b'{"schema":"ragtrace/1","id":7}', "not a valid ragtrace/1 record"),
        (b'{"schema":"ragtrace/1"}', "missing required field"),
        (b"[" * 100_000, "not a whole JSON object"),
    ],
)
def test_what_is_no_trace_is_skipped_with_the_reason(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    path = write(tmp_path / "t.jsonl", *traces("one"), line + b"\n", *traces("two"))
    queries, skipped = read(path)
    assert queries == ["one", "two"]
    assert [(item.path, item.line) for item in skipped] == [(str(path), 2)]
    assert reason in skipped[0].reason
    with pytest.raises(ValueError, match=r"t\.jsonl, line 2: ") as raised:
        list(read_traces(path, strict=True))
    assert "\n" not in str(raised.value)


def test_keys_that_a_newer_version_adds_are_kept(tmp_path: Path) -> None:
    values = json.loads(encode_line(traces("one")[0]))
    values["colour"] = {"deep": [1]}
    values["hits"][0]["weight"] = 2
    path = write(tmp_path / "t.jsonl", json.dumps(values).encode() + b"\n")
    reader = read_traces(path)
    (trace,) = reader
    assert trace.extra == {"colour": {"deep": [1]}}
    assert trace.hits[0].extra == {"weight": 2}
    assert trace.hits[0].snippet == "one"
    assert reader.skipped == ()
    assert json.loads(encode_line(trace)) == values


def test_reading_again_starts_anew(tmp_path: Path) -> None:
    reader = read_traces(write(tmp_path / "t.jsonl", *traces("one"), b"torn"))
    for _ in range(2):
        assert [trace.query for trace in reader] == ["one"]
        assert len(reader.skipped) == 1


def test_a_folder_and_a_glob_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", *traces("b"))
    write(tmp_path / "a.jsonl", *traces("a"))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(encode_line(make_trace(query="c"))))
    (tmp_path / "notes.txt").write_text("not a trace")
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "d.jsonl", *traces("d"))
    assert read(tmp_path)[0] == ["a", "b", "c"]
    assert read(tmp_path / "*.jsonl")[0] == ["a", "b"]
    assert read(tmp_path / "**" / "*.jsonl")[0] == ["a", "b", "d"]


def test_line_numbers_count_per_file(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", *traces("a"), b"torn")
    write(tmp_path / "b.jsonl", b"torn\n", *traces("b"))
    assert [(Path(s.path).name, s.line) for s in read(tmp_path)[1]] == [
        ("a.jsonl", 2),
        ("b.jsonl", 1),
    ]


def test_a_file_whose_name_looks_like_a_glob_is_read(tmp_path: Path) -> None:
    assert read(write(tmp_path / "t[1].jsonl", *traces("one")))[0] == ["one"]


@pytest.mark.parametrize("name", ["missing.jsonl", "*.jsonl", ""])
def test_a_path_without_traces_says_so_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"no such file|holds no \.jsonl"):
        read_traces(tmp_path / name)


def test_standard_input_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for raw in (b"".join(map(encode_line, traces("one", "two"))), gzip.compress(b"torn")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        reader = read_traces("-")
        assert [trace.query for trace in reader] == ([] if reader.skipped else ["one", "two"])


def test_compressed_files_of_several_members_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(b"".join(gzip.compress(encode_line(trace)) for trace in traces(*HOSTILE)))
    assert read(path) == (HOSTILE, [])


def test_a_compressed_file_that_ends_early_gives_what_it_holds(tmp_path: Path) -> None:
    # Digests, so that there is something to compress, and the same in every process.
    queries = [f"{n} {hashlib.blake2b(str(n).encode()).hexdigest()}" for n in range(2000)]
    whole = gzip.compress(b"".join(map(encode_line, traces(*queries))))
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    found, skipped = read(path)
    assert found == queries[: len(found)]
    assert len(found) > 500
    assert "ends early" in skipped[-1].reason
    damaged = bytearray(whole)
    damaged[len(whole) // 2 :] = b"\xff" * (len(whole) - len(whole) // 2)
    path.write_bytes(damaged)
    found, skipped = read(path)
    assert found == queries[: len(found)]
    assert "compressed data" in skipped[-1].reason
    # What damaged data unpacks to before the damage shows may already be no line.
    with pytest.raises(ValueError, match=r"compressed data|not a whole JSON object"):
        list(read_traces(path, strict=True))


def test_a_small_compressed_file_that_unpacks_to_much_is_read_in_blocks(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    path = tmp_path / "t.jsonl.gz"
    with path.open("wb") as file:
        for _ in range(64):
            file.write(packer.compress((b" " * 1023 + b"\n") * 1024))
        file.write(packer.compress(encode_line(make_trace(query="one"))) + packer.flush())
    tracemalloc.start()
    try:
        (trace,) = read_traces(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert trace.query == "one"
    assert peak < 32 * BLOCK_SIZE


def test_records_larger_than_a_block_are_read(tmp_path: Path) -> None:
    large = "x" * (3 * BLOCK_SIZE)
    path = write(tmp_path / "t.jsonl", *traces("one"), make_trace(query=large), *traces("two"))
    queries, skipped = read(path)
    assert [len(query) for query in queries] == [3, len(large), 3]
    assert skipped == []


def test_reading_holds_blocks_and_not_files(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = b"".join(map(encode_line, traces(*(str(number) for number in range(1000)))))
    with path.open("wb") as file:
        for _ in range(60):
            file.write(lines)
    assert path.stat().st_size > 10 * BLOCK_SIZE
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_traces(path)) == 60_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * BLOCK_SIZE


QUERY = st.sampled_from(HOSTILE) | st.text()


@given(st.lists(QUERY, min_size=1, max_size=4), st.lists(QUERY, min_size=1, max_size=3), st.data())
def test_cut_anywhere_and_written_on_every_complete_record_is_read(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str], data: Any
) -> None:
    """Cut a file at any byte, as a kill does, and append unhealed, as another process does."""
    lines = [encode_line(trace) for trace in traces(*before)]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    complete, end = [], 0
    for query, line in zip(before, lines, strict=True):
        end += len(line)
        if end - 1 <= cut:  # only the newline may be missing
            complete.append(query)
    path = write(tmp_path_factory.mktemp("cut") / "t.jsonl", whole[:cut], *traces(*after))
    queries, skipped = read(path)
    assert queries == complete + after
    ends = [sum(map(len, lines[:count])) for count in range(len(lines) + 1)]
    torn = cut not in ends and cut + 1 not in ends
    assert len(skipped) == torn


@settings(max_examples=30)
@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = write(folder / "t.jsonl", *traces("one"), raw, b"\n", *traces("two"))
    assert read(path)[0] == ["one", "two"]
    assert read(write(folder / "alone.jsonl", raw))[0] == []
    (folder / "cut.jsonl.gz").write_bytes(b"\x1f\x8b" + raw)
    assert len(read(folder / "cut.jsonl.gz")[1]) >= 1
