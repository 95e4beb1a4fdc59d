import pytest

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, splitters_like, what_if
from tests.evaluation.making import GUIDE, ask, cut, trace

RETRY = "A retry waits twice as long as the one before."
AT = GUIDE.index(RETRY)
SLICED = cut(GUIDE, 38, AT, AT + 20, AT + len(RETRY) + 1)
OTHER = [
    Chunk("other", index, index * 100, index * 100 + 52, f"topic{index} word{index} " * 4)
    for index in range(30)
]
CHUNKS = [*SLICED, *OTHER]


def outcome(result, repair, detail=None):
    return next(
        one
        for one in result.outcomes
        if one.repair == repair and (detail is None or one.detail == detail)
    )


def test_merging_wins_a_question_whose_parts_were_retrieved():
    result = what_if([trace([SLICED[3], OTHER[0], SLICED[2]])], ask(RETRY), chunks=CHUNKS, k=3)
    merging = outcome(result, "merge-adjacent", "touching hits")
    assert (merging.won, merging.lost, merging.gain) == (("q",), (), 1)
    assert (merging.whole_recall_before, merging.whole_recall) == (0.0, 1.0)
    # Nothing but the space between the two parts is added.
    assert merging.context_characters == merging.context_characters_before + 1
    assert result.best is not None


def test_filling_the_gap_wins_what_lies_between_two_hits():
    passage = GUIDE[38 : AT + len(RETRY)].strip()
    hits = [SLICED[1], SLICED[3], OTHER[0]]
    result = what_if([trace(hits)], ask(passage), chunks=CHUNKS, k=3)
    assert outcome(result, "merge-adjacent", "touching hits").won == ()
    filled = outcome(result, "merge-adjacent", "fill_gap=1")
    assert filled.won == ("q",)
    assert filled.context_characters > filled.context_characters_before


def test_a_larger_k_wins_a_near_miss_and_a_smaller_one_loses():
    late = what_if([trace([*OTHER[:4], SLICED[1]])], ask("The limit"), chunks=CHUNKS, k=3)
    assert outcome(late, "larger-k").won == ("q",)
    assert late.best.repair == "larger-k"
    early = what_if([trace([*OTHER[:2], SLICED[1]])], ask("The limit"), chunks=CHUNKS, k=3)
    assert outcome(early, "smaller-k").lost == ("q",)
    assert early.outcomes[-1].repair == "smaller-k"
    assert early.best is None


def test_shallow_traces_are_mentioned_where_a_larger_k_cannot_be_judged():
    result = what_if([trace(OTHER[:3])], ask("The limit"), chunks=CHUNKS, k=3)
    assert outcome(result, "larger-k").note == "1 of 1 traces hold fewer than 6 hits"


def test_dropping_repetitions_lets_further_ranks_in():
    text = "Keys rotate once a month, and nobody needs to be told about it by the team."
    copies = [Chunk(f"copy{i}", 0, 0, len(text), text) for i in range(3)]
    hits = [*copies, OTHER[0], SLICED[1]]
    result = what_if([trace(hits)], ask("The limit"), chunks=[*CHUNKS, *copies], k=3)
    assert outcome(result, "drop-near-duplicates").won == ("q",)


def test_removing_old_chunks_lets_todays_in():
    old = [Chunk("guide", 40 + i, 0, 60, f"The limit was set once {i}. " * 3) for i in range(3)]
    result = what_if([trace([*old, SLICED[1]])], ask("The limit"), chunks=CHUNKS, k=3)
    assert outcome(result, "remove-stale-chunks").won == ("q",)


def test_neighbours_bring_in_what_lies_beside_a_hit_at_a_price():
    result = what_if([trace([SLICED[0]])], ask("The limit"), chunks=CHUNKS, k=3)
    expanded = outcome(result, "expand-neighbours")
    assert expanded.won == ("q",)
    assert expanded.context_characters > expanded.context_characters_before
    without = what_if([trace([SLICED[0]])], ask("The limit"), k=3)
    assert "needs chunks" in outcome(without, "expand-neighbours").note


def test_another_splitter_is_compared_under_the_same_retriever():
    def by_sentence(doc_id, text):
        borders = [i + 1 for i, sign in enumerate(text) if sign == "." and i + 1 < len(text)]
        return cut(text, *borders, doc_id=doc_id)

    eval_set = EvalSet(
        questions=tuple(
            type(question)(question_id="q", query="how long does a retry wait", gold=question.gold)
            for question in ask(RETRY)
        )
    )
    built = []

    def first_words(chunks):
        from ragtrace.index import Bm25Retriever

        built.append(len(chunks))
        return Bm25Retriever(chunks)

    for retriever in (None, first_words):
        result = what_if(
            [trace([SLICED[2]], query="how long does a retry wait")],
            eval_set,
            chunks=SLICED,
            documents={"guide": GUIDE},
            k=1,
            splitters={"sentence-aligned-splitter": by_sentence},
            retriever=retriever,
        )
        split = outcome(result, "sentence-aligned-splitter")
        assert split.won == ("q",)
        assert split.needs_index
        assert split.detail == "4 chunks instead of 5"
    assert built == [4, 5]


def test_what_cannot_be_split_or_compared_says_so():
    def whole(doc_id, text):
        return [Chunk(doc_id, 0, 0, len(text), text)]

    splitters = {"larger-chunks": whole}
    with pytest.raises(ValueError, match="no text to split"):
        what_if([trace([])], ask("The limit"), splitters=splitters)
    with pytest.raises(ValueError, match="give chunks"):
        what_if([trace([])], ask("The limit"), documents={"guide": GUIDE}, splitters=splitters)


def test_stale_labels_and_untraced_questions_do_not_count():
    eval_set = EvalSet(
        questions=(
            *ask("The limit", name="a").questions,
            *ask("The limit", name="b").questions,
            *ask(RETRY, name="c").questions,
        )
    )
    documents = {"guide": GUIDE.replace("twice", "thrice")}
    result = what_if(
        [trace([SLICED[1]], name="a"), trace([SLICED[1]], name="c")], eval_set, documents=documents
    )
    assert result.questions == 1


def test_the_usual_splitters_cut_at_the_size_of_the_index():
    text = "\n\n".join(f"# Part {n}\n\n" + GUIDE for n in range(6))
    index = [Chunk("d", n, 0, 300, "x" * 300) for n in range(40)]
    cut_by = {name: list(make("d", text)) for name, make in splitters_like(index).items()}
    longest = {name: max(len(one.content) for one in chunks) for name, chunks in cut_by.items()}
    assert longest["smaller-chunks"] <= 150 < longest["sentence-aligned-splitter"] <= 300
    assert 300 < longest["larger-chunks"] <= 600
    assert longest["heading-path-splitter"] <= 300
    assert ("Part 0",) in cut_by["heading-path-splitter"][0].heading_paths
    with pytest.raises(ValueError, match="no chunks"):
        splitters_like([])
