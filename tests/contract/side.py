"""What one framework must be able to do for the contract; each side says it in its own words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Stored:
    """A text in a store: a LangChain Document, a LlamaIndex Node."""

    content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    score: float | None = None


class Side(Protocol):
    name: str

    def make_splitter(self, name: str, **settings: Any) -> Any:
        """Build `sentence-aligned`, `heading-path` or `definition`, measuring in characters."""

    def split(self, splitter: Any, documents: Sequence[tuple[str, str]]) -> list[Stored]:
        """Split (id, text) pairs as a user would, in one call."""

    def make_retriever(
        self, stored: Sequence[Stored], top_k: int, error: BaseException | None = None
    ) -> Any:
        """Build a retriever that answers any query with the best `top_k`, or raises `error`."""

    def trace(
        self, retriever: Any, queries: Sequence[str], path: Path, **options: Any
    ) -> list[Any]:
        """Ask through a `TracedRetriever`; return what came back for each query."""

    async def atrace(
        self, retriever: Any, queries: Sequence[str], path: Path, **options: Any
    ) -> list[Any]:
        """Do the same through the async method."""

    def observe(self, retriever: Any, queries: Sequence[str], path: Path) -> list[Any]:
        """Ask the bare retriever inside `trace_retrieval(path)`."""

    def trace_merged(
        self, retriever: Any, queries: Sequence[str], path: Path, **settings: Any
    ) -> list[Any]:
        """Ask through a `TracedRetriever` with merging behind it."""

    def observe_merged(
        self, retriever: Any, queries: Sequence[str], path: Path, **settings: Any
    ) -> list[Any]:
        """Ask the bare retriever with merging behind it, inside `trace_retrieval(path)`."""

    def answers(self, result: Any) -> list[Stored]:
        """Read what a retriever returned."""

    def merge(self, stored: Sequence[Stored], **settings: Any) -> list[Stored]:
        """Pass hits, best first, through the adapter of `merge_adjacent`."""

    def validate(self, stored: Sequence[Stored], events: Any, **settings: Any) -> list[Stored]:
        """Pass chunks through `ValidateChunks`."""

    def drop_near_duplicates(self, stored: Sequence[Stored], **settings: Any) -> list[Stored]:
        """Pass hits, best first, through the adapter of `drop_near_duplicates`."""
