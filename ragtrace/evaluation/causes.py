"""The causes that a miss may have, and the one repair that each suggests."""

from collections.abc import Callable
from typing import Literal

import msgspec

FaultKind = Literal[
    "cut-sentence",
    "cut-table",
    "cut-fence",
    "cut-list",
    "cut-passage",
    "giant-chunk",
    "fragment",
    "near-duplicates",
    "stale-version",
    "beyond-embedder",
    "not-indexed",
    "context-overflow",
    "ranked-low",
    "stale-label",
    "healthy",
]

Repair = Literal[
    "merge-adjacent",
    "expand-neighbours",
    "sentence-aligned-splitter",
    "heading-path-splitter",
    "smaller-chunks",
    "larger-chunks",
    "drop-near-duplicates",
    "remove-stale-chunks",
    "index-document",
    "larger-k",
    "smaller-k",
    "other-embedder-or-wording",
    "look-at-the-prompt",
    "mark-the-label-again",
]

EXCERPT = 80
"""Code points that evidence shows on each side of a place."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Say how much the embedder reads of a chunk and how much room the prompt has for hits.

    Each limit is in the units of its length function; without a limit the fault is not looked for.
    """

    embedder: int | None = None
    embedder_length: Callable[[str], int] = len
    context: int | None = None
    context_length: Callable[[str], int] = len


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one cause: its evidence (chunk ids, a text, figures) and the one repair to try first."""

    kind: FaultKind
    repair: Repair
    message: str
    chunk_ids: tuple[str, ...] = ()
    text: str = ""
    figures: dict[str, float] = msgspec.field(default_factory=dict)


def known(**figures: float | None) -> dict[str, float]:
    """Return the figures that are known."""
    return {name: value for name, value in figures.items() if value is not None}


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    text = " ".join(text.split())
    return text if len(text) <= 2 * EXCERPT else text[: 2 * EXCERPT - 1] + "…"
