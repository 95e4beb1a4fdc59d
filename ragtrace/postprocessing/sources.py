"""Where the text between two hits comes from: documents by id, chunks by document and index."""

from collections.abc import Callable, Mapping

from ragtrace.tracing.hit import Hit

Documents = Mapping[str, str] | Callable[[str], str | None]
"""Texts by document id: a mapping, or a function that returns `None` for an id it does not know."""

ChunkAt = Callable[[str, int], Hit | None]
"""Looks a chunk up by document id and chunk index."""


def default_fill_gap(*sources: object) -> int:
    """Return how many missing chunks to fill where nobody said: 1 with any source, else 0.

    With a gap of one filled, `benchmarks/merge.py` finds one to two more passages in a hundred
    whole than with none, at 4 to 9 % more context, with each of four splitters; a gap of two costs
    as much again and gives less.

    >>> default_fill_gap({"guide": "Hello."}, None), default_fill_gap(None, None)
    (1, 0)
    """
    return int(any(source is not None for source in sources))


def text_of(documents: Documents | None, doc_id: str | None) -> str | None:
    """Return the text of a document, `None` where it is not known."""
    if documents is None or doc_id is None:
        return None
    if isinstance(documents, Mapping):
        return documents.get(doc_id)
    try:
        return documents(doc_id)
    except KeyError:  # what a mapping's own look-up does when passed as a function
        return None
