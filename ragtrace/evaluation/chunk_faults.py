"""Name what is wrong with the chunk that holds a labelled passage."""

from collections.abc import Sequence

from ragtrace.chunking import Chunk
from ragtrace.evaluation.causes import EXCERPT, Fault, Limits, excerpt
from ragtrace.evaluation.eval_set import GoldSpan

GIANT = 3.0
"""A chunk this many times the middle length is a giant."""

FRAGMENT = 0.25
"""A chunk under this share of the middle length is a fragment, if it is little but the label."""


def find_in_chunks(
    label: GoldSpan, chunks: Sequence[Chunk], usual: float, limits: Limits
) -> Fault | None:
    """Return what is wrong with all chunks that hold a label; one healthy chunk is enough.

    `usual` is the middle length of the index's chunks, in code points.
    """
    fault = None
    for chunk in chunks:
        fault = (
            _beyond_embedder(label, chunk, limits)
            or _giant(label, chunk, usual)
            or _fragment(label, chunk, usual)
        )
        if fault is None:
            return None
    return fault


def _beyond_embedder(label: GoldSpan, chunk: Chunk, limits: Limits) -> Fault | None:
    if limits.embedder is None or label.start is None or label.end is None:
        return None
    length = limits.embedder_length(chunk.content)
    if length <= limits.embedder:
        return None
    read = _read_of(chunk.content, limits)
    start = len(chunk.prefix) + max(label.start, chunk.start) - chunk.start
    end = len(chunk.prefix) + min(label.end, chunk.end) - chunk.start
    if end <= read or (read - start) * 2 > end - start:
        return None
    return Fault(
        kind="beyond-embedder",
        repair="smaller-chunks",
        message=(
            f"the embedder reads {limits.embedder} of the {length} of {chunk.chunk_id}, up to "
            f"character {read}; the passage is at {start}-{end}"
        ),
        chunk_ids=(chunk.chunk_id,),
        text=excerpt(chunk.content[max(0, read - EXCERPT) : read]),
        figures={
            "limit": limits.embedder,
            "length": length,
            "read": read,
            "start": start,
            "end": end,
        },
    )


def _read_of(content: str, limits: Limits) -> int:
    """Return how many characters of a text the embedder reads."""
    assert limits.embedder is not None
    low, high = 0, len(content)
    while low < high:
        middle = (low + high + 1) // 2
        if limits.embedder_length(content[:middle]) <= limits.embedder:
            low = middle
        else:
            high = middle - 1
    return low


def _giant(label: GoldSpan, chunk: Chunk, usual: float) -> Fault | None:
    length = len(chunk.text)
    if not usual or length <= GIANT * usual or _share(label, chunk) > 0.5:
        return None
    return Fault(
        kind="giant-chunk",
        repair="smaller-chunks",
        message=(
            f"{chunk.chunk_id} has {length} characters, {length / usual:.1f} times the usual "
            f"{usual:.0f}: the passage drowns in it"
        ),
        chunk_ids=(chunk.chunk_id,),
        text=excerpt(chunk.text),
        figures={"length": length, "usual": usual},
    )


def _fragment(label: GoldSpan, chunk: Chunk, usual: float) -> Fault | None:
    length = len(chunk.content)
    if length >= FRAGMENT * usual or _share(label, chunk) < 0.5:
        return None
    return Fault(
        kind="fragment",
        repair="larger-chunks",
        message=(
            f"{chunk.chunk_id} has {length} characters, the usual chunk {usual:.0f}: nothing "
            "around the passage says what it is about"
        ),
        chunk_ids=(chunk.chunk_id,),
        text=excerpt(chunk.content),
        figures={"length": length, "usual": usual},
    )


def _share(label: GoldSpan, chunk: Chunk) -> float:
    """Return how much of a chunk its label is."""
    if label.start is None or label.end is None or not chunk.text:
        return 1.0
    return (min(label.end, chunk.end) - max(label.start, chunk.start)) / len(chunk.text)
