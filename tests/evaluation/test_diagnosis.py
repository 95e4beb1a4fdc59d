"""Faults planted into a clean index over real documents are named, and nothing else is."""

from collections import Counter
from pydoc_data.topics import topics

import pytest
from langchain_text_splitters import RecursiveCharacterTextSplitter

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, GoldSpan, Question, analyze
from ragtrace.index import Bm25Retriever
from tests.evaluation.planting import (
    Ground,
    Planting,
    diagnose,
    find_passages,
    make_traces,
    plantings,
    without_copies,
)


def search_bm25(texts):
    retriever = Bm25Retriever(
        [Chunk("index", place, 0, len(text), text) for place, text in enumerate(texts)]
    )
    return lambda query, depth: [
        (hit.chunk_index, hit.score) for hit in retriever.search(query, depth)
    ]


def split_recursively(documents, size):
    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0)
    for doc_id, text in documents.items():
        at = 0
        for index, piece in enumerate(splitter.split_text(text)):
            at = text.index(piece, at)
            yield Chunk(doc_id, index, at, at + len(piece), piece)


@pytest.fixture(scope="module")
def ground():
    documents = without_copies(topics)
    return Ground(documents, list(split_recursively(documents, 800)), search_bm25)


def test_planted_faults_are_named(ground):
    named = Counter()
    right = Counter()
    for planting in plantings(ground, rounds=4):
        for planted, span in diagnose(planting):
            named[planted.kind] += 1
            right[planted.kind] += span.fault.kind == planted.kind
    assert len(named) >= 9
    assert sum(named.values()) >= 90
    assert sum(right.values()) >= 0.95 * sum(named.values()), (named, right)
    assert all(right[kind] >= 0.8 * count for kind, count in named.items()), (named, right)


def test_a_clean_index_gets_no_fault_of_the_index_named(ground):
    passages = [one for one in find_passages(ground.documents) if ground.holder(one)][:300]
    questions = tuple(
        Question(
            question_id=f"q{number}",
            query=ground.ask("ranked-low" if number % 3 == 0 else "cut-sentence", passage),
            gold=(
                GoldSpan(
                    doc_id=passage.doc_id,
                    start=passage.start,
                    end=passage.end,
                    quote=ground.documents[passage.doc_id][passage.start : passage.end],
                ),
            ),
        )
        for number, passage in enumerate(passages)
    )
    eval_set = EvalSet(questions=questions)
    clean = Planting(ground)
    analysis = analyze(
        make_traces(clean.entries(), ground.build, eval_set),
        eval_set,
        chunks=clean.manifest(),
        documents=clean.documents(),
    )
    causes = Counter(span.fault.kind for one in analysis.questions for span in one.spans)
    alarms = sum(causes.values()) - causes["healthy"] - causes["ranked-low"]
    assert causes["healthy"] > 150
    assert causes["ranked-low"] > 50
    assert alarms <= 0.02 * sum(causes.values()), causes
