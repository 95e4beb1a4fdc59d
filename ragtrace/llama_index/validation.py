"""Validate chunks in a LlamaIndex ingestion pipeline."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, TransformComponent

from ragtrace.boundary.ingest import IngestValidator, Sink


class ValidateChunks(TransformComponent):
    """Pass nodes through unchanged, and write what their boundaries cut as events.

    `events` is a file to append JSON lines to, or a function; the other settings are those of
    `ragtrace.boundary.IngestValidator`.

    >>> from llama_index.core.schema import TextNode
    >>> seen = []
    >>> nodes = [TextNode(text="The lease ends in"), TextNode(text="September.")]
    >>> ValidateChunks(seen.append)(nodes) is nodes
    True
    >>> seen[0]["issue_rate"]
    1.0
    """

    _validator: IngestValidator = PrivateAttr()

    def __init__(self, events: Sink, **settings: Any) -> None:
        super().__init__()
        self._validator = IngestValidator(events, **settings)

    @classmethod
    def class_name(cls) -> str:
        """Name the component, as LlamaIndex does."""
        return "ValidateChunks"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Return the nodes as they came."""
        self._validator.check(nodes)
        return nodes
