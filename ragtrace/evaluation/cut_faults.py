"""Name what a chunk boundary cut inside a labelled passage."""

from collections.abc import Callable

from ragtrace.evaluation.causes import EXCERPT, Fault, FaultKind, Repair
from ragtrace.evaluation.eval_set import GoldSpan
from ragtrace.evaluation.hits import Sources
from ragtrace.evaluation.spans import tolerance
from ragtrace.evaluation.structure import Blocks, Structure, worst_cut
from ragtrace.evaluation.verdicts import Finding

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
    label: GoldSpan, finding: Finding, sources: Sources, blocks_of: Callable[[str], Blocks]
) -> Fault | None:
    """Return the cut through a label that no chunk holds whole; `blocks_of` reads a document."""
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
    parts_came = finding.verdict == "cut-part-missing"
    all_there = finding.verdict == "cut-all-parts"
    outcome = "all parts were retrieved, but apart" if all_there else "a part was not retrieved"
    repair = _REPAIRS[structure]
    if all_there:
        repair = "merge-adjacent"
    elif parts_came and not is_one:
        # A passage of several sentences or blocks may well be cut between them next time.
        repair = _REPAIRS["list"] if is_in_list else "expand-neighbours"
    return Fault(
        kind=_KINDS[structure],
        repair=repair,
        message=f"a chunk ends {where} of {label.doc_id!r} at {at}; {outcome}",
        chunk_ids=pieces,
        text=_around(text, at) if text is not None else "",
        figures={"cuts": max(1, len(pieces) - 1), "at": at},
    )


def _edges(chunk_ids: tuple[str, ...], sources: Sources) -> set[int]:
    lookup = sources.lookup
    chunks = [lookup.get(name) for name in chunk_ids] if lookup is not None else []
    return {edge for chunk in chunks if chunk for edge in (chunk.start, chunk.end)}


def _around(text: str, position: int) -> str:
    before = " ".join(text[max(0, position - EXCERPT) : position].split())
    after = " ".join(text[position : position + EXCERPT].split())
    return f"{before} ‖ {after}"
