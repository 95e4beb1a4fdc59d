"""Windows of sentences: so many in every chunk, the next one beginning a few sentences later."""

from collections.abc import Iterable, Iterator

from ragtrace.chunking.entries import Entry, Piece
from ragtrace.chunking.outline import Block
from ragtrace.chunking.packing import Packer


class WindowPacker(Packer):
    """Make windows of sentences; a table, fence or list that fits counts as one, and is in one.

    A window that is over the budget is shorter, and the next one begins where it ended at the
    latest. With separate sections no window crosses a heading, and a heading counts for nothing.
    """

    def pack_windows(self, blocks: Iterable[Block], window: int, step: int) -> Iterator[Piece]:
        """Yield the windows."""
        self._fitter.distrust()  # a sentence is never given back, so each is counted
        self._pending.append(self._enter(iter(blocks), (), top=True))
        section: list[Entry] = []
        for entry in self._sentence_by_sentence():
            if entry.opens and self._settings.separate and not all(e.opens for e in section):
                yield from self._windows(section, window, step)
                section = []
            section.append(entry)
        yield from self._windows(section, window, step)

    def _sentence_by_sentence(self) -> Iterator[Entry]:
        while (entry := self._next()) is not None:
            if not (entry.last or entry.block.whole or entry.block.level):
                self._divide(entry)
            elif self._fitter.fits((), entry) or self._stays_whole(entry):
                yield entry
            else:
                self._shorten(entry)
                yield from self._current
                self._current.clear()

    def _windows(self, section: list[Entry], window: int, step: int) -> Iterator[Piece]:
        start = reached = 0
        while reached < len(section):
            end = _after(section, start, window)
            while end > start + 1 and section[end - 1].block.level and end < len(section):
                end -= 1
            piece = self._fitter.piece(section[start:end])
            while piece.length > self._budget and end > start + 1:
                end -= 1
                piece = self._fitter.piece(section[start:end])
            # A window that the budget cut short may hold nothing that the last one did not.
            if end > reached:
                yield piece
                reached = end
            following = min(_after(section, start, step), end)
            for index in range(following, end):
                if section[index].block.kind != "prose" or section[index].block.level:
                    following = index + 1
            start = following


def _after(section: list[Entry], start: int, count: int) -> int:
    """Return the index after so many sentences; headings are passed but not counted."""
    index = start
    while index < len(section) and count:
        count -= not section[index].block.level
        index += 1
    return index
