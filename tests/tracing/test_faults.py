"""Killed, forked, full, limited, crowded: no complete record is lost and no retrieval breaks.

Each fault happens in a process of its own, as it would to a user, and for real.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ragtrace.tracing import TracedRetriever, TraceWriter, read_traces
from tests.tracing.records import make_trace, strict_lines

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs fork and resource limits")

PREAMBLE = """
import os, sys
from ragtrace.tracing import Trace, TraceWriter, read_traces

def make_trace(query, id="0" * 32):
    return Trace(id=id, ts=1.5, query=query, top_k=5, hits=(), latency_ms=2.5)

path = sys.argv[1]
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(code: str, *arguments: object) -> str:
    child = start(code, *arguments)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    return out


def kill_while_writing(path: Path, kills: int, size: int) -> None:
    code = """
        writer = TraceWriter(path, strict=True)
        print("ready", flush=True)
        number = 0
        while True:
            writer.write(make_trace(f"{sys.argv[3]}-{number} " + "x" * int(sys.argv[2])))
            number += 1
    """
    for kill in range(kills):
        child = start(code, path, size, kill)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.01 + kill / 500)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    reader = read_traces(path)
    numbers: dict[str, list[int]] = {}
    for trace in reader:
        life, number = trace.query.split()[0].split("-")
        numbers.setdefault(life, []).append(int(number))
    assert len(numbers) == kills
    for found in numbers.values():
        assert found == list(range(len(found)))
    assert len(reader.skipped) <= kills
    with TraceWriter(path, strict=True) as writer:
        writer.write(make_trace(query="after"))
    *_, last = read_traces(path)
    assert last.query == "after"


@POSIX
def test_a_killed_process_loses_at_most_the_record_it_was_writing(tmp_path: Path) -> None:
    kill_while_writing(tmp_path / "t.jsonl", kills=4, size=100_000)


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("size", [3_000, 300_000])
def test_forty_killed_processes_lose_at_most_one_record_each(tmp_path: Path, size: int) -> None:
    kill_while_writing(tmp_path / "t.jsonl", kills=40, size=size)


@LINUX
def test_a_full_disk_drops_traces_and_nothing_else() -> None:
    results = [{"id": "a#c0", "text": "Hello"}]
    retriever = TracedRetriever(lambda query, top_k: results, "/dev/full")
    assert retriever.retrieve("q") is results
    assert retriever.tracer.writer.stats.dropped == {"write": 1}
    with pytest.raises(OSError, match="No space left"):
        TraceWriter("/dev/full", strict=True).write(make_trace())


@POSIX
def test_a_file_size_limit_tears_one_line_and_the_next_ones_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    run(
        """
        import resource
        writer = TraceWriter(path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.RLIM_INFINITY))
        written = 0
        while writer.write(make_trace(f"before {written}")):
            written += 1
        assert not writer.write(make_trace("lost too"))
        assert writer.stats.dropped == {"write": 2}, writer.stats
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert writer.write(make_trace("after"))
        reader = read_traces(path)
        queries = [trace.query for trace in reader]
        assert queries == [f"before {n}" for n in range(written)] + ["after"], queries
        assert written > 5
        assert len(reader.skipped) == 1, reader.skipped
        """,
        path,
    )
    assert b'\n{"schema"' in path.read_bytes()


@POSIX
def test_a_fork_while_a_thread_writes_neither_hangs_nor_repeats(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    run(
        """
        import threading, warnings
        warnings.simplefilter("ignore")  # newer Pythons warn of exactly what is tested here
        writer = TraceWriter(path, strict=True)
        stop = threading.Event()

        def work(thread):
            number = 0
            while not stop.is_set():
                writer.write(make_trace(f"p{thread}-{number} " + "x" * 20_000))
                number += 1

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for fork in range(20):
            pid = os.fork()
            if pid == 0:
                try:
                    for number in range(5):
                        assert writer.write(make_trace(f"c{fork}-{number}"))
                    os._exit(0)
                except BaseException:
                    os._exit(1)
            assert os.waitpid(pid, 0)[1] == 0
        stop.set()
        for thread in threads:
            thread.join()
        """,
        path,
    )
    found = [line["query"].split()[0] for line in strict_lines(path)]
    assert len(found) == len(set(found))
    assert [name for name in found if name.startswith("c")] == [
        f"c{fork}-{number}" for fork in range(20) for number in range(5)
    ]


@POSIX
def test_a_child_forked_while_the_lock_is_held_writes_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    run(
        """
        import threading, warnings
        warnings.simplefilter("ignore")
        writer = TraceWriter(path, strict=True)
        held, release = threading.Event(), threading.Event()

        def hold():
            with writer._file._lock, writer._count._lock, writer.failures._lock:
                held.set()
                release.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        pid = os.fork()
        if pid == 0:
            os._exit(0 if writer.write(make_trace("child")) else 1)
        assert os.waitpid(pid, 0)[1] == 0
        release.set()
        thread.join()
        writer.write(make_trace("parent"))
        """,
        path,
    )
    assert [line["query"] for line in strict_lines(path)] == ["child", "parent"]


def test_a_finaliser_or_signal_handler_may_trace_while_a_trace_is_written(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t.jsonl", strict=True)
    # What either of them would meet: the locks of this very thread, held.
    with writer._file._lock, writer._count._lock:
        assert writer.write(make_trace(query="inside"))
    assert [line["query"] for line in strict_lines(writer.path)] == ["inside"]


def test_six_processes_write_one_file_without_losing_or_tearing_a_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    code = """
        writer = TraceWriter(path, strict=True)
        for number in range(200):
            size = 300_000 if number % 50 == 0 else number * 30
            writer.write(make_trace(f"{sys.argv[2]}-{number} " + "x" * size))
    """
    children = [start(code, path, child) for child in range(6)]
    for child in children:
        _, err = child.communicate(timeout=60)
        assert child.returncode == 0, err
    found = [line["query"].split()[0] for line in strict_lines(path)]
    assert len(found) == 1200
    assert set(found) == {f"{child}-{number}" for child in range(6) for number in range(200)}


@POSIX
def test_a_folder_that_may_not_be_written_drops_traces(tmp_path: Path) -> None:
    run(
        """
        import tempfile
        folder = tempfile.mkdtemp()
        os.chmod(folder, 0o555)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)  # root may write everywhere: be nobody
        writer = TraceWriter(os.path.join(folder, "t.jsonl"))
        assert not writer.write(make_trace("q"))
        assert writer.stats.dropped == {"write": 1}
        if root:
            os.seteuid(0)
        assert os.listdir(folder) == []
        os.rmdir(folder)
        """,
        tmp_path,
    )


def test_a_folder_that_disappears_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "run" / "t.jsonl"
    results = ["Hello"]
    retriever = TracedRetriever(lambda query, top_k: results, path, strict=True)
    retriever.retrieve("one")
    path.unlink()
    path.parent.rmdir()
    assert retriever.retrieve("two") is results
    assert [trace.query for trace in read_traces(path)] == ["two"]


def test_tracing_starts_no_thread_and_leaves_nothing_for_the_exit(tmp_path: Path) -> None:
    out = run(
        """
        import atexit, threading
        from ragtrace.tracing import TracedRetriever
        before = atexit._ncallbacks()
        retriever = TracedRetriever(lambda query, top_k: ["Hello"], path, strict=True)
        for number in range(50):
            retriever.retrieve("q")
        print(threading.active_count(), atexit._ncallbacks() - before)
        """,
        tmp_path / "t.jsonl",
    )
    assert out.split() == ["1", "0"]
    assert len(strict_lines(tmp_path / "t.jsonl")) == 50


def test_reading_and_writing_traces_loads_little(tmp_path: Path) -> None:
    out = run(
        """
        from ragtrace.tracing import Hit, Tracer
        tracer = Tracer(path, strict=True)
        tracer.finish(tracer.start("q"), lambda: [Hit(chunk_id="a")])
        assert len(list(read_traces(path))) == 1
        heavy = ("numpy", "tiktoken", "asyncio.events", "langchain_core", "llama_index", "rich")
        print([name for name in heavy if name in sys.modules])
        """,
        tmp_path / "t.jsonl",
    )
    assert out.strip() == "[]"


def test_every_public_name_is_there() -> None:
    run("""
        import ragtrace.tracing as tracing
        for name in tracing.__all__:
            assert getattr(tracing, name) is not None
        assert not hasattr(tracing, "no_such_name")
        """, "unused")  # fmt: skip
