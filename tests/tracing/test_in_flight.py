"""Calls that never end are forgotten in time; what is in progress is known in its context."""

import asyncio
import os
import threading
import warnings

import pytest

from ragtrace.tracing import (
    Call,
    InFlight,
    current_call,
    current_context,
    trace_context,
    tracing_in_progress,
)


def make_call(name: str) -> Call:
    return Call(id=name, ts=0.0, started=0.0, query="q", sampled=True)


def test_only_the_newest_are_kept_and_the_others_counted() -> None:
    calls = InFlight[int](limit=3)
    for number in range(10):
        calls.put(number, number)
    assert len(calls) == 3
    assert calls.evicted == 7
    assert [calls.pop(number) for number in (0, 9, 9)] == [None, 9, None]
    assert calls.get(8) == 8
    assert calls.clear() == [7, 8]
    assert len(calls) == 0


def test_a_call_put_again_is_new_again() -> None:
    calls = InFlight[int](limit=2)
    calls.put("a", 1)
    calls.put("b", 2)
    calls.put("a", 3)
    calls.put("c", 4)
    assert (calls.get("a"), calls.get("b")) == (3, None)


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="limit is 0"):
        InFlight(limit=0)


def test_threads_share_it() -> None:
    calls = InFlight[int](limit=100_000)

    def work(thread: int) -> None:
        for number in range(500):
            calls.put((thread, number), number)
            if number % 2:
                calls.pop((thread, number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 8 * 250
    assert calls.evicted == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_the_lock_is_held_goes_on() -> None:
    calls = InFlight[int]()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with calls._lock:
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of exactly what is tested here
        pid = os.fork()
    if pid == 0:
        calls.put("a", 1)
        os._exit(0 if calls.pop("a") == 1 else 1)
    status = os.waitpid(pid, 0)[1]
    release.set()
    thread.join()
    assert status == 0


def test_the_innermost_call_is_the_current_one() -> None:
    outer, inner = make_call("outer"), make_call("inner")
    with tracing_in_progress(outer):
        with tracing_in_progress(inner):
            assert current_call() is inner
        assert current_call() is outer
        with tracing_in_progress(None):
            assert current_call() is None
    assert current_call() is None


async def test_tasks_do_not_see_each_others_context() -> None:
    async def work(name: str) -> tuple[str | None, str]:
        with trace_context(question_id=name), tracing_in_progress(make_call(name)):
            await asyncio.sleep(0)
            call = current_call()
            assert call is not None
            return current_context().question_id, call.id

    names = [str(number) for number in range(50)]
    assert await asyncio.gather(*map(work, names)) == [(name, name) for name in names]
    assert current_context().question_id is None


def test_a_context_ends_with_an_error_too() -> None:
    with pytest.raises(RuntimeError), trace_context(run="r"):
        raise RuntimeError
    assert current_context().run is None
