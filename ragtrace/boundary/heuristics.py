"""Find what is cut without the source document: from the chunk and, where known, its neighbours.

One pass, one chunk of look-ahead, and only the ends of a chunk are searched closely.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from ragtrace.boundary import shapes
from ragtrace.boundary.brackets import KINDS, REACH, first_unopened, left_open, pairs_across
from ragtrace.boundary.cuts import TAIL, Verdict, goes_on, judge_cut, judge_start
from ragtrace.boundary.fences import find_cut_fences
from ragtrace.boundary.issue import Issue, IssueKind, excerpt_around
from ragtrace.boundary.lists import is_list_cut, starts_in_list
from ragtrace.boundary.piece import DEFAULT_DOCUMENT, Piece
from ragtrace.boundary.tables import ends_in_table, starts_in_table

_OVERLAP_PROBE = 40
_FAR = 200  # characters between two chunks from which on they are not neighbours
_STOP = re.compile(r"[.!?。！？][\"'”’)\]]*(?=\s|$)|\n[ \t]*\r?\n")
_DANGLING = re.compile(
    r"(?:This|That|These|Those|The same|It)\s+(?:"
    r"(?:does|do|did|is|are|was|were|can|will|would|must|should|may)(?:\s+not\b|n['’]t\b)"
    r"|cannot\b|also\s+(?:applies|apply|holds|means)\b|(?:applies|apply|holds|hold)\b)"
    r"|(?:As|See|Like|Same as)\s+(?:(?:mentioned|described|noted|explained)\s+)?(?:above|before)\b"
    r"|The\s+(?:former|latter)\b"
)


class Cut:
    """Hold the text on both sides of a cut; what it says is worked out once, for both chunks."""

    def __init__(self, before: str, after: str) -> None:
        self.before = before
        self.after = after
        self.most = 0  # characters that a chunk may have, as far as is known

    @cached_property
    def verdict(self) -> Verdict:
        """Return where in a sentence the cut is."""
        return judge_cut(self.before, self.after)

    @cached_property
    def pairs(self) -> list[tuple[IssueKind, int, int]]:
        """Return the brackets that it separates, innermost first."""
        return pairs_across(_last_block(self.before), _first_block(self.after))


class Surroundings:
    """Hold what is known around a chunk: the cuts at its two ends, `None` where unknown.

    `fence` is the fence that the chunk before left open, `is_last` says that the chunk seems to be
    its document's last, `mended` that decoration makes up for the cut at its end.
    """

    __slots__ = ("end", "fence", "is_last", "mended", "start")

    def __init__(self) -> None:
        self.start: Cut | None = None
        self.end: Cut | None = None
        self.fence = ""
        self.is_last = False
        self.mended = False


def check_alone(
    pieces: Iterable[Piece], characters: int | None
) -> Iterator[tuple[Piece, list[Issue]]]:
    """Check chunks without their documents, in one pass with one chunk of look-ahead.

    `characters` is the budget where it is known in characters; else the two chunks beside a cut
    tell which list could have been left whole.
    """
    held: tuple[Piece, Surroundings] | None = None
    in_order = False
    for piece in pieces:
        around = Surroundings()
        if held is None:
            in_order = _is_first(piece)
        else:
            previous, earlier = held
            joint = join(previous, piece)
            if joint is not None:
                earlier.end, around.start = joint
                for cut in joint:
                    cut.most = characters or max(len(previous.text), len(piece.text))
                if joint[0] is joint[1]:
                    around.fence = shapes.open_fence(previous.content, earlier.fence)
            # A document that was begun at its start and given in order ends with its last chunk.
            earlier.is_last = in_order and previous.doc_id != piece.doc_id
            in_order = (in_order and joint is not None) or _is_first(piece)
            earlier.mended = joint is not None and _is_mended(piece)
            yield previous, list(find_issues(previous, earlier))
        held = piece, around
    if held is not None:
        piece, around = held
        around.is_last = in_order and piece.doc_id != DEFAULT_DOCUMENT
        yield piece, list(find_issues(piece, around))


def join(previous: Piece, following: Piece) -> tuple[Cut, Cut] | None:
    """Return the cut after `previous` and the cut before `following`: one and the same, or two.

    They are two where the chunks overlap, which is known by the offsets or else by the texts.
    `None` where the chunks are not neighbours in one document.
    """
    if previous.doc_id != following.doc_id:
        return None
    indices = (previous.index, following.index)
    if None not in indices and following.index != (previous.index or 0) + 1:
        return None
    first, second = previous.text, following.text
    if previous.end is not None and previous.start is not None and following.start is not None:
        distance = following.start - previous.end
        if distance >= 0 and len(first) == previous.end - previous.start:
            # White space lies between sound chunks, and two of it are most often two line breaks.
            gap = "\n\n" if distance >= 2 else " " * distance
            return _one(first[-REACH:], gap, second) if distance <= _FAR else None
        if following.start <= previous.start:
            return None
    probe = second[:_OVERLAP_PROBE]
    at = first.find(probe) if len(probe) == _OVERLAP_PROBE else -1
    if at > 0 and second.startswith(first[at:]):
        overlap = len(first) - at
        return (
            Cut(first[-REACH:], second[overlap : overlap + REACH]),
            Cut(first[max(0, at - REACH) : at], second[:REACH]),
        )
    # The white space between two stripped chunks is not known: it may have been a line break.
    return _one(first[-REACH:], "" if _touches_space(first, second) else "\n", second)


def find_issues(piece: Piece, around: Surroundings) -> Iterator[Issue]:
    """Yield what is wrong with one chunk."""
    text = piece.text
    if not text.strip():
        yield from find_fragments(piece)
        return
    open_at_start = open_at_end = False
    for fence in find_cut_fences(piece, around.fence):
        open_at_start = open_at_start or fence.at_start
        open_at_end = open_at_end or fence.end == len(text)
        cut = around.start if fence.at_start else around.end
        yield _issue(
            piece,
            "broken-code-fence",
            (fence.start, fence.end),
            fence.message,
            cut=cut,
            at_end=not fence.at_start,
        )
    if not open_at_start and not _is_mended(piece):
        yield from _start_issues(piece, around)
    if not open_at_end and not around.mended:
        yield from _end_issues(piece, around)
    yield from find_fragments(piece)


def find_fragments(piece: Piece) -> Iterator[Issue]:
    """Yield that a chunk says nothing alone: it is empty, or points at text of another chunk."""
    text = piece.text
    if not any(map(str.isalnum, text[:80])) and not any(map(str.isalnum, text)):
        message = "holds no letter and no digit" if text.strip() else "holds only white space"
        yield _issue(piece, "fragment", (0, len(text)), message)
    elif (piece.index or piece.start) and (match := _DANGLING.match(text.lstrip())):
        message = f"starts with “{match[0]}”, which points at text of another chunk"
        yield _issue(piece, "fragment", (0, match.end()), message)


def _start_issues(piece: Piece, around: Surroundings) -> Iterator[Issue]:
    cut = around.start
    if cut is None and _is_first(piece):
        return
    head = piece.text[:REACH]
    lines = head.lstrip("\r\n").split("\n", 2)
    table = starts_in_table(lines, cut.before if cut else None)
    if table:
        yield _issue(piece, "cut-table", (0, len(lines[0])), table, cut=cut)
    if cut is None:
        in_list = starts_in_list(head)
    else:
        is_cut = is_list_cut(cut.before, cut.after, cut.most)
        in_list = "starts inside a list: the items before are in another chunk" if is_cut else ""
    if in_list:
        yield _issue(piece, "cut-list", (0, len(lines[0])), in_list, cut=cut)
    if not table and (cut.verdict if cut else judge_start(head)) == "inside":
        stop = _STOP.search(head)
        size = stop.end() if stop else len(head)
        message = f"starts inside a sentence, {size} characters before its end"
        yield _issue(piece, "no-sentence-start", (0, size), message, cut=cut)
    if cut is not None:
        for kind, _, place in cut.pairs[-1:]:
            message = f"“{kind[-2]}” is opened in the chunk before and closed here"
            yield _issue(piece, kind, (0, place + 1), message, cut=cut)
    elif unopened := first_unopened(_first_block(head)):
        place, opener = unopened
        message = f"closes a bracket that “{opener}” in an earlier chunk opened"
        yield _issue(piece, KINDS[opener], (0, place + 1), message)


def _end_issues(piece: Piece, around: Surroundings) -> Iterator[Issue]:
    cut = around.end
    end = len(piece.text.rstrip())
    tail = piece.text[max(0, end - REACH) : end]
    lines = tail.rsplit("\n", 2)
    heading = "" if around.is_last else _heading_at_end(lines)
    if heading:
        message = f"ends with the heading “{heading}”, without its text"
        span = (end - len(heading), end)
        yield _issue(piece, "orphan-heading", span, message, cut=cut, at_end=True)
        return
    table = ends_in_table(lines, cut.after if cut else None)
    if table:
        span = (end - len(lines[-1]), end)
        yield _issue(piece, "cut-table", span, table, cut=cut, at_end=True)
    if cut is not None and is_list_cut(cut.before, cut.after, cut.most):
        message = "ends inside a list: the items after are in another chunk"
        span = (end - len(lines[-1]), end)
        yield _issue(piece, "cut-list", span, message, cut=cut, at_end=True)
    if not table and _ends_inside(tail, around):
        size = _sentence_begun(tail)
        message = f"ends inside a sentence, {size} characters after its start"
        yield _issue(piece, "no-sentence-end", (end - size, end), message, cut=cut, at_end=True)
    if cut is not None:
        for kind, opened, _ in cut.pairs[:1]:
            message = f"“{kind[-2]}” is opened here and closed in the next chunk"
            span = (max(0, end - opened), end)
            yield _issue(piece, kind, span, message, cut=cut, at_end=True)
    elif not around.is_last:
        block = _last_block(tail)
        for place, opener in left_open(block)[:1]:
            span = (end - len(block) + place, end)
            yield _issue(piece, KINDS[opener], span, f"“{opener}” is left open", at_end=True)


def _ends_inside(tail: str, around: Surroundings) -> bool:
    if around.is_last:
        return goes_on(tail)
    if around.end is not None:
        return around.end.verdict == "inside"
    return judge_cut(tail, None) == "inside"


def _sentence_begun(tail: str) -> int:
    """Return how many characters of its last sentence a text has."""
    begun = max(0, len(tail) - TAIL)
    for stop in _STOP.finditer(tail, begun, len(tail) - 1):
        begun = stop.end()
    return len(tail[begun:].lstrip())


def _heading_at_end(lines: list[str]) -> str:
    line = lines[-1]
    if shapes.HEADING.match(line):
        # A comment in code looks like a heading, but follows code.
        above = lines[-2] if len(lines) > 1 else ""
        return "" if above.strip() and shapes.is_code(above) else line.strip()
    if len(lines) > 1 and shapes.UNDERLINE.fullmatch(line) and lines[-2].strip():
        title = lines[-2].strip()
        blank_above = len(lines) < 3 or not lines[0].rsplit("\n", 1)[-1].strip()
        if line.strip()[0] == "=" or (blank_above and "|" not in title and ":" not in title):
            return title
    return ""


def _is_mended(piece: Piece) -> bool:
    """Tell whether a chunk's decoration repeats a table's header or reopens a fence."""
    if not piece.prefix:
        return False
    if shapes.open_fence(piece.prefix):
        return True
    return any(shapes.DELIMITER_ROW.fullmatch(line) for line in piece.prefix.split("\n"))


def _is_first(piece: Piece) -> bool:
    return piece.start == 0 or (piece.start is None and piece.index == 0)


def _one(before: str, gap: str, after: str) -> tuple[Cut, Cut]:
    cut = Cut(before, gap + after[:REACH])
    return cut, cut


def _touches_space(first: str, second: str) -> bool:
    return first[-1:].isspace() or second[:1].isspace()


def _last_block(text: str) -> str:
    stripped = text.rstrip()
    at = 0
    for match in shapes.BLANK_LINE.finditer(stripped):
        at = match.end()
    return text[at:]


def _first_block(text: str) -> str:
    match = shapes.BLANK_LINE.search(text, len(text) - len(text.lstrip()))
    return text if match is None else text[: match.start()]


def _issue(
    piece: Piece,
    kind: IssueKind,
    span: tuple[int, int],
    message: str,
    *,
    cut: Cut | None = None,
    at_end: bool = False,
) -> Issue:
    start, end = span
    if cut is not None:
        before, after = cut.before[-TAIL:].rstrip(), cut.after.lstrip()
        gap = " " if cut.after[:1].isspace() or cut.before[-1:].isspace() else ""
        excerpt = excerpt_around(before + gap + after, len(before) if at_end else len(before + gap))
    else:
        excerpt = excerpt_around(piece.text, end if at_end else 0)
    return Issue(kind, piece.chunk_id, piece.doc_id, start, end, end - start, message, excerpt)
