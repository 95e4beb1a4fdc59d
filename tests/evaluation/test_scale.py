import random
import time
import tracemalloc

import pytest

from benchmarks.analysis import measure
from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, GoldSpan, Question, TraceCollector, analyze
from tests.evaluation.making import trace


def test_memory_does_not_grow_with_the_number_of_traces():
    eval_set = EvalSet.from_items([{"query": "question a", "expected_chunk_ids": ["a#c0"]}])
    collector = TraceCollector(eval_set, k=5)
    rng = random.Random(5)

    def feed(count):
        for _ in range(count):
            collector.add(
                trace(
                    ["a#c0", "b#c1"],
                    query=f"question {rng.choice('abcdef')}",
                    question_id=None,
                    ts=rng.random(),
                    latency_ms=rng.expovariate(0.1) + 0.1,
                )
            )

    feed(3000)
    tracemalloc.start()
    feed(500)
    before, _ = tracemalloc.get_traced_memory()
    feed(6000)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert collector.counts.read == 9500
    assert after - before < 100_000


@pytest.mark.slow
def test_a_long_file_is_read_and_analysed_in_little_memory(tmp_path):
    costs = measure(tmp_path, lines=30_000, rounds=1)
    assert {cost.count for cost in costs.values()} == {30_000}
    assert max(cost.memory for cost in costs.values()) <= 100 << 20
    assert costs["read"].seconds < 2 * costs["bare"].seconds


@pytest.mark.slow
def test_five_hundred_questions_over_a_hundred_thousand_chunks_take_seconds():
    rng = random.Random(2)
    words = [f"word{number}" for number in range(5000)]
    documents, chunks = {}, []
    for number in range(1000):
        text = ""
        for index in range(100):
            piece = " ".join(rng.choices(words, k=60)) + "."
            chunks.append(Chunk(f"d{number}", index, len(text), len(text) + len(piece), piece))
            text += piece + " "
        documents[f"d{number}"] = text
    questions, traces = [], []
    for number in range(500):
        chunk = rng.choice(chunks)
        start = chunk.start + 50
        gold = GoldSpan(
            doc_id=chunk.doc_id,
            start=start,
            end=start + 150,
            quote=documents[chunk.doc_id][start : start + 150],
        )
        questions.append(Question(question_id=str(number), query=f"q{number}", gold=(gold,)))
        hits = rng.sample(chunks, 20)
        hits[number % 20] = chunk
        traces.append(trace(hits, name=str(number)))
    started = time.perf_counter()
    analysis = analyze(
        traces, EvalSet(questions=tuple(questions)), chunks=chunks, documents=documents
    )
    assert time.perf_counter() - started < 10
    assert analysis.verdicts["whole"] == 125
