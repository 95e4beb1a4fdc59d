"""Name the fault of the index behind a verdict, with its evidence and one repair."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.evaluation.eval_set import GoldSpan
from ragtrace.evaluation.hits import Retrieved, Sources, as_hits
from ragtrace.evaluation.spans import tolerance
from ragtrace.evaluation.structure import Blocks, Structure, worst_cut
from ragtrace.evaluation.verdicts import Finding
from ragtrace.evaluation.versions import says_the_same
from ragtrace.postprocessing.near_duplicates import drop_near_duplicates

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

GIANT = 3.0
"""A chunk this many times the middle length is a giant."""

FRAGMENT = 0.25
"""A chunk under this share of the middle length is a fragment, if it is little but the label."""

CROWDED = 0.6
"""Share of the first k hits that must repeat others before they are blamed for a passage that
the trace does not reach."""

_EXCERPT = 80

_CUTS: dict[Structure, FaultKind] = {
    "sentence": "cut-sentence",
    "table": "cut-table",
    "fence": "cut-fence",
    "list": "cut-list",
    "passage": "cut-passage",
}
_SPLITTERS: dict[Structure, Repair] = {
    "sentence": "sentence-aligned-splitter",
    "table": "heading-path-splitter",
    "fence": "heading-path-splitter",
    "list": "heading-path-splitter",
    "passage": "expand-neighbours",
}


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


class FaultFinder:
    """Find the cause behind each verdict of one run.

    What can be shown by taking the fault away (old versions, near-duplicates) is asked first, then
    what the index did to the passage, then its chunk; only a healthy chunk is "ranked low".
    """

    def __init__(self, sources: Sources, *, k: int, limits: Limits | None = None) -> None:
        self.sources = sources
        self.k = k
        self.limits = limits or Limits()
        self._blocks = lru_cache(maxsize=64)(self._read_blocks)

    def find(self, label: GoldSpan, finding: Finding, hits: Sequence[Retrieved]) -> Fault:
        """Return the cause; one that is `healthy` or `ranked-low` says that the index is fine."""
        if finding.verdict == "stale-label":
            return _stale_label(label)
        for ask in (self._old_version, self._unindexed, self._overflow, self._healthy):
            fault = ask(label, finding, hits)
            if fault is not None:
                return fault
        crowded = self._crowded(finding, hits)
        if crowded is not None and finding.rank is not None:
            return crowded
        fault = self._cut(label, finding) or self._chunk(label, finding)
        # That the passage would have come next is only likely where its rank is not known.
        return fault or crowded or self._low(finding)

    def _old_version(
        self, label: GoldSpan, finding: Finding, hits: Sequence[Retrieved]
    ) -> Fault | None:
        top = hits[: self.k]
        reached = finding.rank if finding.verdict == "whole" and finding.rank else self.k + 1
        text = self._passage(label, finding)
        today = [chunk.text for chunk in self._chunks(finding)]

        def is_version(hit: Retrieved) -> bool:
            # A trace may have kept only the beginning of the old text, so ask both ways.
            return says_the_same(text, hit.text) or any(
                says_the_same(hit.text, chunk) for chunk in today
            )

        old = [
            hit
            for hit in top
            if hit.outdated is not None
            and hit.position < reached
            and (hit.doc_id == self._document(label, finding) or is_version(hit))
        ]
        if not old:
            return None
        same = [hit for hit in old if is_version(hit)]
        if not same and not self._would_fit(finding, len(old)):
            return None
        first = (same or old)[0]
        return Fault(
            kind="stale-version",
            repair="remove-stale-chunks",
            message=(
                f"an old version is at rank {first.position}, before today's passage: "
                f"{first.outdated}"
            ),
            chunk_ids=tuple(hit.chunk_id for hit in old),
            text=_excerpt(first.text),
            figures=_known(rank=first.position, current_rank=finding.rank, old=len(old)),
        )

    def _would_fit(self, finding: Finding, freed: int) -> bool:
        return finding.rank is not None and 0 < finding.rank - self.k <= freed

    def _unindexed(
        self, label: GoldSpan, finding: Finding, hits: Sequence[Retrieved]
    ) -> Fault | None:
        if finding.verdict != "not-indexed":
            return None
        doc_id = self._document(label, finding)
        lookup = self.sources.lookup
        if doc_id is not None and lookup is not None and doc_id in lookup:
            message = f"no chunk of {doc_id!r} holds this passage: the splitter dropped it"
        else:
            message = f"the index has no chunk of {doc_id or 'the labelled document'!r}"
        return Fault(
            kind="not-indexed",
            repair="index-document",
            message=message,
            chunk_ids=finding.expected_ids,
            text=_excerpt(label.quote or ""),
        )

    def _overflow(
        self, label: GoldSpan, finding: Finding, hits: Sequence[Retrieved]
    ) -> Fault | None:
        limit = self.limits.context
        if limit is None or finding.verdict != "whole" or finding.rank is None:
            return None
        used = 0
        fits = 0
        for hit in hits[: self.k]:
            used += self.limits.context_length(hit.text)
            if used <= limit:
                fits = hit.position
        if used <= limit:
            return None
        held = finding.rank <= fits
        return Fault(
            kind="context-overflow",
            repair="smaller-k" if held else "smaller-chunks",
            message=(
                f"{self.k} hits need {used}, the prompt has room for {limit}: only the first "
                f"{fits} fit, and the answer is at rank {finding.rank}"
            ),
            chunk_ids=finding.retrieved_ids,
            figures={"used": used, "limit": limit, "fits": fits, "rank": finding.rank},
        )

    def _healthy(
        self, label: GoldSpan, finding: Finding, hits: Sequence[Retrieved]
    ) -> Fault | None:
        if finding.verdict != "whole":
            return None
        return Fault(
            kind="healthy",
            repair="look-at-the-prompt",
            message=(
                f"the passage was retrieved whole at rank {finding.rank}: if the answer is still "
                "wrong, look at the prompt, not the chunker"
            ),
            chunk_ids=finding.retrieved_ids,
            figures=_known(rank=finding.rank),
        )

    def _crowded(self, finding: Finding, hits: Sequence[Retrieved]) -> Fault | None:
        top = hits[: self.k]
        kept = {hit.rank for hit in drop_near_duplicates(as_hits(hits), k=self.k)}
        repeated = [hit for hit in top if hit.position not in kept]
        if finding.rank is not None:
            is_cause = finding.rank > self.k and finding.rank in kept
        else:
            is_cause = len(repeated) >= max(2, CROWDED * self.k)
        if not repeated or not is_cause:
            return None
        return Fault(
            kind="near-duplicates",
            repair="drop-near-duplicates",
            message=(
                f"{len(repeated)} of the first {len(top)} hits repeat what a better hit says: "
                "without them there is room for the passage"
            ),
            chunk_ids=tuple(hit.chunk_id for hit in repeated),
            text=_excerpt(repeated[0].text),
            figures=_known(repeated=len(repeated), k=self.k, rank=finding.rank),
        )

    def _cut(self, label: GoldSpan, finding: Finding) -> Fault | None:
        if not finding.cut or not label.has_span:
            return None
        assert label.doc_id is not None
        assert label.start is not None
        assert label.end is not None
        pieces = finding.expected_ids or finding.retrieved_ids
        slack = tolerance((label.start, label.end))
        inside = sorted(
            {edge for edge in self._edges(pieces) if label.start + slack < edge < label.end - slack}
        )
        text = self.sources.text(label.doc_id)
        all_there = finding.verdict == "cut-all-parts"
        structure: Structure
        if text is None or not inside:
            structure, at = "passage", inside[0] if inside else label.start
        else:
            structure, at = worst_cut(self._blocks(label.doc_id), inside)
        what = {"passage": "between two sentences of the passage"}.get(
            structure, f"inside a {structure}"
        )
        retrieved = "all parts were retrieved apart" if all_there else "a part was not retrieved"
        return Fault(
            kind=_CUTS[structure],
            repair="merge-adjacent" if all_there else _SPLITTERS[structure],
            message=f"a chunk ends {what} of {label.doc_id!r} at {at}; {retrieved}",
            chunk_ids=pieces,
            text=_around(text, at) if text is not None else "",
            figures={"cuts": max(1, len(pieces) - 1), "at": at},
        )

    def _edges(self, chunk_ids: Sequence[str]) -> list[int]:
        lookup = self.sources.lookup
        chunks = [lookup.get(name) for name in chunk_ids] if lookup is not None else []
        return [edge for chunk in chunks if chunk for edge in (chunk.start, chunk.end)]

    def _read_blocks(self, doc_id: str) -> Blocks:
        return Blocks(self.sources.text(doc_id) or "")

    def _chunk(self, label: GoldSpan, finding: Finding) -> Fault | None:
        chunks = self._chunks(finding)
        if not chunks:
            return None
        for chunk in chunks:
            fault = self._beyond(label, chunk) or self._giant(label, chunk)
            if fault is None:
                fault = self._fragment(label, chunk)
            if fault is None:
                return None  # one healthy chunk would have been enough
        return fault

    def _beyond(self, label: GoldSpan, chunk: Chunk) -> Fault | None:
        limit = self.limits.embedder
        if limit is None or not label.has_span:
            return None
        length = self.limits.embedder_length(chunk.content)
        if length <= limit:
            return None
        read = self._read_of(chunk.content, limit)
        assert label.start is not None
        assert label.end is not None
        start = len(chunk.prefix) + max(label.start, chunk.start) - chunk.start
        end = len(chunk.prefix) + min(label.end, chunk.end) - chunk.start
        if end <= read or (read - start) * 2 > end - start:
            return None
        return Fault(
            kind="beyond-embedder",
            repair="smaller-chunks",
            message=(
                f"the embedder reads {limit} of the {length} of {chunk.chunk_id}, up to character "
                f"{read}; the passage is at {start}-{end}"
            ),
            chunk_ids=(chunk.chunk_id,),
            text=_excerpt(chunk.content[max(0, read - _EXCERPT) : read]),
            figures={"limit": limit, "length": length, "read": read, "start": start, "end": end},
        )

    def _read_of(self, content: str, limit: int) -> int:
        low, high = 0, len(content)
        while low < high:
            middle = (low + high + 1) // 2
            if self.limits.embedder_length(content[:middle]) <= limit:
                low = middle
            else:
                high = middle - 1
        return low

    def _giant(self, label: GoldSpan, chunk: Chunk) -> Fault | None:
        assert self.sources.lookup is not None
        usual = self.sources.lookup.median_length
        length = len(chunk.text)
        if not usual or length <= GIANT * usual or self._share(label, chunk) > 0.5:
            return None
        return Fault(
            kind="giant-chunk",
            repair="smaller-chunks",
            message=(
                f"{chunk.chunk_id} has {length} characters, {length / usual:.1f} times the usual "
                f"{usual:.0f}: the passage drowns in it"
            ),
            chunk_ids=(chunk.chunk_id,),
            text=_excerpt(chunk.text),
            figures={"length": length, "usual": usual},
        )

    def _fragment(self, label: GoldSpan, chunk: Chunk) -> Fault | None:
        assert self.sources.lookup is not None
        usual = self.sources.lookup.median_length
        length = len(chunk.content)
        if length >= FRAGMENT * usual or self._share(label, chunk) < 0.5:
            return None
        return Fault(
            kind="fragment",
            repair="larger-chunks",
            message=(
                f"{chunk.chunk_id} has {length} characters, the usual chunk {usual:.0f}: nothing "
                "around the passage says what it is about"
            ),
            chunk_ids=(chunk.chunk_id,),
            text=_excerpt(chunk.content),
            figures={"length": length, "usual": usual},
        )

    def _share(self, label: GoldSpan, chunk: Chunk) -> float:
        if not label.has_span or not chunk.text:
            return 1.0
        assert label.start is not None
        assert label.end is not None
        shared = min(label.end, chunk.end) - max(label.start, chunk.start)
        return shared / len(chunk.text)

    def _low(self, finding: Finding) -> Fault:
        repair: Repair = "other-embedder-or-wording"
        known = self._chunks(finding)
        chunk = "the chunk is healthy" if known else "nothing is known against the chunk"
        if finding.verdict == "adjacent":
            repair = "expand-neighbours"
            message = f"{chunk}, but its neighbour was retrieved instead"
        elif finding.rank is not None:
            if finding.rank <= 2 * self.k:
                repair = "larger-k"
            message = f"{chunk}, but at rank {finding.rank}"
        else:
            message = (
                f"{chunk}, but it was not retrieved: embedder or wording; try another embedder or "
                "query rewriting"
            )
        return Fault(
            kind="ranked-low",
            repair=repair,
            message=message,
            chunk_ids=finding.expected_ids,
            figures=_known(rank=finding.rank, score_gap=finding.score_gap),
        )

    def _chunks(self, finding: Finding) -> list[Chunk]:
        lookup = self.sources.lookup
        if lookup is None:
            return []
        found = [lookup.get(name) for name in finding.expected_ids]
        return [chunk for chunk in found if chunk is not None]

    def _document(self, label: GoldSpan, finding: Finding) -> str | None:
        if label.doc_id is not None:
            return label.doc_id
        chunks = self._chunks(finding)
        return chunks[0].doc_id if chunks else None

    def _passage(self, label: GoldSpan, finding: Finding) -> str:
        if label.quote is not None:
            return label.quote
        return " ".join(chunk.text for chunk in self._chunks(finding))


def _stale_label(label: GoldSpan) -> Fault:
    where = label.chunk_id or label.doc_id or "the documents"
    return Fault(
        kind="stale-label",
        repair="mark-the-label-again",
        message=f"the label is no longer in {where!r}: it was made for another state",
        text=_excerpt(label.quote or ""),
    )


def _known(**figures: float | None) -> dict[str, float]:
    return {name: value for name, value in figures.items() if value is not None}


def _excerpt(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 2 * _EXCERPT else text[: 2 * _EXCERPT - 1] + "…"


def _around(text: str, position: int) -> str:
    before = " ".join(text[max(0, position - _EXCERPT) : position].split())
    after = " ".join(text[position : position + _EXCERPT].split())
    return f"{before} ‖ {after}"
