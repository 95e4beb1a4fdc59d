"""Name what a chunk boundary cut inside a labelled passage."""

from collections.abc import Callable

from ragtrace.evaluation.causes import EXCERPT, Fault, FaultKind, Repair, known
from ragtrace.evaluation.eval_set import GoldSpan
from ragtrace.evaluation.hits import Sources
from ragtrace.evaluation.spans import tolerance
from ragtrace.evaluation.structure import Blocks, Structure, worst_cut
from ragtrace.evaluation.verdicts import NEAR_MISS_DEPTH, Finding

_KINDS: dict[Structure, FaultKind] = {
    "sentence": "cut-sentence",
    "table": "cut-table",
    "fence": "cut-fence",
    "list": "cut-list",
    "passage": "cut-passage",
}
_REPAIRS: dict[Structure, Repair] = {
    "sentence": "sentence-aligned-splitter",
    "table": "heading-path-splitter",
    "fence": "heading-path-splitter",
    "list": "heading-path-splitter",
    "passage": "expand-neighbours",
}


def find_cut(
    label: GoldSpan,
    finding: Finding,
    sources: Sources,
    blocks_of: Callable[[str], Blocks],
    *,
    k: int,
) -> Fault | None:
    """Return the cut through a label that no chunk holds whole; `blocks_of` reads a document.

    Where no part of it came, cutting elsewhere rarely helps: the cut is named, but the repair is
    one of the ranking (which repairs win which questions: `benchmarks/diagnosis.py`).
    """
    if not finding.cut or label.doc_id is None or label.start is None or label.end is None:
        return None
    pieces = finding.expected_ids or finding.retrieved_ids
    slack = tolerance((label.start, label.end))
    inside = sorted(
        edge for edge in _edges(pieces, sources) if label.start + slack < edge < label.end - slack
    )
    text = sources.text(label.doc_id)
    structure: Structure = "passage"
    is_in_list = is_one = False
    at = inside[0] if inside else label.start
    if text is not None and inside:
        blocks = blocks_of(label.doc_id)
        structure, at = worst_cut(blocks, inside)
        is_one = blocks.keeps(structure, (label.start, label.end))
        is_in_list = blocks.keeps("list", (label.start, label.end))
    where = f"in a {structure}"
    if structure == "passage":
        where = "between two sentences of the passage"
    repair, outcome = _REPAIRS[structure], "a part was not retrieved"
    if finding.verdict == "cut-all-parts":
        repair, outcome = "merge-adjacent", "all parts were retrieved, but apart"
    elif finding.verdict != "cut-part-missing":
        repair, outcome = _when_nothing_came(finding.rank, k)
    elif not is_one:
        # A passage of several sentences or blocks may well be cut between them next time.
        repair = _REPAIRS["list"] if is_in_list else "expand-neighbours"
    return Fault(
        kind=_KINDS[structure],
        repair=repair,
        message=f"a chunk ends {where} of {label.doc_id!r} at {at}; {outcome}",
        chunk_ids=pieces,
        text=_around(text, at) if text is not None else "",
        figures=known(cuts=max(1, len(pieces) - 1), at=at, rank=finding.rank),
    )


def _when_nothing_came(rank: int | None, k: int) -> tuple[Repair, str]:
    if rank is not None and rank <= NEAR_MISS_DEPTH * k:
        return "larger-k", f"its best part is at rank {rank}: fetch so many and their neighbours"
    return "other-embedder-or-wording", (
        "no part of it was retrieved: another embedder or query rewriting first, then the cut"
    )


def _edges(chunk_ids: tuple[str, ...], sources: Sources) -> set[int]:
    lookup = sources.lookup
    chunks = [lookup.get(name) for name in chunk_ids] if lookup is not None else []
    return {edge for chunk in chunks if chunk for edge in (chunk.start, chunk.end)}


def _around(text: str, position: int) -> str:
    before = " ".join(text[max(0, position - EXCERPT) : position].split())
    after = " ".join(text[position : position + EXCERPT].split())
    return f"{before} ‖ {after}"
