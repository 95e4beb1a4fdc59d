"""A grid of splitters: every figure from an index that was really built and asked."""

from functools import partial

import pytest

from ragtrace.chunking import split
from ragtrace.evaluation import EvalSet, analyze
from ragtrace.evaluation.statistics import Mean
from ragtrace.evaluation.tuning import Candidate, Trial, rank, tune
from ragtrace.index import Bm25Retriever, read_manifest

DOCUMENTS = {
    "limits": "Requests time out after five seconds. The limit can be set per client or route.",
    "retries": "A retry waits twice as long as the one before. After four the client gives up.",
}
QUESTIONS = EvalSet.from_items(
    [
        {
            "query": "How long does a retry wait?",
            "gold": [{"quote": "A retry waits twice as long as the one before."}],
        },
        {
            "query": "When does a request time out?",
            "gold": [{"quote": "Requests time out after five seconds."}],
        },
    ]
)


def cut(size, doc_id, text):
    return split(text, chunk_size=size, length="words", doc_id=doc_id)


def grid(*sizes):
    return {
        Candidate(splitter="sentence-aligned", chunk_size=size, length="words"): partial(cut, size)
        for size in sizes
    }


def test_every_trial_is_built_asked_and_kept(tmp_path):
    tuning = tune(DOCUMENTS, QUESTIONS, grid(4, 10), folder=tmp_path, k=2)
    whole, cut_up = tuning.trials
    assert (whole.candidate.chunk_size, whole.whole_recall.value, whole.is_best) == (10, 1.0, True)
    assert (cut_up.candidate.chunk_size, cut_up.whole_recall.value) == (4, 0.0)
    assert whole.growth == 1.0
    assert whole.index_length == sum(len(text.split()) for text in DOCUMENTS.values())
    chunks = read_manifest(tmp_path / f"{whole.fingerprint}.chunks.jsonl").chunks
    assert len(chunks) == whole.chunks == 4
    traces = tmp_path / f"{whole.fingerprint}.traces.jsonl"
    again = analyze(traces, QUESTIONS, chunks=chunks, documents=DOCUMENTS, k=2)
    assert again.metrics["whole_recall"] == whole.whole_recall
    assert again.context_characters.value == whole.context_characters


def test_an_interrupted_grid_goes_on_where_it_was(tmp_path):
    started = []

    def stop_at_the_second(candidate):
        started.append(candidate.chunk_size)
        if len(started) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(DOCUMENTS, QUESTIONS, grid(4, 10), folder=tmp_path, on_trial=stop_at_the_second)
    assert tune(DOCUMENTS, QUESTIONS, grid(4, 10), folder=tmp_path).reused == 1
    assert tune(DOCUMENTS, QUESTIONS, grid(4, 10), folder=tmp_path).reused == 2
    assert tune(DOCUMENTS, QUESTIONS, grid(4, 10), folder=tmp_path, again=True).reused == 0


def test_a_trial_is_of_these_documents_questions_and_settings(tmp_path):
    first = EvalSet(questions=QUESTIONS.questions[:1])
    tune(DOCUMENTS, QUESTIONS, grid(10), folder=tmp_path)
    changed = DOCUMENTS | {"limits": "Requests time out after six seconds."}
    assert tune(changed, QUESTIONS, grid(10), folder=tmp_path).trials[0].stale == 1
    assert tune(DOCUMENTS, first, grid(10), folder=tmp_path).reused == 0
    assert tune(DOCUMENTS, QUESTIONS, grid(10), folder=tmp_path, k=3).reused == 0
    other = tune(DOCUMENTS, QUESTIONS, grid(10), folder=tmp_path, retriever_name="mine")
    assert other.reused == 0
    (tmp_path / f"{other.trials[0].fingerprint}.trial.json").write_text("{torn")
    repaired = tune(DOCUMENTS, QUESTIONS, grid(10), folder=tmp_path, retriever_name="mine")
    assert repaired.reused == 0
    assert repaired.trials[0].whole_recall == other.trials[0].whole_recall


def test_a_retriever_of_ones_own_is_asked_and_its_failures_are_counted(tmp_path):
    asked = []

    def build(chunks):
        def search(query, top_k):
            asked.append(top_k)
            if "retry" in query:
                raise RuntimeError("down")
            return Bm25Retriever(chunks).search(query, top_k)

        return search

    (trial,) = tune(DOCUMENTS, QUESTIONS, grid(10), folder=tmp_path, k=2, retriever=build).trials
    assert asked == [4, 4]
    assert trial.failed == 1
    assert trial.whole_recall.value == 0.5


def trial_of(whole, context, size):
    mean = Mean(value=whole, low=0.0, high=1.0, count=10)
    return Trial(
        candidate=Candidate(splitter="s", chunk_size=size),
        fingerprint="",
        chunks=1,
        index_length=size,
        growth=1.0,
        recall=mean,
        whole_recall=mean,
        context_characters=context,
        latency_ms={},
        failed=0,
        stale=0,
    )


def test_those_come_first_that_no_other_beats():
    good, cheap, beaten = trial_of(0.9, 900, 9), trial_of(0.5, 100, 8), trial_of(0.8, 950, 9)
    ranked = rank([beaten, cheap, good])
    assert [trial.candidate.chunk_size for trial in ranked] == [9, 8, 9]
    assert [trial.is_best for trial in ranked] == [True, True, False]
    assert not good.beats(good)
    assert [trial.is_best for trial in rank([good, good])] == [True, True]


def test_what_cannot_be_tuned_is_said(tmp_path):
    by_id = EvalSet.from_items([{"query": "Who?", "expected_chunk_ids": ["limits#c0"]}])
    unlabelled = EvalSet.from_items([{"query": "Who?"}])
    for documents, questions, named in (
        (DOCUMENTS, by_id, "by a quote"),
        (DOCUMENTS, unlabelled, "nothing to tune for"),
        ({"a": " "}, QUESTIONS, "no document"),
    ):
        with pytest.raises(ValueError, match=named):
            tune(documents, questions, grid(10), folder=tmp_path)
