"""The packer: fills chunks with blocks, and cuts only where it must."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from ragtrace.chunking.decoration import Decorator
from ragtrace.chunking.dividing import divide
from ragtrace.chunking.entries import Entry, Path, Piece
from ragtrace.chunking.fitting import Fitter
from ragtrace.chunking.lengths import Ruler
from ragtrace.chunking.outline import Block, next_word
from ragtrace.chunking.sentences import Segmenter

_BATCH = 512
# Shares of the budget. Room that is worth cutting a paragraph for: much, as what begins a paragraph
# is found better at the start of a chunk; little where full chunks are asked for. Room to cut a
# sentence too long for any chunk; how full a chunk must be to end before a heading that it could
# hold; how much of a paragraph goes along uncut with the list or code it leads to.
_PARAGRAPH_ROOM = 0.35
_PARAGRAPH_ROOM_MERGED = 0.06
_SENTENCE_ROOM = 0.25
_FULL_ENOUGH = 0.9
_SMALL_LEAD = 0.15


class PackSettings(msgspec.Struct, frozen=True):
    """Hold what the packer is asked for, in units; of the two overlaps at most one is set."""

    budget: int
    keep_oversize: bool = False
    separate: bool = True
    overlap_sentences: int = 0
    overlap_units: int = 0


class Packer:
    """Pack the blocks of one text into pieces, in one pass.

    What does not fit is divided, and its parts take its place. A packer is used once.
    """

    def __init__(
        self,
        text: str,
        ruler: Ruler,
        settings: PackSettings,
        segmenter: Segmenter,
        decorator: Decorator,
    ) -> None:
        self._text = text
        self._ruler = ruler
        self._settings = settings
        self._segmenter = segmenter
        self._fitter = Fitter(text, ruler, decorator, settings.budget)
        self._budget = settings.budget
        self._room = _PARAGRAPH_ROOM if settings.separate else _PARAGRAPH_ROOM_MERGED
        self._pending: list[Iterator[Entry]] = []
        self._current: list[Entry] = []
        self._repeated = 0  # leading entries of the current piece that the last one holds too

    def pack(self, blocks: Iterable[Block]) -> Iterator[Piece]:
        """Yield the pieces."""
        self._pending.append(self._enter(iter(blocks), (), top=True))
        separate = self._settings.separate
        while (entry := self._next()) is not None or len(self._current) > self._repeated:
            current = self._current
            if entry is None:
                yield from self._close(None)
            elif not current:
                if self._fitter.fits(current, entry) or self._stays_whole(entry):
                    current.append(entry)
                else:
                    self._shorten(entry)
            elif entry.opens and separate and not current[-1].opens:
                yield from self._close(entry)
            elif self._fitter.fits(current, entry):
                current.append(entry)
            else:
                yield from self._overflow(entry)

    def _next(self) -> Entry | None:
        pending = self._pending
        while pending:
            entry = next(pending[-1], None)
            if entry is not None:
                return entry
            pending.pop()
        return None

    def _enter(
        self,
        blocks: Iterator[Block],
        path: Path,
        *,
        top: bool = False,
        last: bool = False,
        runs: bool = False,
    ) -> Iterator[Entry]:
        """Yield blocks as entries, below the headings above them."""
        headings: list[tuple[int, str]] = []
        here = path
        while batch := list(islice(blocks, _BATCH)):
            lows = self._ruler.before([block.start for block in batch])
            highs = self._ruler.before([block.end for block in batch])
            index = 0
            while index < len(batch):
                block, low = batch[index], lows[index]
                if block.level:
                    while headings and headings[-1][0] >= block.level:
                        headings.pop()
                    headings.append((block.level, block.title))
                    here = (*path, *(title for _, title in headings))
                within = (*here, block.title) if block.title and not block.level else here
                run = index + 1
                if runs and (last or block.prefix):
                    run = self._run(batch, low, highs, index)
                    if run > index + 1:
                        block = replace(block, end=batch[run - 1].end, whole=False, parts=None)
                is_run = run > index + 1
                yield Entry(
                    block,
                    low,
                    highs[run - 1],
                    within,
                    opens=top and block.level > 0,
                    last=last and not is_run,
                    run=is_run,
                )
                index = run

    def _run(self, batch: Sequence[Block], low: float, highs: Sequence[float], index: int) -> int:
        """Return up to where sentences or lines fit for certain, to take them all at once."""
        block = batch[index]
        limit = self._budget - self._fitter.slack + (self._current[0].low if self._current else low)
        limit -= self._fitter.decoration_length(block.prefix, block.suffix)
        run = bisect_right(highs, limit, index)
        for other in range(index, run):
            part = batch[other]
            alike = (part.kind, part.prefix, part.suffix) == (
                block.kind,
                block.prefix,
                block.suffix,
            )
            if part.leads or part.parts or not alike:
                return max(index + 1, other)
        return max(index + 1, run)

    def _push(self, *entries: Entry) -> None:
        self._pending.append(iter(entries))

    def _stays_whole(self, entry: Entry) -> bool:
        """Say whether an entry over the budget is kept: a sentence or block, but never a list."""
        whole = entry.last or (entry.block.whole and entry.block.kind != "list")
        return self._settings.keep_oversize and whole

    def _leads_only(self) -> bool:
        """Say whether all that is new in the current piece belongs to what comes next."""
        return all(held.block.leads or held.block.level for held in self._current[self._repeated :])

    def _overflow(self, entry: Entry) -> Iterator[Piece]:
        """Make room for an entry that does not fit behind the current ones, or divide it."""
        used = entry.low - self._current[0].low
        room = 1 - used / self._budget
        alone = self._fitter.fits((), entry)
        if alone or self._stays_whole(entry):
            divides = not (entry.last or entry.block.whole) and alone
            if divides and (room > self._room or self._leads_only()):
                self._divide(entry)
                return
        elif not entry.last:
            self._divide(entry)
            return
        elif self._may_chop(entry, room) and self._chop(entry):
            return
        if len(self._current) > self._repeated:
            yield from self._close(entry)
        else:
            self._current.pop(0)
            self._repeated -= 1
            self._push(entry)

    def _may_chop(self, entry: Entry, room: float) -> bool:
        # What was just cut at its best place is not cut again for the rest of the room.
        again = entry.torn and self._current[-1].torn
        return not again and (room > _SENTENCE_ROOM or self._leads_only())

    def _divide(self, entry: Entry) -> None:
        parts, last = divide(self._text, entry.block, self._segmenter)
        self._pending.append(self._enter(parts, entry.path, last=last, runs=not entry.run))

    def _shorten(self, entry: Entry) -> None:
        """Divide an entry that is longer than a chunk, or cut a piece off it."""
        if not entry.last:
            self._divide(entry)
        else:
            self._chop(entry)

    def _chop(self, entry: Entry) -> bool:
        """Move as much of a sentence or line as fits to the current entries, if any does."""
        block = entry.block
        cut = self._fitter.cut(self._current, entry, may_tear=self._leads_only())
        if cut is None:
            return False
        rest = next_word(self._text, cut, block.end)
        low, high = self._ruler.before([rest, cut])
        if rest < block.end:
            self._push(replace(entry, block=replace(block, start=rest), low=low, torn=True))
        text = self._text[block.start : cut].rstrip()
        if text:  # else it is indentation, which goes
            head = replace(block, end=block.start + len(text), leads=False)
            self._current.append(replace(entry, block=head, high=high, torn=True))
        return True

    def _close(self, following: Entry | None) -> Iterator[Piece]:
        """Yield the current piece, less what belongs to what follows, and begin the next."""
        keep = len(self._current) if following is None else self._last_cut(following)
        current = self._current
        piece = self._fitter.piece(current[:keep])
        while piece.length > self._budget and keep > self._repeated + 1:
            keep -= 1
            piece = self._fitter.piece(current[:keep])
        if piece.length > self._budget and not self._may_exceed(current[:keep]):
            # No estimate can be trusted here: from now on everything is counted.
            self._fitter.distrust()
            current, keep = current[self._repeated :], 0
        else:
            yield piece
        if following is not None:
            self._push(following)
        self._push(*current[keep:])
        following = current[keep] if keep < len(current) else following
        self._current = self._overlap(current[:keep], following) if following and keep else []
        self._repeated = len(self._current)

    def _may_exceed(self, held: Sequence[Entry]) -> bool:
        """Say whether a piece may be over the budget: kept whole, or one character."""
        if len(held) != 1:
            return False
        block = held[0].block
        return self._stays_whole(held[0]) or (held[0].last and block.end - block.start == 1)

    def _last_cut(self, following: Entry) -> int:
        """Return how many of the current entries to keep in this piece."""
        if following.opens and self._settings.separate:
            return len(self._current)
        keep = self._keep_leads(following)
        if not self._settings.separate:
            full = self._current[0].low + self._budget * _FULL_ENOUGH
            for index in range(keep - 1, self._repeated, -1):
                if self._current[index].low < full:
                    break
                if self._current[index].opens and not self._current[index - 1].opens:
                    return index
        return keep

    def _keep_leads(self, following: Entry) -> int:
        """Return where the entries begin that belong to what follows, if they fit before it."""
        first = self._first_lead(following)
        current = self._current
        end = len(current)
        if first == self._repeated:
            # All of them lead: of headings as few as possible are left behind.
            cuts = [index for index in range(first + 1, end) if current[index].block.level]
            return next((cut for cut in cuts if self._fitter.fits(current[cut:], following)), end)
        divides = not self._fitter.fits((), following)
        for index in range(first, end):
            behind_heading = index > first and current[index - 1].block.level
            if not behind_heading and (divides or self._fitter.fits(current[index:], following)):
                return index
        while end > first and current[end - 1].block.level:
            end -= 1
        return end

    def _first_lead(self, following: Entry) -> int:
        """Return the index of the first of the entries that lead, one to the next, to a block.

        Of a long paragraph only the last sentence leads, so it is divided.
        """
        current = self._current
        index = len(current)
        while index > self._repeated:
            entry = current[index - 1]
            block = entry.block
            if not block.level and not (block.leads and not following.block.level):
                break
            long = entry.high - entry.low > self._budget * _SMALL_LEAD
            if block.leads and long and not (entry.last or block.whole or block.parts):
                sentences = self._sentences(entry)
                current[index - 1 : index] = sentences
                index += len(sentences) - 1
                entry = current[index - 1]
            following = entry
            index -= 1
        return index

    def _sentences(self, entry: Entry) -> list[Entry]:
        parts, last = divide(self._text, entry.block, self._segmenter)
        return list(self._enter(parts, entry.path, last=last))

    def _overlap(self, held: Sequence[Entry], following: Entry) -> list[Entry]:
        """Return the last sentences of a piece, for the next one to begin with."""
        settings = self._settings
        wanted = settings.overlap_sentences or settings.overlap_units
        if not wanted or following.block.level:
            return []
        chosen: list[Entry] = []
        end = held[-1].block.end
        for sentence in self._last_sentences(held):
            start = sentence.block.start
            if start <= held[0].block.start:
                break
            if settings.overlap_units:
                if self._fitter.measure(start, end, "", "") > settings.overlap_units:
                    break
            elif len(chosen) == settings.overlap_sentences:
                break
            chosen.append(sentence)
        return chosen[::-1]

    def _last_sentences(self, held: Sequence[Entry]) -> Iterator[Entry]:
        """Yield the sentences at the end of a piece, the last one first."""
        for entry in reversed(held):
            block = entry.block
            if block.kind != "prose" or block.level or block.parts or block.prefix or entry.torn:
                return
            yield from [entry] if entry.last else reversed(self._sentences(entry))
