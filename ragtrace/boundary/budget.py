"""The budget: what a chunk may measure, in the units of its embedder."""

from collections.abc import Callable, Iterator

from ragtrace.boundary.issue import Issue, excerpt_around
from ragtrace.boundary.piece import Piece

DEFAULT_LENGTH = "cl100k_base"


class Budget:
    """Measure chunks against a size; without a size nothing is over it.

    Raises `ValueError` for a size below 1, or a length without a size.
    """

    def __init__(self, size: int | None, length: str | Callable[[str], int] | None) -> None:
        if size is not None and size < 1:
            raise ValueError(f"chunk_size is {size}: give at least 1")
        if size is None and length is not None:
            raise ValueError("length is given without chunk_size: say what it must not exceed")
        self.size = size
        self.name: str | None = None
        if size is None:
            return
        length = length if length is not None else DEFAULT_LENGTH
        self.name = length if isinstance(length, str) else getattr(length, "__qualname__", "custom")
        self._measure = _length_function(length)

    @property
    def characters(self) -> int | None:
        """Return the size in characters where that is its unit."""
        return self.size if self.name == "characters" else None

    def fits(self, text: str) -> bool:
        """Tell whether a text is within the budget."""
        return self.size is None or self._measure(text) <= self.size

    def find_issues(self, piece: Piece) -> Iterator[Issue]:
        """Yield what is over the budget: all of the chunk that is embedded counts."""
        if self.size is None:
            return
        measured = self._measure(piece.content)
        if measured <= self.size:
            return
        end = len(piece.text)
        yield Issue(
            "over-budget",
            piece.chunk_id,
            piece.doc_id,
            0,
            end,
            measured - self.size,
            f"measures {measured} in {self.name}, {measured - self.size} over {self.size}",
            excerpt_around(piece.text, end),
        )


def _length_function(length: str | Callable[[str], int]) -> Callable[[str], int]:
    # Loaded here: without a budget nothing needs a tokenizer.
    from ragtrace.chunking.lengths import length_function

    return length_function(length)
