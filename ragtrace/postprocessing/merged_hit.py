"""The merged hit: neighbouring chunks that were retrieved together, as one text."""

from ragtrace.tracing.hit import Hit


class MergedHit(Hit, frozen=True, kw_only=True):
    """Hold one or more neighbouring chunks as one hit.

    `merged_ids`, `merged_scores`, `merged_indices` and `merged_spans` run in parallel, in document
    order; a hit that had no neighbour holds itself alone and keeps its id. `filled_ids` names
    those that were not retrieved but taken from the source to close a gap. `verbatim` says whether
    `text` is exactly the document's text from `start` to `end`; where white space between two
    chunks had to be made up it is not. `contradictions` counts other hits that one sign calls a
    neighbour and another rules out. `chunk_length` is the longest member's, in code points.
    """

    merged_scores: tuple[float | None, ...] = ()
    merged_indices: tuple[int | None, ...] = ()
    merged_spans: tuple[tuple[int, int] | None, ...] = ()
    filled_ids: tuple[str, ...] = ()
    verbatim: bool = True
    contradictions: int = 0
    chunk_length: int = 0
