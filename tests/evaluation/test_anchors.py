from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, anchor
from ragtrace.evaluation.anchors import find_quote

POLICY = (
    "Leave.\n\nEvery employee has thirty days of leave each year, counted from the day of "
    "joining, and may carry five of them over to the next. Ask early.\n\nAsk early."
)


def anchored(gold, **sources):
    result = anchor(EvalSet.from_items([{"query": "q", "gold": [gold]}]), **sources)
    return result.eval_set.questions[0].gold[0], [problem.kind for problem in result.problems]


def test_a_quote_is_found_exactly():
    label, problems = anchored({"doc_id": "p", "quote": "thirty days"}, documents={"p": POLICY})
    assert POLICY[label.start : label.end] == "thirty days"
    assert not problems


def test_a_quote_is_found_whatever_its_white_space():
    label, problems = anchored(
        {"quote": "Leave.  Every\nemployee"}, documents={"other": "x", "p": POLICY}
    )
    assert POLICY[label.start : label.end] == "Leave.\n\nEvery employee"
    assert label.doc_id == "p"
    assert not problems


def test_a_quote_is_found_by_its_first_and_last_words():
    for dots in ("…", "...", "[…]"):
        quote = f"Every employee has {dots} over to the next."
        label, problems = anchored({"doc_id": "p", "quote": quote}, documents={"p": POLICY})
        assert POLICY[label.start : label.end].startswith("Every employee")
        assert POLICY[label.start : label.end].endswith("over to the next.")
        assert not problems


def test_a_passage_whose_middle_was_edited_is_found_but_reported():
    edited = POLICY.replace("the day of joining", "the first of May")
    quote = POLICY[8 : POLICY.index(" Ask")]
    label, problems = anchored({"doc_id": "p", "quote": quote}, documents={"p": edited})
    assert problems == ["edited"]
    assert "first of May" in edited[label.start : label.end]


def test_a_quote_found_twice_is_reported_never_guessed():
    label, problems = anchored({"doc_id": "p", "quote": "Ask early."}, documents={"p": POLICY})
    assert problems == ["ambiguous"]
    assert not label.has_span


def test_a_quote_that_is_gone_and_an_unknown_document_are_reported():
    assert anchored({"doc_id": "p", "quote": "forty"}, documents={"p": POLICY})[1] == ["missing"]
    assert anchored({"doc_id": "x", "quote": "a"}, documents={"p": POLICY})[1] == [
        "unknown-document"
    ]
    span = {"doc_id": "p", "start": 5000, "end": 5005}
    assert anchored(span, documents={"p": POLICY})[1] == ["missing"]


def test_a_span_whose_passage_moved_moves_with_it():
    gold = {"doc_id": "p", "start": 0, "end": 11, "quote": "thirty days"}
    label, problems = anchored(gold, documents={"p": POLICY})
    assert POLICY[label.start : label.end] == "thirty days"
    assert not problems


def test_chunk_ids_become_spans_of_the_manifest_they_were_made_for():
    chunks = [Chunk("p", 0, 0, 6, POLICY[:6]), Chunk("p", 1, 8, 30, POLICY[8:30])]
    label, _ = anchored({"chunk_id": "p#1"}, chunks=chunks)
    assert (label.doc_id, label.start, label.end, label.quote) == ("p", 8, 30, POLICY[8:30])
    assert anchored({"chunk_id": "p#9"}, chunks=chunks)[1] == ["unknown-chunk"]
    assert not anchored({"chunk_id": "p#9"}, chunks=chunks, ids=False)[1]


def test_quotes_are_found_in_documents_pieced_together_from_chunks():
    chunks = [Chunk("p", 0, 0, 6, POLICY[:6]), Chunk("p", 1, 8, 42, POLICY[8:42])]
    label, problems = anchored({"quote": "Leave. Every employee"}, chunks=chunks)
    assert (label.start, label.end) == (0, 22)
    assert not problems


def test_without_anything_to_look_in_labels_stay_as_they_are():
    label, problems = anchored({"quote": "anything"})
    assert label.quote == "anything"
    assert not problems


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="ab \n.…[(", min_size=1, max_size=60), st.data())
def test_every_part_of_a_text_is_found_where_it_is(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    if not quote.strip():
        return
    stripped = start + len(quote) - len(quote.lstrip()), start + len(quote.rstrip())
    spans, by_edges = find_quote(text, quote)
    assert not by_edges
    assert all(text[first:last] == quote.strip() for first, last in spans)
    # Overlapping repetitions are found once from the left.
    assert any(first <= stripped[0] < last for first, last in spans)


def test_a_quote_of_no_document_in_particular_may_stand_in_several():
    copy = "Foreword.\n\n" + POLICY
    label, problems = anchored({"quote": "thirty days"}, documents={"p": POLICY, "copy": copy})
    places = [(one.doc_id, one.start) for one in (label, *label.alternatives)]
    assert places == [("p", POLICY.index("thirty")), ("copy", copy.index("thirty"))]
    assert not problems


def test_a_quote_that_one_document_holds_twice_stays_ambiguous():
    _, problems = anchored({"quote": "Ask early."}, documents={"p": POLICY, "x": "Ask early."})
    assert problems == ["ambiguous"]
