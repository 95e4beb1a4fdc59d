"""Validate chunks in a LangChain ingestion."""

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document

from ragtrace.boundary.ingest import IngestValidator, Sink


class ValidateChunks(BaseDocumentTransformer):
    """Pass documents through unchanged, and write what their boundaries cut as events.

    `events` is a file to append JSON lines to, or a function; the other settings are those of
    `ragtrace.boundary.IngestValidator`.

    >>> seen = []
    >>> chunks = [Document("The lease ends in"), Document("September.")]
    >>> ValidateChunks(seen.append).transform_documents(chunks) is chunks
    True
    >>> seen[0]["issue_rate"]
    1.0
    """

    def __init__(self, events: Sink, **settings: Any) -> None:
        self.validator = IngestValidator(events, **settings)

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Return the documents as they came."""
        self.validator.check(documents)
        return documents
