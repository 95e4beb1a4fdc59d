import pytest

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, Limits, analyze
from ragtrace.tracing import TraceHit
from tests.evaluation.making import GUIDE, ask, cut, trace

RETRY = "A retry waits twice as long as the one before."
AT = GUIDE.index(RETRY)
WHOLE = cut(GUIDE, 38, AT, AT + len(RETRY) + 1)
OTHER = [
    Chunk("other", index, index * 100, index * 100 + 60, f"topic{index} word{index} " * 4)
    for index in range(30)
]
MARKDOWN = """# Limits

| plan | requests | seats |
|------|----------|-------|
| free | ten      | one   |
| team | hundred  | nine  |

Install it like this:

```sh
pip install limits
limits serve --port 8000
limits check
```

What to know before:

- The first thing is that keys rotate once a month
- The second thing is that logs are kept for a year
- The third thing is that nobody reads them
"""


def fault(hits, *, chunks=None, documents=None, limits=None, eval_set=None, k=3):
    analysis = analyze(
        [trace(hits)],
        eval_set or ask(RETRY),
        chunks=chunks,
        documents=documents,
        limits=limits,
        k=k,
    )
    return analysis.questions[0].spans[0].fault


@pytest.mark.parametrize("documents", [None, {"doc": MARKDOWN}])
@pytest.mark.parametrize(
    ("passage", "border", "kind", "repair"),
    [
        ("| plan | requests", "| team", "cut-table", "heading-path-splitter"),
        ("```sh\npip", "limits serve", "cut-fence", "heading-path-splitter"),
        ("- The first", "- The second", "cut-list", "heading-path-splitter"),
        ("- The first", "is that logs", "cut-sentence", "heading-path-splitter"),
        ("What to know", "- The first", "cut-passage", "expand-neighbours"),
    ],
)
def test_what_a_boundary_cut_is_named(documents, passage, border, kind, repair):
    at = MARKDOWN.index(border)
    chunks = cut(MARKDOWN, at, doc_id="doc")
    end = MARKDOWN.find("\n\n", at)
    quote = MARKDOWN[MARKDOWN.index(passage) : end].strip()
    eval_set = ask(quote, text=MARKDOWN, doc_id="doc")
    found = fault([chunks[0]], chunks=chunks, documents=documents, eval_set=eval_set)
    assert (found.kind, found.repair) == (kind, repair)
    assert "‖" in found.text
    assert found.chunk_ids == ("doc#c0", "doc#c1")


def test_a_cut_passage_of_several_sentences_needs_its_neighbours_not_another_splitter():
    chunks = cut(GUIDE, AT + 20)
    one = fault(chunks[:1], chunks=chunks)
    assert (one.kind, one.repair) == ("cut-sentence", "sentence-aligned-splitter")
    more = fault(chunks[:1], chunks=chunks, eval_set=ask(GUIDE[38 : AT + 60]))
    assert (more.kind, more.repair) == ("cut-sentence", "expand-neighbours")


def test_a_cut_passage_of_which_nothing_came_needs_better_ranking_first():
    chunks = cut(GUIDE, AT + 20)
    outside = fault([*OTHER[:4], chunks[1]], chunks=[*chunks, *OTHER])
    assert (outside.kind, outside.repair) == ("cut-sentence", "larger-k")
    assert "at rank 5: fetch so many and their neighbours" in outside.message
    assert outside.figures["rank"] == 5
    for hits in (OTHER[:20], [*OTHER[:20], chunks[1]]):
        nowhere = fault(hits, chunks=[*chunks, *OTHER])
        assert (nowhere.kind, nowhere.repair) == ("cut-sentence", "other-embedder-or-wording")
        assert "no part of it was retrieved" in nowhere.message


def test_parts_that_were_all_retrieved_need_only_merging():
    chunks = cut(GUIDE, AT + 20)
    found = fault(chunks, chunks=chunks)
    assert (found.kind, found.repair) == ("cut-sentence", "merge-adjacent")
    assert found.figures["cuts"] == 1


def test_a_giant_chunk_is_named_with_its_length():
    giant = Chunk("guide", 0, 0, len(GUIDE), GUIDE)
    small = [Chunk("other", i, i * 50, i * 50 + 40, f"{i:40}") for i in range(20)]
    found = fault(small[:3], chunks=[giant, *small])
    assert (found.kind, found.repair) == ("giant-chunk", "smaller-chunks")
    assert found.figures == {"length": len(GUIDE), "usual": 40}


def test_a_fragment_is_named():
    short = Chunk("guide", 0, AT, AT + len(RETRY), RETRY)
    large = [Chunk("other", i, i * 500, i * 500 + 400, f"{i:400}") for i in range(20)]
    found = fault(large[:3], chunks=[short, *large])
    assert (found.kind, found.repair) == ("fragment", "larger-chunks")
    assert found.chunk_ids == ("guide#c0",)


def test_what_the_embedder_does_not_read_is_named_with_the_place():
    chunk = Chunk("guide", 0, 0, len(GUIDE), GUIDE)
    limits = Limits(embedder=12, embedder_length=lambda text: len(text.split()))
    found = fault(OTHER[:3], chunks=[chunk, *OTHER], limits=limits)
    assert (found.kind, found.repair) == ("beyond-embedder", "smaller-chunks")
    assert found.figures["limit"] == 12
    assert found.figures["start"] == AT
    assert found.figures["read"] < AT
    # The first sentence is read.
    assert (
        fault(
            OTHER[:3],
            chunks=[chunk, *OTHER],
            limits=limits,
            eval_set=ask("Requests time out after five seconds."),
        ).kind
        != "beyond-embedder"
    )


def test_near_duplicates_that_take_the_places_are_named():
    text = "Keys rotate once a month, and nobody needs to be told about it by the team."
    copies = [Chunk(f"copy{i}", 0, 0, len(text), text) for i in range(4)]
    found = fault([*copies, WHOLE[2]], chunks=[*WHOLE, *copies, *OTHER])
    assert (found.kind, found.repair) == ("near-duplicates", "drop-near-duplicates")
    assert found.chunk_ids == ("copy1#c0", "copy2#c0")
    assert found.figures == {"repeated": 2, "k": 3, "rank": 5}


def test_near_duplicates_are_blamed_for_a_passage_out_of_reach_unless_others_fill_the_places():
    text = "Keys rotate once a month, and nobody needs to be told about it by the team."
    copies = [Chunk(f"copy{i}", 0, 0, len(text), text) for i in range(4)]
    index = [*WHOLE, *copies, *OTHER]
    assert fault(copies[:3], chunks=index).kind == "near-duplicates"
    assert fault([*copies, *OTHER[:1]], chunks=index).kind == "near-duplicates"
    assert fault([*copies, *OTHER[:2]], chunks=index).kind == "ranked-low"


def test_near_duplicates_that_make_no_difference_are_not_blamed():
    text = "Keys rotate once a month, and nobody needs to be told about it by the team."
    copies = [Chunk(f"copy{i}", 0, 0, len(text), text) for i in range(2)]
    found = fault([*copies, *OTHER[:6], WHOLE[2]], chunks=[*WHOLE, *copies, *OTHER])
    assert found.kind == "ranked-low"


OLD = GUIDE[:AT] + "A retry waits three times as long as the one before."


def old_hit(**fields):
    known = {
        "rank": 1,
        "chunk_id": "guide#c40",
        "doc_id": "guide",
        "score": 0.9,
        "snippet": OLD[AT:],
        "length": len(OLD) - AT,
    }
    return TraceHit(**known | fields)


def test_a_chunk_that_the_manifest_no_longer_has_is_an_old_version():
    found = fault([old_hit(), *OTHER[:2], WHOLE[2]], chunks=WHOLE + OTHER)
    assert (found.kind, found.repair) == ("stale-version", "remove-stale-chunks")
    assert found.chunk_ids == ("guide#c40",)
    assert "three times" in found.text


def test_an_old_version_before_todays_passage_is_named_even_if_that_was_retrieved():
    found = fault([old_hit(), WHOLE[2]], chunks=WHOLE + OTHER)
    assert (found.kind, found.figures["current_rank"]) == ("stale-version", 2)
    assert fault([WHOLE[2], old_hit(rank=2)], chunks=WHOLE + OTHER).kind == "healthy"


def test_another_text_under_a_known_id_is_an_old_version():
    found = fault([old_hit(chunk_id="guide#c2"), *OTHER[:2]], chunks=WHOLE + OTHER)
    assert found.kind == "stale-version"


def test_a_chunk_of_the_index_that_todays_document_does_not_hold_is_an_old_version():
    old = Chunk("guide", 40, AT, len(OLD), OLD[AT:])
    documents = {"guide": GUIDE} | {"other": "\n".join(chunk.text for chunk in OTHER)}
    found = fault([old, WHOLE[2]], chunks=[*WHOLE, old], documents=documents)
    assert found.kind == "stale-version"
    assert found.chunk_ids == ("guide#c40",)


def test_versions_written_in_the_trace_are_compared():
    hits = [
        old_hit(doc_version="2023-04"),
        TraceHit(
            rank=2,
            chunk_id="guide#c2",
            doc_id="guide",
            score=0.8,
            snippet=RETRY,
            start=AT,
            end=AT + len(RETRY),
            doc_version="2024-01",
        ),
    ]
    found = fault(hits)
    assert found.kind == "stale-version"
    assert "2024-01" in found.message


def test_an_older_document_that_says_the_same_is_an_old_version():
    hits = [old_hit(chunk_id="guide-2023#c1", doc_id="guide-2023"), *WHOLE[2:3]]
    eval_set = ask(RETRY, doc_id="guide-2024")
    current = [Chunk("guide-2024", c.index, c.start, c.end, c.text) for c in WHOLE]
    found = fault([hits[0], current[2]], eval_set=eval_set)
    assert found.kind == "stale-version"
    # Chapters of one book are no versions of each other: they say different things.
    chapter = old_hit(chunk_id="guide-2023#c1", doc_id="guide-2023", snippet="Something else.")
    assert fault([chapter, current[2]], eval_set=eval_set).kind == "healthy"


def test_a_missing_document_is_not_indexed():
    found = fault(OTHER[:3], chunks=OTHER)
    assert (found.kind, found.repair) == ("not-indexed", "index-document")
    assert "no chunk of 'guide'" in found.message
    gap = fault(OTHER[:3], chunks=[*WHOLE[:2], *WHOLE[3:], *OTHER])
    assert "the splitter dropped it" in gap.message


def test_more_hits_than_the_prompt_has_room_for_are_named():
    limits = Limits(context=140)
    found = fault([WHOLE[2], *OTHER[:3]], chunks=WHOLE + OTHER, limits=limits)
    assert (found.kind, found.repair) == ("context-overflow", "smaller-k")
    found = fault([*OTHER[:2], WHOLE[2]], chunks=WHOLE + OTHER, limits=limits)
    assert (found.kind, found.repair) == ("context-overflow", "smaller-chunks")
    assert found.figures["rank"] == 3
    assert fault([WHOLE[2]], chunks=WHOLE, limits=limits).kind == "healthy"


def test_what_was_retrieved_sends_the_reader_to_the_prompt():
    found = fault([WHOLE[2]], chunks=WHOLE)
    assert (found.kind, found.repair) == ("healthy", "look-at-the-prompt")


@pytest.mark.parametrize(
    ("hits", "repair"),
    [
        ([*OTHER[:3], WHOLE[2]], "larger-k"),
        ([*OTHER[:11], WHOLE[2]], "larger-k"),
        ([*OTHER[:12], WHOLE[2]], "other-embedder-or-wording"),
        (OTHER[:3], "other-embedder-or-wording"),
        ([WHOLE[3]], "expand-neighbours"),
    ],
)
def test_a_healthy_chunk_that_ranks_low_gets_the_repair_for_its_place(hits, repair):
    found = fault(hits, chunks=WHOLE + OTHER)
    assert (found.kind, found.repair) == ("ranked-low", repair)
    assert "the chunk is healthy" in found.message


def test_without_the_chunks_nothing_is_said_of_their_health():
    assert "nothing is known against the chunk" in fault(OTHER[:3]).message


def test_hits_that_cannot_be_told_apart_are_not_called_old():
    twice = [Chunk("guide", 8, 900, 910, "Ask early."), Chunk("guide", 9, 920, 930, "Ask early.")]
    for snippet in ("Ask early.", ""):
        hit = TraceHit(rank=1, chunk_id="0b5c", doc_id="guide", score=0.9, snippet=snippet)
        assert fault([hit, WHOLE[2]], chunks=[*WHOLE, *twice]).kind == "healthy"


def test_redacted_snippets_do_not_make_the_index_look_stale():
    hits = [
        TraceHit(rank=i, chunk_id=c.chunk_id, doc_id=c.doc_id, score=0.5, snippet="[redacted]")
        for i, c in enumerate([WHOLE[1], WHOLE[2]], 1)
    ]
    analysis = analyze([trace(hits)], ask(RETRY), chunks=WHOLE)
    assert analysis.questions[0].spans[0].fault.kind == "healthy"
    assert "redacted" in analysis.notes[0]


def test_documents_that_the_chunks_were_not_cut_from_are_not_used_against_them():
    analysis = analyze(
        [trace([WHOLE[2]])],
        EvalSet.from_items(
            [{"query": "q", "question_id": "q", "expected_chunk_ids": ["guide#c2"]}]
        ),
        chunks=WHOLE,
        documents={"guide": "<p>" + GUIDE.replace(" ", "&nbsp;")},
    )
    assert analysis.questions[0].spans[0].fault.kind == "healthy"
    assert "not the texts the chunks were cut from" in analysis.notes[0]
