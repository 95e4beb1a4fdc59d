"""What fits a chunk, and how much of what does not: the only place that counts."""

from collections.abc import Sequence

from ragtrace.chunking.chunk import Kind
from ragtrace.chunking.decoration import Decorator, common_path
from ragtrace.chunking.dividing import cut_before
from ragtrace.chunking.entries import Entry, Path, Piece, paths_of
from ragtrace.chunking.graphemes import grapheme_end
from ragtrace.chunking.lengths import Ruler


class Fitter:
    """Tell whether entries fit a chunk together, with what is put around it.

    Estimates decide where they are sure, exact counts where they are not. Where an estimate turns
    out wrong, `distrust` has everything counted from then on.
    """

    def __init__(self, text: str, ruler: Ruler, decorator: Decorator, budget: int) -> None:
        self.ruler = ruler
        self.budget = budget
        self.slack = ruler.slack
        self._text = text
        self._decorator = decorator
        self._question: tuple[int, int, str, str] = (0, 0, "", "")
        self._answer = 0

    def distrust(self) -> None:
        """Count everything exactly from now on."""
        self.slack = float("inf")

    def fits(self, held: Sequence[Entry], entry: Entry) -> bool:
        """Say whether an entry fits behind those held."""
        first = held[0] if held else entry
        prefix = suffix = ""
        extra = 0
        if self._decorator.always or first.block.prefix or entry.block.suffix:
            prefix, suffix, extra = self._decoration(held, entry)
        estimate = entry.high - first.low + extra
        if estimate <= self.budget - self.slack:
            return True
        if estimate > self.budget + self.slack:
            return False
        start, end = first.block.start, entry.block.end
        return self.measure(start, end, prefix, suffix) <= self.budget

    def measure(self, start: int, end: int, prefix: str, suffix: str) -> int:
        """Return an exact length; what is asked twice in a row is counted once."""
        question = (start, end, prefix, suffix)
        if question != self._question:
            self._answer = self.ruler.measure(*question)
            self._question = question
        return self._answer

    def _decoration(self, held: Sequence[Entry], entry: Entry) -> tuple[str, str, int]:
        first = held[0] if held else entry
        path: Path = ()
        if self._decorator.shows_path:
            path = common_path(paths_of([*held, entry]))
        return self._decorator.decorate(path, first.block.prefix, entry.block.suffix)

    def decoration_length(self, prefix: str, suffix: str) -> int:
        """Return how much of the budget the prefix and suffix of a part take."""
        return self._decorator.decorate((), prefix, suffix)[2]

    def cut(self, held: Sequence[Entry], entry: Entry, *, may_tear: bool) -> int | None:
        """Return where to cut a sentence or line so that its first part fits behind those held.

        Returns `None` where nothing of it fits, or only by tearing a word that need not be torn.
        With nothing held, one character is always taken.
        """
        block = entry.block
        first = held[0] if held else entry
        start = first.block.start
        prefix, suffix, extra = self._decoration(held, entry)
        limit = min(block.end, self.ruler.place(first.low + self.budget - extra))
        cut = cut_before(self._text, block.start, limit) if limit > block.start else block.start
        while cut > block.start:
            end = start + len(self._text[start:cut].rstrip())
            length = self.measure(start, end, prefix, suffix)
            if length <= self.budget:
                break
            excess = (cut - start) * (length - self.budget) // length
            limit = max(block.start, cut - max(1, excess))
            cut = cut_before(self._text, block.start, limit)
        if held:
            torn = cut <= block.start or (not may_tear and self._tears_word(cut))
            return None if torn else cut
        if cut <= block.start:
            cut = grapheme_end(self._text, block.start, block.end)
            if self.measure(block.start, cut, prefix, suffix) > self.budget:
                cut = block.start + 1
        return cut

    def _tears_word(self, at: int) -> bool:
        return self._text[at - 1].isalnum() and self._text[at : at + 1].isalnum()

    def piece(self, held: Sequence[Entry]) -> Piece:
        """Return what entries become together."""
        first, last = held[0].block, held[-1].block
        paths = tuple(paths_of(held))
        path = common_path(paths)
        prefix = suffix = ""
        if self._decorator.always or first.prefix or last.suffix:
            prefix, suffix, _ = self._decorator.decorate(path, first.prefix, last.suffix)
        length = self.measure(first.start, last.end, prefix, suffix)
        kinds = {entry.block.kind for entry in held if not entry.block.level}
        kind: Kind = kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "prose"
        return Piece(first.start, last.end, prefix, suffix, length, kind, path, paths)
