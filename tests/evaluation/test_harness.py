import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, analyze, run_eval
from ragtrace.index import Bm25Retriever
from ragtrace.tracing import Hit, read_traces

TEXTS = [f"Rule {number} says that {word} is allowed." for number, word in enumerate(
    ("running", "singing", "fishing", "reading", "cooking", "sleeping", "dancing", "painting",
     "swimming", "climbing", "writing", "drawing")
)]  # fmt: skip
CHUNKS = [Chunk("rules", number, 0, len(text), text) for number, text in enumerate(TEXTS)]
EVAL_SET = EvalSet.from_items(
    [
        {"query": "is singing allowed?", "question_id": "sing", "expected_chunk_ids": ["rules#c1"]},
        {"query": "is drawing allowed?", "question_id": "draw", "expected_chunk_ids": ["rules#11"]},
    ]
)


def store():
    documents = [
        Document(id=f"rules#c{number}", page_content=text, metadata={"doc_id": "rules"})
        for number, text in enumerate(TEXTS)
    ]
    return InMemoryVectorStore.from_documents(documents, DeterministicFakeEmbedding(size=8))


def llama_index_retriever():
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.schema import TextNode

    nodes = [TextNode(id_=f"rules#c{number}", text=text) for number, text in enumerate(TEXTS)]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=4))
    return index.as_retriever(similarity_top_k=2)


def test_a_search_retriever_is_asked_for_top_k_and_each_question_is_traced(tmp_path):
    path = tmp_path / "run.jsonl"
    summary = run_eval(Bm25Retriever(CHUNKS), EVAL_SET, top_k=4, trace_path=path, run="first")
    traces = list(read_traces(path))
    assert [trace.question_id for trace in traces] == ["sing", "draw"]
    assert {trace.run for trace in traces} == {"first"}
    assert [trace.top_k for trace in traces] == [4, 4]
    assert [len(trace.hits) for trace in traces] == [4, 4]
    assert (summary.questions, summary.failed, summary.unrecorded) == (2, (), 0)
    assert analyze(path, EVAL_SET, k=1).metrics["recall"].value == 1.0


@pytest.mark.parametrize(
    "retriever",
    [
        lambda query, top_k: TEXTS[:top_k],
        lambda query, k: [({"id": text}, 0.5) for text in TEXTS[:k]],
        lambda question, number: [Hit(chunk_id=text) for text in TEXTS[:number]],
    ],
)
def test_functions_are_asked_by_keyword_or_position(tmp_path, retriever):
    run_eval(retriever, EVAL_SET, top_k=3, trace_path=tmp_path / "run.jsonl")
    assert [len(trace.hits) for trace in read_traces(tmp_path / "run.jsonl")] == [3, 3]


def test_a_langchain_retriever_gets_its_k_for_the_run_only(tmp_path):
    retriever = store().as_retriever(search_kwargs={"k": 2, "filter": None})
    run_eval(retriever, EVAL_SET, top_k=7, trace_path=tmp_path / "run.jsonl")
    first = next(iter(read_traces(tmp_path / "run.jsonl")))
    assert len(first.hits) == 7
    assert first.hits[0].chunk_id.startswith("rules#c")
    assert first.hits[0].doc_id == "rules"
    assert retriever.search_kwargs == {"k": 2, "filter": None}


def test_retrievers_inside_others_and_chains_are_told(tmp_path):
    from langchain_classic.retrievers import EnsembleRetriever

    parts = [store().as_retriever(), store().as_retriever(search_kwargs={"k": 1})]
    for retriever in (
        EnsembleRetriever(retrievers=parts),
        parts[0] | RunnableLambda(lambda documents: documents),
    ):
        path = tmp_path / f"{type(retriever).__name__}.jsonl"
        run_eval(retriever, EVAL_SET, top_k=9, trace_path=path)
        assert all(len(trace.hits) >= 9 for trace in read_traces(path))
    assert [part.search_kwargs for part in parts] == [{}, {"k": 1}]


def test_a_llama_index_retriever_gets_its_k_for_the_run_only(tmp_path):
    retriever = llama_index_retriever()
    run_eval(retriever, EVAL_SET, top_k=6, trace_path=tmp_path / "run.jsonl")
    first = next(iter(read_traces(tmp_path / "run.jsonl")))
    assert len(first.hits) == 6
    assert first.hits[0].chunk_id.startswith("rules#c")
    assert retriever.similarity_top_k == 2


def test_a_traced_retriever_writes_one_record_per_call_into_the_file_of_the_run(tmp_path):
    from ragtrace.langchain import TracedRetriever as LangChainTraced
    from ragtrace.llama_index import TracedRetriever as LlamaIndexTraced
    from ragtrace.tracing import TracedRetriever

    live = tmp_path / "live.jsonl"
    for number, retriever in enumerate(
        (
            TracedRetriever(Bm25Retriever(CHUNKS), live),
            LangChainTraced(store().as_retriever(), live),
            LlamaIndexTraced(llama_index_retriever(), live),
        )
    ):
        path = tmp_path / f"run{number}.jsonl"
        summary = run_eval(retriever, EVAL_SET, top_k=6, trace_path=path, run="r")
        traces = list(read_traces(path))
        assert [trace.question_id for trace in traces] == ["sing", "draw"]
        assert [len(trace.hits) for trace in traces] == [6, 6]
        assert {trace.run for trace in traces} == {"r"}
        assert all(hit.score is not None for trace in traces for hit in trace.hits)
        assert summary.unrecorded == 0
        assert not live.exists()
        assert retriever.tracer.writer.path == live


@pytest.mark.parametrize(
    "retriever", [RunnableLambda(lambda query: []), lambda query: [], object(), "traces.jsonl"]
)
def test_a_retriever_that_cannot_be_told_is_refused(tmp_path, retriever):
    with pytest.raises(ValueError, match="cannot be told how many hits to return"):
        run_eval(retriever, EVAL_SET, trace_path=tmp_path / "run.jsonl")


def test_a_retrieval_that_fails_is_recorded_and_the_run_goes_on(tmp_path):
    def search(query, top_k):
        if "singing" in query:
            raise ConnectionError("no route")
        return []

    summary = run_eval(search, EVAL_SET, trace_path=tmp_path / "run.jsonl")
    assert [(one.question_id, one.error) for one in summary.failed] == [
        ("sing", "ConnectionError: no route")
    ]
    assert summary.empty == ("draw",)
    first, second = read_traces(tmp_path / "run.jsonl")
    assert first.error.type == "ConnectionError"
    assert second.error is None


def test_what_is_no_hit_is_a_failure_with_its_type_named(tmp_path):
    summary = run_eval(
        lambda query, top_k: [{"name": "x"}], EVAL_SET, trace_path=tmp_path / "run.jsonl"
    )
    assert "a dict, has neither an id nor a text" in summary.failed[0].error
    assert summary.unrecorded == 2


def test_a_trace_file_that_cannot_be_written_stops_the_run(tmp_path):
    with pytest.raises(OSError, match="traces cannot be written there"):
        run_eval(Bm25Retriever(CHUNKS), EVAL_SET, trace_path="/dev/full")


def test_progress_is_told_before_each_question(tmp_path):
    seen = []
    run_eval(
        lambda query, top_k: [],
        EVAL_SET,
        trace_path=tmp_path / "run.jsonl",
        on_question=lambda question: seen.append(question.question_id),
    )
    assert seen == ["sing", "draw"]


@pytest.mark.parametrize("wrong", ["eval.json", [{"query": "q"}], None])
def test_what_is_not_an_eval_set_yet_is_refused_with_what_makes_one(wrong, tmp_path):
    for call in (
        lambda: run_eval(lambda query, top_k: [], wrong, trace_path=tmp_path / "t.jsonl"),
        lambda: analyze([], wrong),
    ):
        with pytest.raises(ValueError, match="load_eval_set reads a file"):
            call()
