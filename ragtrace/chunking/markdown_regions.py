"""Markdown that CommonMark does not know: `$$` mathematics, `:::` and `///` containers.

Their text was read as ordinary blocks; here what belongs to one region becomes one block.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from ragtrace.chunking.markdown_parts import end_of_line, plain_lines
from ragtrace.chunking.outline import Block, strip_span

_MATH = re.compile(r"(?m)^[ ]{0,3}\$\$")
_FENCE = re.compile(r"(?m)^[ ]{0,3}(?P<mark>:{3,}|/{3,})[ \t]*(?P<info>[^\r\n]*)")


def gather_regions(text: str, blocks: list[Block]) -> list[Block]:
    """Return the blocks, with those of each region gathered in one."""
    regions: list[Block] = []
    if "$$" in text:
        regions += _math(text, blocks)
    if ":::" in text or "///" in text:
        regions += _containers(text, blocks)
    if not regions:
        return blocks
    return list(_gather(text, blocks, sorted(regions, key=lambda region: region.start)))


def _math(text: str, blocks: list[Block]) -> Iterator[Block]:
    verbatim = _Spans([block for block in blocks if block.kind in ("fence", "html")])
    at = 0
    while opening := _MATH.search(text, at):
        closing = text.find("$$", opening.end())
        if closing < 0:
            return
        at = closing + 2
        if verbatim.holds(opening.start()):
            at = opening.end()
        elif not verbatim.holds(closing):
            end = end_of_line(text, at)
            parts = partial(plain_lines, text, "prose", opening.start(), end)
            yield Block(opening.start(), end, whole=True, parts=parts)
            at = end


def _containers(text: str, blocks: list[Block]) -> Iterator[Block]:
    verbatim = _Spans([block for block in blocks if block.kind in ("fence", "html", "code")])
    headings = _Spans([block for block in blocks if block.level])
    opened: list[tuple[int, str]] = []
    for line in _FENCE.finditer(text):
        if verbatim.holds(line.start()):
            continue
        mark = line["mark"][0]
        if line["info"].strip():
            opened.append((line.start(), mark))
        elif opened and opened[-1][1] == mark:
            start, _ = opened.pop()
            # A heading inside opens a section, which reaches beyond the container.
            if not opened and not headings.between(start, line.end()):
                yield Block(start, line.end(), whole=True)


def _gather(text: str, blocks: list[Block], regions: list[Block]) -> Iterator[Block]:
    waiting = iter(regions)
    region = next(waiting, None)
    inside: list[Block] = []
    end = 0
    for block in blocks:
        rest: Block | None = block
        while rest is not None:
            if region is not None and region.start < end:
                region = next(waiting, None)  # overlaps the one before
                continue
            if region is None or rest.end <= region.start:
                yield rest
                break
            before, within, rest = _cut(text, rest, region)
            if before is not None:
                yield before
            if within is not None:
                inside.append(within)
            if rest is not None or block.end == region.end:
                yield _filled(region, inside)
                inside, end = [], region.end
                region = next(waiting, None)
    if inside and region is not None:
        yield _filled(region, inside)


def _cut(text: str, block: Block, region: Block) -> tuple[Block | None, Block | None, Block | None]:
    """Return what of a block is before, in and after a region."""
    if region.start <= block.start and block.end <= region.end:
        return None, block, None
    before = _part(text, block, block.start, min(region.start, block.end))
    within = _part(text, block, max(block.start, region.start), min(block.end, region.end))
    after = _part(text, block, max(block.start, region.end), block.end)
    return before and replace(before, leads=True), within, after


def _part(text: str, block: Block, start: int, end: int) -> Block | None:
    """Return a part of a block as a block, if it holds any text."""
    start, end = strip_span(text, start, max(start, end))
    return replace(block, start=start, end=end, leads=False, parts=None) if start < end else None


def _filled(region: Block, inside: list[Block]) -> Block:
    """Let a container be cut between its blocks; the first line of it leads to the next."""
    if region.parts is not None or len(inside) < 2:
        return region
    return replace(region, parts=[replace(inside[0], leads=True), *inside[1:]].copy)


class _Spans:
    """Hold blocks in order, to ask which places are in one of them."""

    def __init__(self, blocks: list[Block]) -> None:
        self._starts = [block.start for block in blocks]
        self._ends = [block.end for block in blocks]

    def holds(self, at: int) -> bool:
        index = bisect_right(self._starts, at) - 1
        return index >= 0 and at < self._ends[index]

    def between(self, start: int, end: int) -> bool:
        index = bisect_right(self._starts, start)
        return index < len(self._starts) and self._starts[index] < end
