"""Watch chunks on their way into an index: write events, change nothing, break nothing."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragtrace.boundary.output import to_events
from ragtrace.boundary.report import BoundaryReport
from ragtrace.boundary.validate import validate

_LOG = logging.getLogger("ragtrace")

Sink = Path | str | Callable[[dict[str, Any]], None]


class IngestValidator:
    """Validate batches of chunks and write what is found as events.

    `events` is a file to which JSON lines are appended, or a function that takes each event.
    `sample` issues of a batch are written, all are counted in its summary; `run` tags every event;
    `settings` are `validate`'s. Whatever goes wrong is logged, once for each kind of error.

    >>> seen = []
    >>> report = IngestValidator(seen.append, run="nightly").check(["It ends in the"])
    >>> [event["event"] for event in seen], seen[0]["run"]
    (['boundary.summary', 'boundary.issue'], 'nightly')
    """

    def __init__(
        self,
        events: Sink,
        *,
        sample: int = 50,
        run: str | None = None,
        clock: Callable[[], float] = time.time,
        **settings: Any,
    ) -> None:
        # A wrong setting is the user's to hear of, before anything is ingested.
        validate([], **settings)
        self._events = events
        self._sample = sample
        self._run = run
        self._clock = clock
        self._settings: Mapping[str, Any] = settings
        self._logged: set[str] = set()
        self._lock = threading.Lock()

    def check(self, chunks: Sequence[Any]) -> BoundaryReport | None:
        """Validate one batch and write its events; return the report, `None` where that failed."""
        try:
            report = validate(chunks, **self._settings)
            self._write(report)
        except Exception as error:  # ingestion goes on whatever happens here
            self._log(error)
            return None
        return report

    def _write(self, report: BoundaryReport) -> None:
        now = self._clock()
        events = [
            {"ts": now, **event} for event in to_events(report, sample=self._sample, run=self._run)
        ]
        if callable(self._events):
            for event in events:
                self._events(event)
            return
        lines = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
        # One write of whole lines: processes that append to one file do not tear them.
        with self._lock, Path(self._events).open("ab", buffering=0) as file:
            file.write(lines)

    def _log(self, error: Exception) -> None:
        kind = type(error).__qualname__
        if kind not in self._logged:
            self._logged.add(kind)
            _LOG.warning("chunks were not validated (%s: %s); ingestion goes on", kind, error)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
