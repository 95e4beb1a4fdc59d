"""Check chunks against their document: which sentence, list, table or fence a cut goes through."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ragtrace.boundary import shapes
from ragtrace.boundary.blocks import Block, find_blocks, find_path
from ragtrace.boundary.brackets import REACH, pairs_across
from ragtrace.boundary.budget import Budget
from ragtrace.boundary.cuts import judge_cut
from ragtrace.boundary.heuristics import find_fragments
from ragtrace.boundary.issue import Issue, IssueKind, excerpt_around
from ragtrace.boundary.piece import Piece
from ragtrace.boundary.placing import Place, find_gaps, place_chunks
from ragtrace.chunking.outline import strip_span
from ragtrace.chunking.sentences import RuleSegmenter

_TEXT = re.compile(r"\S")

Segmenter = Callable[[str], list[tuple[int, int]]]


class CheckedDocument(NamedTuple):
    """Hold the chunks of a document with what is wrong, and how many were found by their text."""

    pieces: list[tuple[Piece, list[Issue]]]
    located: int


class Damage(NamedTuple):
    """What a cut goes through: the kinds it is at a chunk's end and start, and the span."""

    at_end: IssueKind
    at_start: IssueKind
    start: int
    end: int
    name: str
    repair: str = ""  # the decoration that makes up for it
    too_long: bool = False  # no chunk would hold it whole


def check_document(
    doc_id: str,
    document: str,
    pieces: Sequence[Piece],
    *,
    markup: Any,
    segmenter: Segmenter | None,
    budget: Budget,
) -> CheckedDocument:
    """Check the chunks of one document exactly."""
    places = place_chunks(document, pieces)
    gaps: dict[str, list[Issue]] = {}
    for gap in find_gaps(document, doc_id, places):
        gaps.setdefault(gap.chunk_id, []).append(gap)
    structure = Structure(document, find_blocks(document, markup), segmenter)
    most = max(len(piece.text) for piece in pieces)

    def fits(start: int, end: int) -> bool:
        if budget.size is None:
            return end - start <= most
        return budget.fits(document[start:end])

    checked: list[tuple[Piece, list[Issue]]] = []
    for place in places:
        issues = [] if place.issue is None else [place.issue]
        if place.span is not None:
            issues += _check_place(place, place.span, structure, fits)
        issues += find_fragments(place.piece)
        issues += gaps.pop(place.piece.chunk_id, [])
        checked.append((place.piece, issues))
    return CheckedDocument(checked, sum(place.located for place in places))


class Structure:
    """Hold the blocks of a document; sentences are found where a cut is, and nowhere else."""

    def __init__(
        self, document: str, blocks: list[Block], segmenter: Segmenter | None = None
    ) -> None:
        self.text = document
        self.blocks = blocks
        self._segmenter = segmenter or RuleSegmenter()
        self._sentences: dict[int, list[tuple[int, int]]] = {}
        self._damage: dict[int, list[Damage]] = {}

    def damage_at(self, cut: int, fits: Callable[[int, int], bool]) -> list[Damage]:
        """Return what a cut goes through, outermost first; it is where the later chunk starts."""
        found = self._damage.get(cut)
        if found is None:
            found = self._damage[cut] = list(self._find_damage(cut, fits))
        return found

    def heading_before(self, cut: int) -> Block | None:
        """Return the heading that is the last block before a cut."""
        blocks = self.blocks
        last: Block | None = None
        while True:
            at = bisect_right(blocks, cut - 1, key=lambda block: block.start) - 1
            if at < 0:
                return None
            last = blocks[at]
            if last.kind == "heading":
                return last if last.end <= cut else None
            if not last.children or last.children[0].start >= cut:
                return None
            blocks = last.children

    def _find_damage(self, cut: int, fits: Callable[[int, int], bool]) -> Iterator[Damage]:
        path = find_path(self.blocks, cut)
        listed = False
        for block in path:
            span = block.start, block.end
            if block.kind == "fence":
                kind: IssueKind = "broken-code-fence"
                yield Damage(kind, kind, *span, "code block", "fence", not fits(*span))
                return
            if block.kind == "lines":
                too_long = not fits(*span)
                kind = "broken-code-fence"
                yield Damage(kind, kind, *span, "code block", "lines" if too_long else "", too_long)
                return
            if block.kind == "table":
                yield Damage("cut-table", "cut-table", *span, "table", "header", not fits(*span))
                return
            if block.kind in ("list", "item") and not listed and fits(*span):
                listed = True
                name = "list" if block.kind == "list" else "list item"
                yield Damage("cut-list", "cut-list", *span, name)
        if path and path[-1].kind != "html":
            yield from self._find_in_text(path[-1], cut)

    def _find_in_text(self, block: Block, cut: int) -> Iterator[Damage]:
        start, end = _text_around(block, cut)
        if not start < cut < end:
            return
        sentences = () if block.kind == "code" else self._cut_sentence(start, end, cut)
        for sentence in sentences:
            yield Damage("no-sentence-end", "no-sentence-start", *sentence, "sentence")
        before = self.text[max(start, cut - REACH) : cut]
        after = self.text[cut : min(end, cut + REACH)]
        for kind, opened, closed in pairs_across(before, after)[-1:]:
            yield Damage(kind, kind, cut - opened, cut + closed + 1, "pair of brackets")

    def _cut_sentence(self, start: int, end: int, cut: int) -> Iterator[tuple[int, int]]:
        sentences = self._sentences.get(start)
        if sentences is None:
            found = self._segmenter(self.text[start:end])
            sentences = [(start + first, start + last) for first, last in found]
            self._sentences[start] = sentences
        at = bisect_right(sentences, (cut, -1)) - 1
        if at < 0:
            return
        first, last = sentences[at]
        if not (self.text[first:cut].strip() and self.text[cut:last].strip()):
            return
        # A segmenter errs too: where the text itself looks like an end, it is believed.
        before, after = self.text[max(0, cut - REACH) : cut], self.text[cut : cut + REACH]
        if judge_cut(before, after, in_paragraph=True) != "end":
            yield first, last


def _check_place(
    place: Place,
    span: tuple[int, int],
    structure: Structure,
    fits: Callable[[int, int], bool],
) -> Iterator[Issue]:
    piece, text = place.piece, structure.text
    start, end = strip_span(text, *span)
    if start >= end:
        return
    for damage in structure.damage_at(start, fits):
        if not _is_repaired(damage, piece, text, start, at_end=False):
            yield _issue(piece, text, damage, start, at_end=False)
    ahead = _TEXT.search(text, end)
    if ahead is None:
        return
    following = ahead.start()
    heading = structure.heading_before(end + 1)
    if heading is not None and heading.end >= end:
        title = text[heading.start : heading.end].strip()
        message = f"ends with the heading “{title}”, without its text"
        yield Issue(
            "orphan-heading",
            piece.chunk_id,
            piece.doc_id,
            heading.start,
            heading.end,
            heading.end - heading.start,
            message,
            excerpt_around(text, end),
            exact=True,
        )
    for damage in structure.damage_at(following, fits):
        if not _is_repaired(damage, piece, text, end, at_end=True):
            yield _issue(piece, text, damage, end, at_end=True)


def _is_repaired(damage: Damage, piece: Piece, text: str, cut: int, *, at_end: bool) -> bool:
    """Tell whether a table or fence cut between two lines can be read in this chunk."""
    if not damage.repair:
        return False
    if at_end:
        stop = text.find("\n", cut)
        between = text[cut : stop if stop >= 0 else len(text)]
    else:
        between = text[text.rfind("\n", 0, cut) + 1 : cut]
    if between.strip(" \t>\r"):
        return False
    if damage.repair == "lines":
        return True  # indented code is code on its own
    if damage.repair == "fence":
        side = piece.suffix if at_end else piece.prefix
        return "```" in side or "~~~" in side
    if at_end:
        return damage.too_long
    return any(shapes.DELIMITER_ROW.fullmatch(line) for line in piece.prefix.split("\n"))


def _issue(piece: Piece, text: str, damage: Damage, cut: int, *, at_end: bool) -> Issue:
    before = len(text[damage.start : cut].strip())
    after = len(text[cut : damage.end].strip())
    side = "ends" if at_end else "starts"
    note = ", which no chunk would hold whole" if damage.too_long else ""
    return Issue(
        damage.at_end if at_end else damage.at_start,
        piece.chunk_id,
        piece.doc_id,
        damage.start,
        damage.end,
        after if at_end else before,
        f"{side} inside a {damage.name}{note}: {before} characters before the cut, {after} after",
        excerpt_around(text, cut),
        exact=True,
    )


def _text_around(block: Block, cut: int) -> tuple[int, int]:
    """Return the block's own text around a cut: what lies between the blocks that it holds."""
    at = bisect_left(block.children, cut, key=lambda child: child.start)
    start = block.children[at - 1].end if at else block.start
    end = block.children[at].start if at < len(block.children) else block.end
    return start, end
