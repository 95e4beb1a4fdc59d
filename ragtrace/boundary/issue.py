"""The finding: what is wrong with a chunk's boundary, where, and by how many characters."""

from typing import Literal, get_args

import msgspec

IssueKind = Literal[
    "no-sentence-start",
    "no-sentence-end",
    "unbalanced-()",
    "unbalanced-[]",
    "unbalanced-{}",
    "broken-code-fence",
    "cut-table",
    "cut-list",
    "orphan-heading",
    "over-budget",
    "gap",
    "wrong-offset",
    "duplicate",
    "fragment",
]

KINDS: tuple[IssueKind, ...] = get_args(IssueKind)

STRUCTURAL: tuple[IssueKind, ...] = KINDS[: KINDS.index("duplicate")]
"""The kinds that count towards the issue rate: something was cut, lost or misplaced."""

_CONTEXT = 60  # characters shown on each side of a cut


class Issue(msgspec.Struct, frozen=True):
    """Hold one finding.

    `start` and `end` are what was cut (the sentence, block or list), lost (a gap) or misplaced, in
    code points of the document where that is known, else of the chunk; `exact` says which. `size`
    is how many characters are on the wrong side of the cut, over the budget (in its units), or in
    the gap. `excerpt` is the text around the cut, which is marked `‖`.
    """

    kind: IssueKind
    chunk_id: str
    doc_id: str
    start: int
    end: int
    size: int
    message: str
    excerpt: str = ""
    exact: bool = False


def excerpt_around(text: str, cut: int) -> str:
    r"""Show the text on both sides of a cut in one line.

    >>> excerpt_around("One sentence\nthat is cut.", 17)
    'One sentence that‖ is cut.'
    """
    before = text[max(0, cut - _CONTEXT) : cut]
    after = text[cut : cut + _CONTEXT]
    return f"{before}‖{after}".replace("\r", "").replace("\n", " ")
