"""Labels go into the file of an eval set; everything else in it keeps its bytes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.evaluation import GoldSpan, load_eval_set
from ragtrace.evaluation.labelling import add_label, check_writable, remove_label

LABEL = GoldSpan(doc_id="guide.md", start=3, end=8, quote="Größe")
WRITTEN = '[{"doc_id": "guide.md", "start": 3, "end": 8, "quote": "Größe"}]'

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
notes = st.dictionaries(st.sampled_from(["note", "metadata2", "tags", "ok"]), values, max_size=3)


def without_gold(path):
    text = path.read_bytes().decode("utf-8-sig")
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = [json.loads(line) for line in text.split("\n") if line.strip()]
    rows = value if isinstance(value, list) else value.get("questions", [value])
    return [{key: held for key, held in row.items() if key != "gold"} for row in rows]


def test_only_the_labels_of_the_question_change(tmp_path):
    path = tmp_path / "eval.json"
    before = (
        '[\r\n  {"query": "Who?",  "weight": 1.50},\n\n  {\n\t"query": "Why?",\n\t"gold": [ ]}\n]'
    )
    path.write_bytes(before.encode())
    who, why = (question.question_id for question in load_eval_set(path))
    add_label(path, who, LABEL)
    add_label(path, why, LABEL)
    expected = before.replace("1.50}", f'1.50, "gold": {WRITTEN}}}').replace("[ ]", WRITTEN)
    assert path.read_bytes().decode() == expected


def test_a_label_added_to_an_indented_question_is_indented(tmp_path):
    path = tmp_path / "eval.json"
    path.write_text(json.dumps([{"query": "Who?", "ok": True}], indent=2))
    add_label(path, load_eval_set(path).questions[0].question_id, LABEL)
    assert f'\n    "ok": true,\n    "gold": {WRITTEN}\n' in path.read_text(encoding="utf-8")


@settings(max_examples=60)
@given(
    items=st.lists(notes, min_size=1, max_size=4),
    number=st.integers(0, 3),
    indent=st.sampled_from([None, 0, 2]),
    form=st.sampled_from(["list", "lines", "questions", "marked lines"]),
    ascii_only=st.booleans(),
)
def test_what_was_added_can_be_taken_back(
    tmp_path_factory, items, number, indent, form, ascii_only
):
    path = tmp_path_factory.mktemp("eval") / "eval.json"
    rows = [{"query": f"question {at}", **item} for at, item in enumerate(items)]
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    text = {
        "list": json.dumps(rows, indent=indent, ensure_ascii=ascii_only),
        "questions": json.dumps({"name": "x", "questions": rows}, indent=indent),
        "lines": "\n".join(lines),
        "marked lines": "\ufeff" + "\r\n\r\n".join(lines) + "\r\n",
    }[form]
    path.write_bytes(text.encode())
    before = load_eval_set(path)
    chosen = before.questions[number % len(rows)]
    add_label(path, chosen.question_id, LABEL)
    labelled = load_eval_set(path)
    assert [question.gold for question in labelled] == [
        (LABEL,) if question is chosen else () for question in before
    ]
    remove_label(path, chosen.question_id, LABEL)
    assert load_eval_set(path) == before
    assert without_gold(path) == rows


def test_labels_join_those_that_are_there_and_chunk_ids_stay(tmp_path):
    path = tmp_path / "eval.jsonl"
    row = {"query": "Who?", "expected_chunk_ids": ["a#c1"], "gold": [{"quote": "Old one."}]}
    path.write_text(json.dumps(row) + "\n")
    question = load_eval_set(path).questions[0]
    add_label(path, question.question_id, LABEL)
    assert load_eval_set(path).questions[0].gold == (*question.gold, LABEL)


def test_a_file_that_holds_no_questions_of_ours_is_refused_before_anybody_works(tmp_path):
    cases = {
        "eval.csv": "query\nWho?\n",
        "ragas.jsonl": '{"user_input": "Who?"}\n',
        "llama.json": '{"queries": {}, "relevant_docs": {}}',
    }
    for name, text in cases.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=f"{name}.*write_eval_set"):
            check_writable(tmp_path / name)
    (tmp_path / "torn.jsonl").write_text('{"query": "Who?"}\n{"query": ')
    with pytest.raises(ValueError, match=r"torn\.jsonl, line 2: not JSON"):
        check_writable(tmp_path / "torn.jsonl")


def test_a_question_or_label_that_went_meanwhile_is_told_and_nothing_is_written(tmp_path):
    path = tmp_path / "eval.jsonl"
    path.write_text('{"query": "Who?"}\n')
    with pytest.raises(ValueError, match="no question 'q-1' any more"):
        add_label(path, "q-1", LABEL)
    with pytest.raises(ValueError, match="no longer has this label"):
        remove_label(path, load_eval_set(path).questions[0].question_id, LABEL)
    assert path.read_text() == '{"query": "Who?"}\n'
    assert [file.name for file in tmp_path.iterdir()] == ["eval.jsonl"]


def test_a_link_stays_a_link_and_a_private_file_private(tmp_path):
    target, link = tmp_path / "real.jsonl", tmp_path / "eval.jsonl"
    target.write_text('{"query": "Who?"}\n')
    target.chmod(0o600)
    link.symlink_to(target)
    add_label(link, load_eval_set(link).questions[0].question_id, LABEL)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert load_eval_set(target).questions[0].gold == (LABEL,)
