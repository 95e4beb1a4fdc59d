"""Calls that have begun and not ended, for handlers that hear of both in separate events."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from ragtrace.tracing.failures import ForkLock

Value = TypeVar("Value")


class InFlight(Generic[Value]):
    """Keep one value per running call, the newest `limit` of them.

    A call that is cancelled may never get an end event in either framework; without a bound each
    would be kept for ever. `evicted` counts those that were given up.

    >>> calls = InFlight(limit=1)
    >>> calls.put("a", 1); calls.put("b", 2)
    >>> calls.pop("a"), calls.pop("b"), calls.evicted
    (None, 2, 1)
    """

    def __init__(self, limit: int = 10_000) -> None:
        if limit < 1:
            raise ValueError(f"limit is {limit}: give at least 1")
        self.limit = limit
        self.evicted = 0
        self._values: dict[Hashable, Value] = {}
        self._lock = ForkLock()

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value until its `pop`, or until too many newer ones came."""
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = value
            if len(self._values) > self.limit:
                del self._values[next(iter(self._values))]
                self.evicted += 1

    def get(self, key: Hashable) -> Value | None:
        """Return a value and keep it."""
        return self._values.get(key)

    def pop(self, key: Hashable) -> Value | None:
        """Return a value, if it is still there, and forget it."""
        with self._lock:
            return self._values.pop(key, None)

    def clear(self) -> list[Value]:
        """Forget all values and return them, oldest first."""
        with self._lock:
            values = list(self._values.values())
            self._values.clear()
            return values

    def __len__(self) -> int:
        return len(self._values)
