"""Say where a hit's text stands: title and headings in front of it."""

import re
from collections.abc import Sequence

import msgspec

from ragtrace.chunking.metadata import join_heading_path
from ragtrace.postprocessing.pieces import read_path
from ragtrace.tracing.hit import Hit

DECORATION = frozenset({"content_hash", "prefix_length", "suffix_length"})

_HEADING_MARKS = re.compile(r"^[#\s]+|[#\s]+$")


def add_heading_context(hits: Sequence[Hit], *, title: str | None = None) -> list[Hit]:
    r"""Put title and heading path in front of the text of each hit that lacks them.

    The title is `title`, else the hit's metadata `title`. A heading that the text itself begins
    with is not said twice. The length of what was added stands in the metadata `prefix_length`, so
    that it can be stripped again; offsets go on meaning the text without it.

    >>> hit = Hit(chunk_id="guide#c3", text="It is 30 s.", heading_path=("Guide", "Timeouts"))
    >>> add_heading_context([hit])[0].text
    'Guide > Timeouts\n\nIt is 30 s.'
    """
    return [with_context(hit, title) for hit in hits]


def with_context(hit: Hit, title: str | None) -> Hit:
    """Put what is missing in front of one hit."""
    path = missing_path(hit, title)
    if not path:
        return hit
    prefix = join_heading_path(path) + "\n\n"
    # The text is the slice alone here, whatever the store kept around it.
    metadata = {key: value for key, value in hit.metadata.items() if key not in DECORATION}
    return msgspec.structs.replace(
        hit, text=prefix + hit.text, metadata=metadata | {"prefix_length": len(prefix)}
    )


def missing_path(hit: Hit, title: str | None) -> tuple[str, ...]:
    """Return the title and headings that the text does not itself begin with."""
    path = read_path(hit.heading_path)
    title = title or hit.metadata.get("title")
    if title and title not in path[:1]:
        path = (str(title), *path)
    first_line = hit.text.lstrip().split("\n", 1)[0]
    if first_line == join_heading_path(path):
        return ()
    heading = _HEADING_MARKS.sub("", first_line)
    return path[: path.index(heading)] if heading in path else path
