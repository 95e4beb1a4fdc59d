"""What went wrong while tracing: counted, said once per kind, and never raised into a retrieval."""

import contextlib
import logging
import os
import threading
from types import TracebackType

_LOGGER = logging.getLogger("ragtrace")


def warn(message: str, *values: object) -> None:
    """Log a warning on the `ragtrace` logger, whose handlers may fail in turn."""
    with contextlib.suppress(Exception):
        _LOGGER.warning(message, *values)


class ForkLock:
    """Be a re-entrant lock that a forked child never inherits held.

    Another thread may hold the lock at the moment of a fork; in the child nobody would release
    it. Locks are therefore kept by process id. Re-entrant, since a signal handler or a finaliser
    may come to trace while the same thread is inside.
    """

    def __init__(self) -> None:
        self._locks: dict[int, threading.RLock] = {}

    def __enter__(self) -> None:
        pid = os.getpid()
        lock = self._locks.get(pid)
        if lock is None:
            lock = self._locks.setdefault(pid, threading.RLock())  # atomic: all threads get one
        lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._locks[os.getpid()].release()

    def __reduce__(self) -> tuple[type["ForkLock"], tuple[()]]:
        return ForkLock, ()


class Failures:
    """Count failures by kind and log the first of each kind on the `ragtrace` logger."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._logged: set[tuple[str, type[BaseException | None]]] = set()
        self._lock = ForkLock()

    @property
    def counts(self) -> dict[str, int]:
        """Return how often each kind happened."""
        with self._lock:
            return dict(self._counts)

    def note(self, kind: str, error: BaseException | None = None) -> None:
        """Count one failure; with an error that is the first of its kind and class, log it."""
        with self._lock:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            key = (kind, type(error))
            if error is None or key in self._logged:
                return
            # Marked before logging: a log handler that traces, and fails, ends here.
            self._logged.add(key)
        warn(
            "tracing failed (%s: %s: %s); your retrieval was not affected. "
            "Further failures of this kind are only counted.",
            kind,
            type(error).__name__,
            _message(error),
        )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "no message"
