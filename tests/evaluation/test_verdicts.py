import pytest

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, analyze
from tests.evaluation.making import GUIDE, ask, cut, trace

RETRY = "A retry waits twice as long as the one before."
AT = GUIDE.index(RETRY)
WHOLE = cut(GUIDE, 38, AT, AT + len(RETRY) + 1)  # each sentence a chunk; RETRY is chunk 2
SLICED = cut(GUIDE, 38, AT, AT + 20)  # RETRY is cut, chunks 2 and 3
OTHER = [
    Chunk("other", index, index * 10, index * 10 + 9, f"other {index:3}") for index in range(30)
]


def verdict(hits, chunks=None, documents=None, k=3, eval_set=None):
    analysis = analyze(
        [trace(hits)], eval_set or ask(RETRY), chunks=chunks, documents=documents, k=k
    )
    (question,) = analysis.questions
    (span,) = question.spans
    return span.finding


def test_a_label_in_one_hit_is_whole():
    finding = verdict([OTHER[0], WHOLE[2]], WHOLE + OTHER)
    assert (finding.verdict, finding.rank, finding.found) == ("whole", 2, True)


@pytest.mark.parametrize("chunks", [None, SLICED + OTHER])
def test_a_label_whose_parts_come_in_two_hits_is_cut_with_all_parts(chunks):
    finding = verdict([SLICED[3], OTHER[0], SLICED[2]], chunks)
    assert (finding.verdict, finding.found, finding.cut) == ("cut-all-parts", True, True)
    assert finding.retrieved_ids == ("guide#c3", "guide#c2")
    assert not finding.sibling


@pytest.mark.parametrize("chunks", [None, SLICED + OTHER])
def test_a_label_of_which_a_part_came_is_cut_with_a_part_missing(chunks):
    finding = verdict([SLICED[2], OTHER[0]], chunks)
    assert (finding.verdict, finding.found, finding.cut) == ("cut-part-missing", False, True)
    assert finding.sibling


def test_the_neighbour_of_the_expected_chunk_is_adjacent_on_both_sides():
    for neighbour in (WHOLE[1], WHOLE[3]):
        finding = verdict([OTHER[0], neighbour], WHOLE + OTHER)
        assert (finding.verdict, finding.adjacent, finding.sibling) == ("adjacent", True, True)
        assert finding.neighbour_ids == (neighbour.chunk_id,)
        assert not finding.cut


def test_without_a_manifest_a_hit_close_by_is_taken_for_the_neighbour():
    assert verdict([WHOLE[3]]).verdict == "adjacent"
    far_off = Chunk("guide", 9, 900, 930, "x" * 30)
    assert verdict([far_off]).verdict == "same-document"


def test_another_chunk_of_the_document_is_a_sibling_but_not_adjacent():
    finding = verdict([WHOLE[0]], WHOLE + OTHER)
    assert (finding.verdict, finding.sibling, finding.adjacent) == ("same-document", True, False)


def test_a_chunk_ranked_just_outside_is_a_near_miss_with_rank_and_score_gap():
    finding = verdict([*OTHER[:3], WHOLE[2]], WHOLE + OTHER)
    assert (finding.verdict, finding.rank) == ("near-miss", 4)
    assert finding.score_gap == pytest.approx(1 / 3 - 1 / 4)


def test_a_chunk_ranked_beyond_four_times_k_is_far():
    finding = verdict([*OTHER[:12], WHOLE[2]], WHOLE + OTHER)
    assert (finding.verdict, finding.rank) == ("far", 13)
    assert verdict(OTHER[:5], WHOLE + OTHER).verdict == "far"


def test_what_no_chunk_holds_is_not_indexed():
    assert verdict(OTHER[:3], OTHER).verdict == "not-indexed"
    without = [chunk for chunk in WHOLE if chunk.index != 2]
    assert verdict(OTHER[:3], without + OTHER).verdict == "not-indexed"


def test_a_quote_that_is_gone_is_a_stale_label_and_leaves_the_question_unscored():
    analysis = analyze(
        [trace([WHOLE[2]])],
        ask(RETRY),
        documents={"guide": GUIDE.replace("twice", "three times")},
    )
    assert analysis.verdicts == {"stale-label": 1}
    assert analysis.stale == ("q",)
    assert analysis.questions == ()
    assert analysis.metrics["recall"].count == 0
    assert [problem.kind for problem in analysis.label_problems] == ["missing"]


def test_an_unknown_chunk_id_is_stale_if_its_document_is_indexed_and_else_not_indexed():
    for chunk_id, expected in (("guide#c77", "stale-label"), ("gone#c0", "not-indexed")):
        eval_set = EvalSet.from_items(
            [{"query": "q", "question_id": "q", "expected_chunk_ids": [chunk_id]}]
        )
        analysis = analyze([trace([WHOLE[0]])], eval_set, chunks=WHOLE)
        assert analysis.verdicts == {expected: 1}
        assert analysis.unknown_ids == (chunk_id,)


def test_overlapping_chunks_are_one_whole_holder_and_never_a_cut():
    overlapping = [*WHOLE, Chunk("guide", 4, AT + 10, AT + 90, GUIDE[AT + 10 : AT + 90])]
    finding = verdict([overlapping[4]], overlapping)
    assert (finding.verdict, finding.cut) == ("adjacent", False)


def test_a_merged_hit_holds_what_its_members_hold():
    merged = trace([]).hits
    assert merged == ()
    from ragtrace.tracing import TraceHit

    hit = TraceHit(
        rank=1,
        chunk_id="merged-1",
        doc_id="guide",
        score=1.0,
        snippet=GUIDE[AT : AT + 200],
        start=SLICED[2].start,
        end=SLICED[3].end,
        merged_ids=("guide#c2", "guide#c3"),
    )
    assert verdict([hit], SLICED).verdict == "whole"
    by_id = EvalSet.from_items(
        [{"query": "q", "question_id": "q", "expected_chunk_ids": ["guide#c3"]}]
    )
    assert verdict([hit], eval_set=by_id).verdict == "whole"


def test_offsets_in_the_trace_yield_to_those_of_the_manifest():
    wrong = Chunk("guide", 2, 0, 20, WHOLE[2].text)
    assert verdict([wrong]).verdict != "whole"
    assert verdict([wrong], WHOLE).verdict == "whole"


def test_a_snippet_found_once_in_the_document_says_where_the_hit_lies():
    from ragtrace.tracing import TraceHit

    hit = TraceHit(
        rank=1, chunk_id="0b5c", doc_id="guide", score=None, snippet=RETRY, length=len(RETRY)
    )
    assert verdict([hit], documents={"guide": GUIDE}).verdict == "whole"
    assert verdict([hit], WHOLE).verdict == "whole"


def test_a_quote_alone_is_looked_for_in_what_the_trace_kept():
    eval_set = EvalSet.from_items(
        [{"query": "q", "question_id": "q", "gold": [{"quote": "twice as\nlong"}]}]
    )
    assert verdict([OTHER[0], WHOLE[2]], eval_set=eval_set).verdict == "whole"
    assert verdict([OTHER[0]], eval_set=eval_set).verdict == "far"


def test_an_id_label_is_a_boundary_miss_by_its_index_alone():
    eval_set = EvalSet.from_items(
        [{"query": "q", "question_id": "q", "expected_chunk_ids": ["d#1", "e#5"]}]
    )
    analysis = analyze([trace(["d#c2", "e#0"])], eval_set)
    assert analysis.misses.total == 2
    assert (analysis.misses.sibling_misses, analysis.misses.adjacent_misses) == (2, 1)
    assert (analysis.misses.sibling_share, analysis.misses.adjacent_share) == (1.0, 0.5)
