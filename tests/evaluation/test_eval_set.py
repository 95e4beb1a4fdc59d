import json

import pytest

from ragtrace.evaluation import EvalSet, GoldSpan, load_eval_set, normalize_query


def write(tmp_path, name, value):
    path = tmp_path / name
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_minimal_form_is_a_list_of_queries_with_chunk_ids(tmp_path):
    path = write(tmp_path, "e.json", [{"query": "Who?", "expected_chunk_ids": ["d#c1", "d#c1"]}])
    (question,) = load_eval_set(path)
    assert question.query == "Who?"
    assert question.gold == (GoldSpan(chunk_id="d#c1"),)


def test_the_lasting_form_keeps_span_quote_answer_and_must_pass(tmp_path):
    item = {
        "query": "When?",
        "question_id": "q7",
        "answer": "Monday",
        "must_pass": True,
        "gold": [
            {"doc_id": "d", "start": 3, "end": 9, "quote": "Monday"},
            {"doc_id": "d", "quote": "On … Monday"},
            {"chunk_id": "d#c0"},
        ],
    }
    path = write(tmp_path, "e.jsonl", json.dumps(item) + "\n\n")
    (question,) = load_eval_set(path)
    assert (question.question_id, question.answer, question.must_pass) == ("q7", "Monday", True)
    assert [label.has_span for label in question.gold] == [True, False, False]


def test_the_default_id_depends_on_the_words_alone():
    first = EvalSet.from_items([{"query": "How do I\ninstall it?"}])
    second = EvalSet.from_items([{"query": "x"}, {"query": "  how do i INSTALL it? "}])
    assert first.questions[0].question_id == second.questions[1].question_id
    assert first.questions[0].question_id != second.questions[0].question_id


def test_a_repeated_question_is_reported_and_counted_once_with_all_its_labels():
    eval_set = EvalSet.from_items(
        [
            {"query": "two", "expected_chunk_ids": ["d#1"]},
            {"query": "Two\n\n", "expected_chunk_ids": ["e#1", "d#1"]},
        ]
    )
    assert eval_set.duplicates == ("Two\n\n",)
    assert [label.chunk_id for label in eval_set.questions[0].gold] == ["d#1", "e#1"]


def test_repeated_queries_with_ids_of_their_own_stay_apart_but_are_reported():
    items = [{"query": "two", "question_id": name} for name in ("a", "b")]
    eval_set = EvalSet.from_items(items)
    assert len(eval_set) == 2
    assert eval_set.duplicates == ("two",)


def test_questions_without_labels_are_named():
    eval_set = EvalSet.from_items([{"query": "a", "question_id": "a"}])
    assert eval_set.unlabelled == ("a",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "e.json: the file is empty"),
        ("not json", "e.json, line 1: not JSON"),
        ('{"query": "a"}\n{"query": ', "e.json, line 2: not JSON"),
        ("[1]", "e.json, item 1: expected an object with 'query', got 1"),
        ("3", "e.json: expected a JSON list"),
        ('[{"query": "a"}, {"question": 3}]', "item 2, field 'query': expected a text"),
        ('[{"expected_chunk_ids": ["a"]}]', "item 1, field 'query': missing"),
        ('[{"query": " "}]', "item 1, field 'query': expected a text that is not empty"),
        ('[{"query": "a", "expected_chunk_ids": "b"}]', "field 'expected_chunk_ids': expected a"),
        ('[{"query": "a", "expected_chunk_ids": [null]}]', "item 1, field 'expected_chunk_ids'"),
        ('[{"query": "a", "expected_chunk_id": ["b"]}]', "did you mean 'expected_chunk_ids'"),
        ('[{"query": "a", "must_pass": "yes"}]', "field 'must_pass': expected true or false"),
        ('[{"query": "a", "gold": [{}]}]', "item 1, gold 1: needs 'quote', 'chunk_id'"),
        (
            '[{"query": "a", "gold": [{"doc_id": "d", "start": 1}]}]',
            "'start' and 'end' go together",
        ),
        ('[{"query": "a", "gold": [{"start": 1, "end": 2}]}]', "field 'doc_id': missing"),
        ('[{"query": "a", "gold": [{"doc_id": "d", "start": 5, "end": 5}]}]', "0 <= start < end"),
        ('[{"query": "a", "gold": [{"doc_id": "d", "start": "1", "end": 2}]}]', "a whole number"),
        (
            '[{"query": "a", "question_id": "x"}, {"query": "b", "question_id": "x"}]',
            "item 2, field 'question_id': 'x' already names another question",
        ),
    ],
)
def test_a_mistake_names_file_item_and_field(tmp_path, text, message):
    path = write(tmp_path, "e.json", text)
    with pytest.raises(ValueError, match=r"e\.json") as caught:
        load_eval_set(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "e.json"
    path.write_bytes('[{"query": "é"}]'.encode("latin-1"))
    with pytest.raises(ValueError, match="not UTF-8"):
        load_eval_set(path)


def test_a_byte_order_mark_and_line_separators_inside_strings_do_no_harm(tmp_path):
    path = tmp_path / "e.jsonl"
    path.write_text('\ufeff{"query": "a\u2028b"}\n', encoding="utf-8")
    assert load_eval_set(path).questions[0].query == "a\u2028b"


def test_queries_compare_without_case_and_white_space():
    assert normalize_query("What\tis  IT?\n\n") == normalize_query("what is it?")
    assert normalize_query("what is it") != normalize_query("what was it")


@pytest.mark.parametrize("key", ["expected", "relevant_ids", "Label", "chunks"])
def test_a_field_that_was_meant_for_labels_is_not_passed_over(key):
    with pytest.raises(ValueError, match="labels go into 'gold' or 'expected_chunk_ids'"):
        EvalSet.from_items([{"query": "q", key: ["a#c0"]}])
