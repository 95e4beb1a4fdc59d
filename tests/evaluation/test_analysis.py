import json

import msgspec
import pytest

from ragtrace.evaluation import EvalSet, TraceCollector, analyze, analyze_collected
from ragtrace.tracing import TraceError, TraceWriter
from tests.evaluation.making import GUIDE, ask, cut, trace

TWO = EvalSet.from_items(
    [
        {"query": "How long?", "question_id": "long", "expected_chunk_ids": ["a#c1"]},
        {"query": "How often?", "question_id": "often", "expected_chunk_ids": ["b#c2", "a#c0"]},
    ]
)


def recall(analysis, name):
    return analysis.question(name).metrics["recall"]


def test_traces_are_joined_by_question_id_before_query():
    traces = [trace(["a#c1"], name="long", query="rewritten by the chain")]
    assert recall(analyze(traces, TWO), "long") == 1.0


def test_traces_without_an_id_are_joined_by_the_query_whatever_its_white_space_and_case():
    traces = [trace(["a#c1"], query="how LONG?\n\n", question_id=None)]
    assert recall(analyze(traces, TWO), "long") == 1.0


def test_what_joins_no_question_is_counted_and_shown():
    analysis = analyze([trace(["a#c1"], query="Why?", question_id=None)], TWO)
    assert analysis.traces.unjoined == 1
    assert analysis.traces.unjoined_examples == ("Why?",)
    assert analysis.untraced == ("long", "often")


def test_of_several_traces_of_a_question_the_latest_counts_in_any_order():
    early, late = trace(["x#c0"], name="long", ts=1.0), trace(["a#c1"], name="long", ts=2.0)
    for traces in ([early, late], [late, early]):
        analysis = analyze(traces, TWO)
        assert recall(analysis, "long") == 1.0
        assert analysis.traces.superseded == 1


@pytest.mark.parametrize("stage", [None, "merged"])
def test_retrievals_inside_another_are_left_out(stage):
    inner = trace(["x#c0"], name="long", ts=2.0, stage=stage, parent_id="outer")
    analysis = analyze([trace(["a#c1"], name="long", ts=1.0), inner], TWO)
    assert recall(analysis, "long") == 1.0
    assert analysis.traces.inner == 1


def test_the_merged_stage_counts_unless_the_retrieved_one_is_asked_for():
    traces = [
        trace(["x#c0"], name="long", ts=1.0),
        trace(["a#c1"], name="long", ts=1.0, stage="merged"),
    ]
    assert recall(analyze(traces, TWO), "long") == 1.0
    assert recall(analyze(traces, TWO, stage="retrieved"), "long") == 0.0


def test_one_run_of_several_can_be_chosen():
    traces = [
        trace(["a#c1"], name="long", ts=1.0, run="before"),
        trace(["x#c0"], name="long", ts=2.0, run="after"),
    ]
    assert recall(analyze(traces, TWO, run="before"), "long") == 1.0
    assert recall(analyze(traces, TWO), "long") == 0.0


def test_hits_count_in_the_order_of_their_ranks_and_only_the_first_k():
    from ragtrace.tracing import TraceHit

    hits = [
        TraceHit(rank=rank, chunk_id=name, doc_id=None, score=None, snippet="")
        for rank, name in ((3, "a#c1"), (1, "x#c0"), (2, "x#c1"))
    ]
    traces = [trace(hits, name="long")]
    assert recall(analyze(traces, TWO, k=2), "long") == 0.0
    analysis = analyze(traces, TWO, k=3)
    assert recall(analysis, "long") == 1.0
    assert analysis.question("long").metrics["reciprocal_rank"] == pytest.approx(1 / 3)


def test_a_failed_retrieval_is_empty_and_scores_zero():
    failed = trace([], name="long", error=TraceError(type="Timeout", message="5 s"))
    analysis = analyze([failed], TWO)
    assert set(analysis.question("long").metrics.values()) == {0.0}
    assert "1 retrievals failed and count as empty" in analysis.notes


def test_questions_without_labels_or_traces_are_named_not_scored():
    eval_set = EvalSet.from_items([{"query": "a", "question_id": "a"}, *map(_item, TWO)])
    analysis = analyze([trace([], name="a"), trace(["a#c1"], name="long")], eval_set)
    assert analysis.unlabelled == ("a",)
    assert analysis.untraced == ("often",)
    assert analysis.metrics["recall"].count == 1


def _item(question):
    return msgspec.to_builtins(question)


def test_misses_are_counted_per_document():
    analysis = analyze([trace(["a#c1"], name="often"), trace(["b#c1"], name="long")], TWO)
    by_document = {one.doc_id: one for one in analysis.documents}
    assert (by_document["a"].labels, by_document["a"].misses) == (2, 2)
    assert (by_document["a"].adjacent_misses, by_document["b"].sibling_misses) == (1, 0)
    assert analysis.documents[0].doc_id == "a"


def test_faults_are_ranked_by_the_questions_they_cost():
    chunks = [*cut(GUIDE, 38, 71, doc_id="guide"), *cut(GUIDE, 38, 71, doc_id="b")]
    eval_set = EvalSet(
        questions=ask("The limit can be set per client.", name="x").questions
        + ask("Requests time out after five seconds.", name="y").questions
        + ask("time out", name="z").questions
    )
    traces = [trace([], name="x"), trace([], name="y"), trace([chunks[0]], name="z")]
    analysis = analyze(traces, eval_set, chunks=chunks)
    assert [(one.kind, one.lost_questions) for one in analysis.faults] == [
        ("ranked-low", ("x", "y")),
        ("healthy", ()),
    ]
    assert [question.question_id for question in analysis.lost] == ["x", "y"]


def test_ids_of_another_index_are_noticed():
    eval_set = EvalSet.from_items([{"query": "How?", "expected_chunk_ids": ["guide.md"]}])
    analysis = analyze(
        [trace(["guide#c0"], query="How?", question_id=None)], eval_set, chunks=cut(GUIDE, 38)
    )
    assert "are these ids of documents, or of another index?" in analysis.notes[0]
    analysis = analyze([trace(["guide#c0"], query="How?", question_id=None)], eval_set)
    assert "are these ids of this index?" in analysis.notes[0]


def test_a_top_k_below_k_is_noticed():
    analysis = analyze([trace(["a#c1"], name="long", top_k=3)], TWO, k=5)
    assert "asked for fewer than 5 hits" in analysis.notes[0]


def test_text_metrics_are_left_out_where_nothing_says_where_hits_lie():
    eval_set = ask("The limit can be set per client.")
    assert "text_recall" not in analyze([trace(["guide#c0"])], eval_set).metrics
    placed = analyze([trace(cut(GUIDE, 54)[:1])], eval_set).metrics
    assert placed["text_recall"].value == pytest.approx(0.5)
    assert placed["text_precision"].value == pytest.approx(16 / 54, abs=0.01)


def test_the_context_is_measured_in_characters():
    chunks = cut(GUIDE, 38)
    analysis = analyze([trace(chunks)], ask("five seconds"))
    assert analysis.context_characters.value == sum(len(chunk.text) for chunk in chunks)


def test_an_analysis_is_json_as_it_is():
    chunks = cut(GUIDE, 38)
    analysis = analyze([trace(chunks)], ask("five seconds"), chunks=chunks)
    value = json.loads(msgspec.json.encode(analysis))
    assert value["questions"][0]["spans"][0]["finding"]["verdict"] == "whole"
    assert value["inputs"] == ["traces", "labels", "chunks"]


def test_files_paths_and_parts_give_the_same_analysis(tmp_path):
    traces = [trace(["a#c1"], name="long", ts=1.0), trace(["a#c0"], name="often", ts=2.0)]
    paths = []
    for number, one in enumerate(traces):
        paths.append(tmp_path / f"{number}.jsonl")
        with TraceWriter(paths[-1]) as writer:
            writer.write(one)
    expected = analyze(traces, TWO)
    assert analyze(paths, TWO) == expected
    assert analyze(tmp_path, TWO) == expected
    parts = [TraceCollector(TWO, k=5) for _ in traces]
    for part, one in zip(parts, traces, strict=True):
        part.add(one)
    parts[0].merge(parts[1])
    assert analyze_collected(parts[0], TWO) == expected


def test_torn_lines_are_skipped_and_counted(tmp_path):
    path = tmp_path / "traces.jsonl"
    with TraceWriter(path) as writer:
        writer.write(trace(["a#c1"], name="long"))
    with path.open("a") as file:
        file.write('{"schema":"ragtrace/1","id":')
    analysis = analyze(path, TWO)
    assert analysis.traces.skipped == 1
    assert recall(analysis, "long") == 1.0


def test_no_traces_at_all_give_an_empty_analysis():
    analysis = analyze([], TWO)
    assert analysis.metrics["recall"].count == 0
    assert analysis.misses.total == 0
    assert analysis.untraced == ("long", "often")


def test_an_impossible_k_is_refused():
    with pytest.raises(ValueError, match="k must be"):
        analyze([], TWO, k=0)
