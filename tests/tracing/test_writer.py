"""A trace is in the file when `write` returns, whatever happened to the file before."""

import copy
import logging
import os
import pickle
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from ragtrace.tracing import Trace, TraceWriter, read_traces
from tests.tracing.records import make_trace, strict_lines


def queries(path: Path) -> list[str]:
    return [line["query"] for line in strict_lines(path)]


def test_a_trace_is_in_the_file_when_write_returns(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl", strict=True)
    assert writer.write(make_trace(query="one"))
    assert queries(writer.path) == ["one"]
    assert writer.stats.written == 1
    assert writer.stats.dropped == {}


def test_schema_is_the_first_key_and_unknown_values_are_left_out(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.jsonl", strict=True) as writer:
        writer.write(make_trace(top_k=None))
    (line,) = strict_lines(writer.path)
    assert list(line) == ["schema", "id", "ts", "query", "top_k", "hits", "latency_ms"]


def test_nothing_is_made_before_the_first_trace(tmp_path: Path) -> None:
    TraceWriter(tmp_path / "deep" / "t.jsonl").close()
    assert list(tmp_path.iterdir()) == []


def test_missing_folders_are_made_and_files_are_private(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "a" / "b" / "t.jsonl", strict=True) as writer:
        writer.write(make_trace())
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600


def test_permissions_can_be_chosen(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.jsonl", permissions=0o640, strict=True) as writer:
        writer.write(make_trace())
    assert stat.S_IMODE(writer.path.stat().st_mode) & 0o007 == 0
    assert stat.S_IMODE(writer.path.stat().st_mode) & 0o640 == 0o640 & ~_umask()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def test_writing_after_close_opens_the_file_again(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl", strict=True)
    writer.write(make_trace(query="one"))
    writer.close()
    writer.close()
    writer.write(make_trace(query="two"))
    assert queries(writer.path) == ["one", "two"]


@pytest.mark.parametrize("tail", [b'{"schema":"ragtr', '{"query":"caf\u00e9'.encode()[:-1], b"\0"])
def test_a_torn_tail_is_closed_before_the_next_line(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(tail)
    with TraceWriter(path, strict=True) as writer:
        writer.write(make_trace(query="one"))
        writer.write(make_trace(query="two"))
    assert path.read_bytes().startswith(tail + b"\n{")
    reader = read_traces(path)
    assert [trace.query for trace in reader] == ["one", "two"]
    assert [skipped.line for skipped in reader.skipped] == [1]


def test_a_whole_tail_is_left_alone(tmp_path: Path) -> None:
    for query in ("one", "two"):
        with TraceWriter(tmp_path / "t.jsonl", strict=True) as writer:
            writer.write(make_trace(query=query))
    assert writer.path.read_bytes().count(b"\n") == 2


def test_dates_in_the_name_follow_the_clock_in_utc(tmp_path: Path) -> None:
    now = [1_700_000_000.0]  # 2023-11-14 22:13:20 UTC
    writer = TraceWriter(tmp_path / "%Y" / "t-%m-%d.jsonl", clock=lambda: now[0], strict=True)
    writer.write(make_trace(query="one"))
    now[0] += 2 * 3600
    writer.write(make_trace(query="two"))
    assert queries(tmp_path / "2023" / "t-11-14.jsonl") == ["one"]
    assert queries(tmp_path / "2023" / "t-11-15.jsonl") == ["two"]


def test_a_per_cent_sign_that_is_no_date_stays(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "100%.jsonl", strict=True) as writer:
        writer.write(make_trace())
    assert (tmp_path / "100%.jsonl").exists()


def test_a_file_that_was_renamed_or_deleted_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "run" / "t.jsonl"
    writer = TraceWriter(path, strict=True)
    writer.write(make_trace(query="one"))
    path.rename(tmp_path / "old.jsonl")
    writer.write(make_trace(query="two"))
    path.unlink()
    path.parent.rmdir()
    writer.write(make_trace(query="three"))
    assert queries(tmp_path / "old.jsonl") == ["one"]
    assert queries(path) == ["three"]


def test_a_descriptor_that_somebody_else_closed_and_reused_is_not_written_to(
    tmp_path: Path,
) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl", strict=True)
    writer.write(make_trace(query="one"))
    descriptor = writer._file._descriptor
    assert descriptor is not None
    os.close(descriptor)  # as a daemon does with all that it inherited
    other = os.open(tmp_path / "precious", os.O_CREAT | os.O_WRONLY)
    assert other == descriptor
    writer.write(make_trace(query="two"))
    writer.close()
    os.close(other)
    assert (tmp_path / "precious").read_bytes() == b""
    assert queries(writer.path) == ["one", "two"]


def test_copies_share_the_writer(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl")
    assert copy.deepcopy(writer) is writer
    assert copy.copy(writer) is writer


def test_a_pickled_writer_appends_to_the_same_file(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t-%Y.jsonl", strict=True, permissions=0o640)
    writer.write(make_trace(query="one"))
    other = pickle.loads(pickle.dumps(writer))
    assert other.stats.written == 0
    assert other.strict
    other.write(make_trace(query="two"))
    writer.write(make_trace(query="three"))
    (path,) = tmp_path.iterdir()
    assert queries(path) == ["one", "two", "three"]


def test_a_failed_write_is_counted_logged_once_and_not_raised(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    writer = TraceWriter(tmp_path / "file" / "t.jsonl")
    with caplog.at_level(logging.WARNING, "ragtrace"):
        assert [writer.write(make_trace()) for _ in range(3)] == [False] * 3
    assert writer.stats.dropped == {"write": 3}
    assert writer.stats.written == 0
    assert len(caplog.records) == 1
    assert "NotADirectoryError" in caplog.text
    assert "your retrieval was not affected" in caplog.text


def test_strict_raises_what_went_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = TraceWriter(tmp_path / "file" / "t.jsonl", strict=True)
    with pytest.raises(NotADirectoryError):
        writer.write(make_trace())
    assert writer.stats.dropped == {"write": 1}


def test_what_is_not_a_trace_is_refused(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl")
    not_a_trace: Any = {"query": "q"}
    assert not writer.write(not_a_trace)
    assert writer.stats.dropped == {"encode": 1}
    assert not writer.path.exists()


def test_writing_goes_on_when_the_cause_is_gone(tmp_path: Path) -> None:
    blocked = tmp_path / "run"
    blocked.write_text("")
    writer = TraceWriter(blocked / "t.jsonl")
    assert not writer.write(make_trace(query="lost"))
    blocked.unlink()
    assert writer.write(make_trace(query="kept"))
    assert queries(writer.path) == ["kept"]


class TracingHandler(logging.Handler):
    """A log handler that traces, as one that searches for known problems would."""

    def __init__(self, writer: TraceWriter) -> None:
        super().__init__()
        self.writer = writer
        self.calls = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.calls += 1
        self.writer.write(make_trace())


def test_a_log_handler_that_traces_does_not_recurse(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = TraceWriter(tmp_path / "file" / "t.jsonl")
    handler = TracingHandler(writer)
    logger = logging.getLogger("ragtrace")
    logger.addHandler(handler)
    try:
        assert not writer.write(make_trace())
    finally:
        logger.removeHandler(handler)
    assert handler.calls == 1
    assert writer.stats.dropped == {"write": 2}


class BrokenHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError("the log is broken")


class UnprintableError(RuntimeError):
    def __str__(self) -> str:
        raise RuntimeError("no message")


def test_a_broken_log_handler_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = TraceWriter(tmp_path / "file" / "t.jsonl")
    handler = BrokenHandler()
    logger = logging.getLogger("ragtrace")
    logger.addHandler(handler)
    try:
        assert not writer.write(make_trace())
        writer.failures.note("test", UnprintableError())
    finally:
        logger.removeHandler(handler)
    assert writer.stats.dropped == {"write": 1, "test": 1}


def test_a_failure_without_standard_error_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    (tmp_path / "file").write_text("")
    assert not TraceWriter(tmp_path / "file" / "t.jsonl").write(make_trace())


def test_a_writer_that_is_forgotten_closes_its_file(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl", strict=True)
    writer.write(make_trace())
    descriptor = writer._file._descriptor
    assert descriptor is not None
    os.fstat(descriptor)
    del writer
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_thirty_two_threads_share_a_writer(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl", strict=True)

    def work(thread: int) -> None:
        for number in range(50):
            writer.write(make_trace(query=f"{thread}-{number} " + "x" * (number * 40)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    written = [query.split()[0] for query in queries(writer.path)]
    assert sorted(written) == sorted(f"{t}-{n}" for t in range(32) for n in range(50))
    assert writer.stats.written == 1600


def test_closing_while_others_write_loses_nothing(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl", strict=True)
    done = threading.Event()

    def close_often() -> None:
        while not done.is_set():
            writer.close()

    closer = threading.Thread(target=close_often)
    closer.start()
    for number in range(300):
        writer.write(make_trace(query=str(number)))
    done.set()
    closer.join()
    assert queries(writer.path) == [str(number) for number in range(300)]


def test_a_tail_that_may_be_written_but_not_read_is_closed_too(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"torn")
    path.chmod(0o200)
    with TraceWriter(path, strict=True) as writer:
        writer.write(make_trace(query="one"))
    path.chmod(0o600)
    assert [trace.query for trace in read_traces(path)] == ["one"]


def test_the_type_of_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    trace = make_trace(tags=("a",), metadata={"n": 1})
    with TraceWriter(tmp_path / "t.jsonl", strict=True) as writer:
        writer.write(trace)
    (read,) = read_traces(writer.path)
    assert isinstance(read, Trace)
    assert read == trace


def test_a_folder_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder: name a file in it"):
        TraceWriter(tmp_path)
