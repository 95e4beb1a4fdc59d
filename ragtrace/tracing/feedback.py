"""What people and judges say of hits, in a file of its own: `ragtrace-feedback/1`.

A trace is written once and never changed; feedback comes later and joins on `id`, and on
`chunk_id` or `rank` where it is about one hit.
"""

import os
from typing import Any

import msgspec

from ragtrace.tracing.reader import RecordReader
from ragtrace.tracing.writer import RecordWriter

FEEDBACK_SCHEMA = "ragtrace-feedback/1"


class Feedback(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="schema",
    tag=FEEDBACK_SCHEMA,
):
    """Hold one judgement of a trace, or of the hit that `chunk_id` or `rank` (from 1) names.

    `ts` is in Unix seconds; `name` says what was judged, `score` or `label` how it came out.
    """

    id: str
    ts: float
    name: str
    chunk_id: str | None = None
    rank: int | None = None
    score: float | None = None
    label: str | None = None
    comment: str | None = None
    metadata: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.score is None and self.label is None:
            raise ValueError("feedback says nothing: give a score or a label")


class FeedbackWriter(RecordWriter[Feedback]):
    """Append feedback to a JSONL file, as `TraceWriter` does traces.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/feedback.jsonl"
    >>> with FeedbackWriter(path) as writer:
    ...     writer.write(Feedback(id="0" * 32, ts=0, name="helpful", rank=1, score=1))
    True
    """


class FeedbackReader(RecordReader[Feedback]):
    """Iterate over the feedback in files; see `read_feedback`."""


def read_feedback(path: str | os.PathLike[str], *, strict: bool = False) -> FeedbackReader:
    """Read feedback as `read_traces` reads traces."""
    return FeedbackReader(path, Feedback, strict=strict)
