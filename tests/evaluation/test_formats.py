import gzip
import json

import pytest

from ragtrace.evaluation import (
    EvalSet,
    load_eval_set,
    load_qrels,
    read_run,
    run_text,
    write_eval_set,
)
from ragtrace.tracing.schema import Trace, TraceHit

BY_ID = EvalSet.from_items(
    [
        {"query": "Who, and why?", "question_id": "a", "expected_chunk_ids": ["d#c1", "e#c0"]},
        {"query": "When?", "question_id": "b", "gold": [{"chunk_id": "d#c2", "grade": 2}]},
    ]
)
BY_QUOTE = EvalSet.from_items(
    [
        {"query": "Who?", "gold": [{"quote": "Nobody; really."}], "answer": "Nobody"},
        {"query": "Both?", "gold": [{"quote": 'A "b", c'}, {"quote": "line\nbreak"}]},
    ]
)
BY_SPAN = EvalSet.from_items(
    [
        {
            "query": "Where?",
            "gold": [{"doc_id": "d", "start": 2, "end": 7, "quote": "there"}],
            "must_pass": True,
        },
        {"query": "Unlabelled?"},
    ]
)


def labels(eval_set):
    return {question.query: question.gold for question in eval_set}


ELSEWHERE = {"doc_id": "b", "start": 1, "end": 4, "quote": 'a "b", c'}
WITH_ALTERNATIVES = EvalSet.from_items(
    [
        {
            "query": "Who?",
            "gold": [
                {"doc_id": "a", "quote": "x\ny", "alternatives": [ELSEWHERE, {"quote": "x"}]},
                {"chunk_id": "a#c1", "alternatives": [{"chunk_id": "b#c2"}]},
            ],
        }
    ]
)


@pytest.mark.parametrize("name", ["e.json", "e.jsonl", "e.csv"])
def test_alternatives_survive_our_own_formats(tmp_path, name):
    assert WITH_ALTERNATIVES.questions[0].gold[0].alternatives[0].quote == 'a "b", c'
    write_eval_set(WITH_ALTERNATIVES, tmp_path / name, format=name.partition(".")[2])
    assert load_eval_set(tmp_path / name) == WITH_ALTERNATIVES


@pytest.mark.parametrize("name", ["beir", "trec", "llama-index", "ragas", "langsmith"])
def test_a_format_without_room_for_alternatives_refuses_them(tmp_path, name):
    gold = {"chunk_id": "a#c1", "quote": "x", "alternatives": [ELSEWHERE]}
    eval_set = EvalSet.from_items([{"query": "Who?", "gold": [gold]}])
    with pytest.raises(ValueError, match="alternatives, which this format cannot tell"):
        write_eval_set(eval_set, tmp_path / "out", format=name)


def test_a_quote_that_several_documents_hold_is_one_quote_where_only_quotes_are_kept(tmp_path):
    gold = {"doc_id": "a", "quote": "x", "alternatives": [{"doc_id": "b", "quote": "x"}]}
    eval_set = EvalSet.from_items([{"query": "Who?", "gold": [gold]}])
    write_eval_set(eval_set, tmp_path / "ragas.jsonl", format="ragas")
    (label,) = load_eval_set(tmp_path / "ragas.jsonl").questions[0].gold
    assert label.quote == "x"


@pytest.mark.parametrize("eval_set", [BY_ID, BY_QUOTE, BY_SPAN])
@pytest.mark.parametrize("name", ["e.json", "e.jsonl", "e.csv"])
def test_our_own_formats_give_back_what_was_written(tmp_path, eval_set, name):
    write_eval_set(eval_set, tmp_path / name, format=name.partition(".")[2])
    assert load_eval_set(tmp_path / name) == eval_set


def test_chunk_ids_survive_beir_trec_and_llama_index(tmp_path):
    write_eval_set(BY_ID, tmp_path / "beir", format="beir")
    assert labels(load_eval_set(tmp_path / "beir")) == labels(BY_ID)
    write_eval_set(BY_ID, tmp_path / "qrels.txt", format="trec")
    queries = {question.question_id: question.query for question in BY_ID}
    assert labels(load_qrels(tmp_path / "qrels.txt", queries)) == labels(BY_ID)
    write_eval_set(BY_ID, tmp_path / "qa.json", format="llama-index")
    read = load_eval_set(tmp_path / "qa.json")
    assert [[label.chunk_id for label in question.gold] for question in read] == [
        ["d#c1", "e#c0"],
        ["d#c2"],
    ]


def test_a_llama_index_qa_dataset_is_read_and_written_with_its_own_keys(tmp_path):
    dataset = {
        "queries": {"1f": "Who, and why?"},
        "corpus": {"d#c1": "text"},
        "relevant_docs": {"1f": ["d#c1"]},
        "mode": "text",
    }
    (tmp_path / "theirs.json").write_text(json.dumps(dataset))
    eval_set = load_eval_set(tmp_path / "theirs.json")
    assert eval_set.questions[0].question_id == "1f"
    write_eval_set(eval_set, tmp_path / "ours.json", format="llama-index")
    assert json.loads((tmp_path / "ours.json").read_text()) == dataset | {"corpus": {}}


@pytest.mark.parametrize("tool", ["ragas", "langsmith"])
def test_quotes_survive_rows_of_other_tools(tmp_path, tool):
    write_eval_set(BY_QUOTE, tmp_path / "rows.jsonl", format=tool)
    read = load_eval_set(tmp_path / "rows.jsonl")
    assert labels(read) == labels(BY_QUOTE)
    assert read.questions[0].answer == "Nobody"


def test_a_label_that_a_format_cannot_hold_is_refused_not_lost(tmp_path):
    with pytest.raises(ValueError, match="labelled by a span"):
        write_eval_set(BY_SPAN, tmp_path / "q", format="trec")
    with pytest.raises(ValueError, match="without its quote"):
        write_eval_set(BY_ID, tmp_path / "q", format="ragas")
    with pytest.raises(ValueError, match="unknown format 'xml': choose from json"):
        write_eval_set(BY_ID, tmp_path / "q", format="xml")


def test_chroma_questions_are_read_as_spans(tmp_path):
    reference = json.dumps([{"content": "there", "start_index": 2, "end_index": 7}])
    escaped = reference.replace('"', '""')
    (tmp_path / "questions.csv").write_text(
        f'question,references,corpus_id\nWhere?,"{escaped}",d\n', encoding="utf-8"
    )
    (question,) = load_eval_set(tmp_path / "questions.csv")
    (label,) = question.gold
    assert (label.doc_id, label.start, label.end, label.quote) == ("d", 2, 7, "there")


def test_a_plain_table_needs_only_queries_and_ids(tmp_path):
    (tmp_path / "e.csv").write_text(
        'query,expected_chunk_ids\na,d#c1; d#c2\nb,"[""d#c3""]"\n', encoding="utf-8"
    )
    read = load_eval_set(tmp_path / "e.csv")
    assert [[label.chunk_id for label in question.gold] for question in read] == [
        ["d#c1", "d#c2"],
        ["d#c3"],
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("e.csv", "frage,id\na,b\n", "line 1: needs a column 'query' or 'question', has frage, id"),
        ("e.csv", "query,start\na,x\n", "line 2, field 'start': expected a whole number"),
        ("e.csv", "query\na,b,c\n", "line 2: more values than the header"),
        ("e.csv", "query,expected_chunk_ids\na,[1\n", "line 2, field 'expected_chunk_ids'"),
        ("e.csv", "query,quote,alternatives\na,b,x\n", "line 2, field 'alternatives': not JSON"),
        ("e.csv", "query,alternatives\na,[]\n", "needs 'quote'"),
        ("e.csv", "question,references,corpus_id\na,x,d\n", "line 2, field 'references'"),
        ("e.json", '{"queries": [], "relevant_docs": {}}', "must be objects"),
    ],
)
def test_a_mistake_in_a_foreign_format_names_its_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=name) as caught:
        load_eval_set(tmp_path / name)
    assert message in str(caught.value)


def test_beir_folders_say_what_they_lack(tmp_path):
    with pytest.raises(ValueError, match=r"needs queries\.jsonl"):
        load_eval_set(tmp_path)
    (tmp_path / "queries.jsonl").write_text('{"_id": "a", "text": "Who?"}\n')
    with pytest.raises(ValueError, match="no qrels"):
        load_eval_set(tmp_path)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\na\tx\n")
    with pytest.raises(ValueError, match=r"test\.tsv, line 2"):
        load_eval_set(tmp_path)


def test_judgements_of_grade_zero_are_no_labels(tmp_path):
    (tmp_path / "qrels").write_text("a 0 x 0\na 0 y 1\n")
    (question,) = load_qrels(tmp_path / "qrels", {"a": "Who?"})
    assert [label.chunk_id for label in question.gold] == ["y"]
    with pytest.raises(ValueError, match="no query has the id 'a'"):
        load_qrels(tmp_path / "qrels", {})


def test_compressed_files_and_globs_are_read(tmp_path):
    for number in (1, 2):
        with gzip.open(tmp_path / f"part{number}.json.gz", "wt") as file:
            json.dump([{"query": f"question {number}"}], file)
    assert len(load_eval_set(tmp_path / "part1.json.gz")) == 1
    assert len(load_eval_set(str(tmp_path / "part*.json.gz"))) == 2
    with pytest.raises(ValueError, match="no file matches"):
        load_eval_set(str(tmp_path / "nothing*.json"))
    (tmp_path / "torn.json.gz").write_bytes((tmp_path / "part1.json.gz").read_bytes()[:20])
    with pytest.raises(ValueError, match="damaged"):
        load_eval_set(tmp_path / "torn.json.gz")


def test_a_run_keeps_the_retrievers_own_order_through_trec(tmp_path):
    hits = tuple(
        TraceHit(rank=rank, chunk_id=name, doc_id=None, score=0.5, snippet="")
        for rank, name in enumerate(["z", "a", "z", "m"], 1)
    )
    trace = Trace(id="0", ts=0.0, query="Who?", top_k=4, hits=hits, latency_ms=1.0, question_id="q")
    (tmp_path / "run").write_text(run_text([trace]))
    (read,) = read_run(tmp_path / "run", {"q": "Who?"})
    assert [hit.chunk_id for hit in read.hits] == ["z", "a", "m"]
    (tmp_path / "run").write_text("q Q0 z 1\n")
    with pytest.raises(ValueError, match="line 1: expected 'question Q0 chunk rank score tag'"):
        read_run(tmp_path / "run", {"q": "Who?"})
