"""Where the text between two hits comes from: documents by id, chunks by document and index."""

from collections.abc import Callable, Mapping

from ragtrace.tracing.hit import Hit

Documents = Mapping[str, str] | Callable[[str], str | None]
"""Texts by document id: a mapping, or a function that returns `None` for an id it does not know."""

ChunkAt = Callable[[str, int], Hit | None]
"""Looks a chunk up by document id and chunk index."""


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
