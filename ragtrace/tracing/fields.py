"""What the fields of a trace are made of: pure functions from whatever a caller has."""

import sys
from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

from ragtrace.tracing.hit import Hit
from ragtrace.tracing.json_values import clean_text, encoded_length, to_json
from ragtrace.tracing.schema import Stage

MESSAGE_LENGTH = 2000
"""Code points of an exception's message that a trace keeps."""


def stage_of(hits: Iterable[Hit]) -> Stage | None:
    """Return `merged` where a retriever returned hits that were merged inside it."""
    return "merged" if any(len(hit.merged_ids) > 1 for hit in hits) else None


def common_splitter(hits: Iterable[Hit]) -> str | None:
    """Return the splitter fingerprint that all hits carry in their metadata, if it is one."""
    found = {hit.metadata.get("splitter") for hit in hits}
    splitter = found.pop() if len(found) == 1 else None
    return splitter if isinstance(splitter, str) else None


def limit_metadata(metadata: Mapping[str, Any], limit: int) -> dict[str, Any] | None:
    """Return metadata as JSON values, leaving out each entry that would exceed `limit` bytes.

    >>> limit_metadata({"page": 3, "embedding": [0.5] * 1000, "author": "Ada"}, 100)
    {'page': 3, 'author': 'Ada'}
    """
    kept: dict[str, Any] = {}
    size = len("{}")
    for key, value in metadata.items():
        entry = to_json({key: value})
        length = encoded_length(entry) - 1  # the braces, less the comma
        if size + length <= limit + 1:
            kept |= entry
            size += length
    return kept or None


def joined_tags(*groups: Iterable[str]) -> tuple[str, ...]:
    """Join tags in order, each once; a single string is one tag.

    >>> joined_tags("a", ["b", "a"])
    ('a', 'b')
    """
    if not any(groups):
        return ()
    lists = ((group,) if isinstance(group, str) else group for group in groups)
    return tuple(dict.fromkeys(str(tag) for group in lists for tag in group))


def text_of(value: Any) -> str | None:
    """Return the value as a plain text; nothing stays nothing."""
    return value if value is None or type(value) is str else str(value)


def integer_of(value: Any) -> int | None:
    """Return the value as a plain integer, `None` where it is none."""
    try:
        return index(value)
    except TypeError:
        return None


def message_of(error: BaseException) -> str:
    """Return what an error says, however long, in the length that a trace keeps."""
    try:
        return clean_text(str(error)[:MESSAGE_LENGTH])
    except Exception:
        return ""


def active_trace_id() -> str | None:
    """Return the id of OpenTelemetry's current trace, where its API is in use anyway."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    found: int = api.get_current_span().get_span_context().trace_id
    return f"{found:032x}" if found else None
