"""Name the fault of the index behind a verdict, with its evidence and one repair."""

from collections.abc import Sequence
from functools import lru_cache

from ragtrace.chunking import Chunk
from ragtrace.evaluation.causes import Fault, Limits, Repair, excerpt, known
from ragtrace.evaluation.chunk_faults import find_in_chunks
from ragtrace.evaluation.cut_faults import find_cut
from ragtrace.evaluation.eval_set import GoldSpan
from ragtrace.evaluation.hits import Retrieved, Sources, as_hits
from ragtrace.evaluation.structure import Blocks
from ragtrace.evaluation.verdicts import Finding
from ragtrace.evaluation.versions import says_the_same
from ragtrace.postprocessing import drop_near_duplicates

CROWDED = 0.6
"""Share of the first k hits that must repeat others before they are blamed for a passage that
the trace does not reach."""


class FaultFinder:
    """Find the cause behind each verdict of one run.

    What can be shown by taking the fault away (old versions, near-duplicates) is asked first, then
    what the index did to the passage, then its chunk; only a healthy chunk is "ranked low".
    """

    def __init__(self, sources: Sources, *, k: int, limits: Limits | None = None) -> None:
        self.sources = sources
        self.k = k
        self.limits = limits or Limits()
        self._blocks_of = lru_cache(maxsize=64)(lambda doc_id: Blocks(sources.text(doc_id) or ""))

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
        cut = find_cut(label, finding, self.sources, self._blocks_of, k=self.k)
        fault = cut or self._chunk(label, finding)
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
            text=excerpt(first.text),
            figures=known(rank=first.position, current_rank=finding.rank, old=len(old)),
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
            text=excerpt(label.quote or ""),
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
            figures=known(rank=finding.rank),
        )

    def _crowded(self, finding: Finding, hits: Sequence[Retrieved]) -> Fault | None:
        top = hits[: self.k]
        kept = {hit.rank for hit in drop_near_duplicates(as_hits(hits), k=self.k)}
        repeated = [hit for hit in top if hit.position not in kept]
        if finding.rank is not None:
            is_cause = finding.rank > self.k and finding.rank in kept
        else:
            # Once k hits that repeat nothing are known, the passage is seen not to be among them.
            is_cause = len(repeated) >= max(2, CROWDED * self.k) and len(kept) < self.k
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
            text=excerpt(repeated[0].text),
            figures=known(repeated=len(repeated), k=self.k, rank=finding.rank),
        )

    def _chunk(self, label: GoldSpan, finding: Finding) -> Fault | None:
        if self.sources.lookup is None:
            return None
        usual = self.sources.lookup.median_length
        return find_in_chunks(label, self._chunks(finding), usual, self.limits)

    def _low(self, finding: Finding) -> Fault:
        repair: Repair = "other-embedder-or-wording"
        looked_at = self._chunks(finding)
        chunk = "the chunk is healthy" if looked_at else "nothing is known against the chunk"
        if finding.verdict == "adjacent":
            repair = "expand-neighbours"
            message = f"{chunk}, but its neighbour was retrieved instead"
        elif finding.verdict == "near-miss":
            repair = "larger-k"
            message = f"{chunk}, but at rank {finding.rank}: fetch so many, and rerank or merge"
        elif finding.rank is not None:
            message = f"{chunk}, but at rank {finding.rank}: embedder or wording"
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
            figures=known(rank=finding.rank, score_gap=finding.score_gap),
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
        text=excerpt(label.quote or ""),
    )
