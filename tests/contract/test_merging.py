"""Both frameworks merge and thin out the same hits in the same way."""

from dataclasses import replace

import pytest

from ragtrace.postprocessing import Hit
from tests.contract.side import Side, Stored

TEXT = "One is first. Two comes next. Three is third. Four ends it."
SPANS = ((0, 13), (14, 29), (30, 45), (46, 59))


def hit(index: int, score: float | None, doc_id: str = "d") -> Stored:
    start, end = SPANS[index]
    return Stored(
        TEXT[start:end],
        {
            "doc_id": doc_id,
            "chunk_id": f"{doc_id}#c{index}",
            "chunk_index": index,
            "start_index": start,
            "end_index": end,
            "splitter": "s:1",
        },
        f"{doc_id}#c{index}",
        score,
    )


def test_neighbours_become_one_hit(side: Side) -> None:
    merged = side.merge([hit(1, 0.9), hit(3, 0.8), hit(0, 0.7)])
    assert len(merged) == 2
    assert merged[0].content.startswith("One is first.")
    assert merged[0].content.endswith("Two comes next.")
    assert merged[1].content == "Four ends it."


def test_a_gap_is_filled_from_the_documents(side: Side) -> None:
    merged = side.merge([hit(1, 0.9), hit(3, 0.8)], fill_gap=1, documents={"d": TEXT})
    assert [stored.content for stored in merged] == [TEXT[14:59]]


def test_a_gap_of_one_is_filled_by_itself_where_it_is_known_what_is_missing(side: Side) -> None:
    apart = [hit(1, 0.9), hit(3, 0.8)]
    assert [s.content for s in side.merge(apart, documents={"d": TEXT})] == [TEXT[14:59]]
    assert len(side.merge(apart)) == 2
    assert len(side.merge(apart, documents={"d": TEXT}, fill_gap=0)) == 2
    assert len(side.merge([hit(0, 0.9), hit(3, 0.8)], documents={"d": TEXT})) == 2
    third = Hit(chunk_id="d#c2", doc_id="d", text=TEXT[30:45], start=30, end=45, chunk_index=2)
    (filled,) = side.merge(apart, chunk_at=lambda doc_id, index: third)
    assert filled.content.split() == TEXT[14:59].split()


def test_chunks_of_two_documents_stay_apart(side: Side) -> None:
    assert len(side.merge([hit(0, 0.9, "a"), hit(1, 0.8, "b")])) == 2


def test_hits_without_neighbours_pass_through_unchanged(side: Side) -> None:
    alone = [hit(0, 0.9), hit(2, 0.8)]
    assert [stored.content for stored in side.merge(alone)] == [s.content for s in alone]
    assert side.merge([]) == []


@pytest.mark.parametrize("scores", [(0.9, 0.7), (0.9, None), (None, None)])
def test_both_frameworks_merge_alike(
    sides: list[Side], scores: tuple[float | None, float | None]
) -> None:
    first, second = (
        [
            (s.content, s.metadata.get("chunk_id"), s.metadata.get("merged_ids"))
            for s in side.merge(
                [hit(1, scores[0]), hit(0, scores[1]), hit(3, 0.1)],
                documents={"d": TEXT},
                fill_gap=0,
            )
        ]
        for side in sides
    )
    assert first == second
    assert first[0][0] == TEXT[0:29]


def test_merging_twice_changes_nothing(side: Side) -> None:
    once = side.merge([hit(1, 0.9), hit(0, 0.8)], documents={"d": TEXT})
    again = side.merge(once, documents={"d": TEXT})
    assert [s.content for s in again] == [s.content for s in once]
    assert [s.metadata.get("merged_ids") for s in again] == [
        s.metadata.get("merged_ids") for s in once
    ]


def test_a_repeat_gives_up_its_place(side: Side) -> None:
    repeat = replace(hit(0, 0.8, "copy"), content=TEXT[0:13], metadata=hit(0, 0.8, "copy").metadata)
    kept = side.drop_near_duplicates([hit(0, 0.9), repeat, hit(2, 0.7)])
    assert [s.metadata["chunk_id"] for s in kept] == ["d#c0", "d#c2"]
