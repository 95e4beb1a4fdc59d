"""What each `op` of a merge case means."""

import copy
import math
from typing import Any

from ragtrace.postprocessing import MergedHit, merge_adjacent
from ragtrace.tracing import Hit
from tests.acceptance.cases import Case, decode_values


def run_merge_case(case: Case) -> list[str]:
    given = decode_values(case["input"])
    hits = [
        Hit(
            chunk_id=hit.get("chunk_id") or f"{hit['doc_id']}#c{hit['chunk_index']}",
            doc_id=hit["doc_id"],
            text=hit["text"],
            score=hit.get("score"),
            rank=rank,
            chunk_index=hit.get("chunk_index"),
            start=hit.get("start"),
            end=hit.get("end"),
            heading_path=tuple(hit.get("heading_path") or ()),
            metadata=hit.get("metadata") or {},
        )
        for rank, hit in enumerate(given["hits"], start=1)
    ]
    before = copy.deepcopy(hits)
    try:
        groups = merge_adjacent(
            hits, higher_is_better=case["params"].get("score", "higher_better") == "higher_better"
        )
    except Exception as error:
        return [f"raised {error!r}"]
    notes = []
    for expected in case["expect"]:
        if expected["op"] == "input_unchanged":
            note = "" if repr(hits) == repr(before) else "the hits given were altered"
        else:
            note = check_groups(expected, groups, hits, given)
        if note:
            notes.append(f"{expected['op']}: {note} ({expected['say']})")
    return notes


def same_score(got: float | None, wanted: float | None) -> bool:
    if got is None or wanted is None:
        return got is wanted
    return math.isclose(got, wanted) or (math.isnan(got) and math.isnan(wanted))


def check_groups(
    expected: dict[str, Any], groups: list[MergedHit], hits: list[Hit], given: dict[str, Any]
) -> str:
    op = expected["op"]
    if op == "no_raise":
        return ""
    if op == "group_count":
        return "" if len(groups) == expected["n"] else f"{len(groups)} groups"
    if op == "group_docs":
        docs = sorted({group.doc_id for group in groups})
        return "" if docs == sorted(expected["docs"]) else f"documents {docs}"
    group = groups[expected["group"]]
    if op == "group_text_equals_source":
        wanted = given["source_text"][expected["doc"]][expected["start"] : expected["end"]]
        good = group.doc_id == expected["doc"] and group.text == wanted
        return "" if good else f"{group.doc_id}: {group.text!r}"
    if op == "group_indices":
        indices = [
            int(hit.chunk_index)
            for chunk_id in group.merged_ids
            for hit in hits
            if hit.chunk_id == chunk_id and hit.doc_id == group.doc_id
        ]
        return "" if indices == expected["indices"] else f"indices {indices}"
    if op == "group_score":
        return "" if same_score(group.score, expected["score"]) else f"score {group.score}"
    raise NotImplementedError(op)
