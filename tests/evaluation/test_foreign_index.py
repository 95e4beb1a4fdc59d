"""An index that others built, without ids or offsets, gets the same verdicts as our own."""

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, analyze, run_eval
from ragtrace.index import locate_chunks
from ragtrace.langchain import TracedRetriever
from ragtrace.tracing import Hit
from tests.evaluation.planting import find_passages, without_copies


class WordCounts(Embeddings):
    """Embed a text as the hashed counts of its words."""

    def embed_query(self, text):
        vector = np.zeros(512)
        for word in text.casefold().split():
            vector[sum(map(ord, word)) % 512] += 1
        return (vector / (np.linalg.norm(vector) or 1)).tolist()

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


@pytest.mark.stores
def test_verdicts_do_not_depend_on_who_built_the_index(tmp_path):
    faiss = pytest.importorskip("langchain_community.vectorstores").FAISS
    pytest.importorskip("faiss")
    from pydoc_data.topics import topics

    documents = without_copies(topics)
    splitter = RecursiveCharacterTextSplitter(chunk_size=500, chunk_overlap=0)
    pieces = splitter.create_documents(
        list(documents.values()), [{"source": name} for name in documents]
    )
    store = faiss.from_documents(pieces, WordCounts())
    passages = find_passages(documents)[::4]
    eval_set = EvalSet.from_items(
        {
            "query": documents[one.doc_id][one.start : one.end][:28],
            "gold": [{"doc_id": one.doc_id, "quote": documents[one.doc_id][one.start : one.end]}],
        }
        for one in passages
    )
    traced = TracedRetriever(store.as_retriever(), tmp_path / "live.jsonl")
    run_eval(traced, eval_set, top_k=10, trace_path=tmp_path / "foreign.jsonl")
    located = locate_chunks([piece.page_content for piece in pieces], documents)
    assert not located.unlocated
    foreign = analyze(tmp_path / "foreign.jsonl", eval_set, chunks=located.chunks)

    own_chunks = {}
    for chunk in located.chunks:
        own = Chunk(chunk.doc_id, chunk.index, chunk.start, chunk.end, chunk.text)
        own_chunks[own.text] = own

    def search(query, top_k):
        found = store.similarity_search(query, k=top_k)
        return [Hit(chunk_id=own_chunks[one.page_content].chunk_id, text=one.page_content)
                for one in found]  # fmt: skip

    run_eval(search, eval_set, top_k=10, trace_path=tmp_path / "own.jsonl")
    own = analyze(tmp_path / "own.jsonl", eval_set, chunks=own_chunks.values())
    assert foreign.verdicts == own.verdicts
    assert len(foreign.verdicts) >= 4
    assert [
        (span.finding.verdict, span.finding.rank, span.fault.kind)
        for question in foreign.questions
        for span in question.spans
    ] == [
        (span.finding.verdict, span.finding.rank, span.fault.kind)
        for question in own.questions
        for span in question.spans
    ]
