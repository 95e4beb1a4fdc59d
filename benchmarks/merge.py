"""What merging neighbours after retrieval buys, and what it costs in context.

Run `python -m benchmarks.merge [--model wordllama|bm25|minilm] [--corpus chroma|fastapi]`.
Every row uses the same hits; `ragtrace.postprocessing.merge_adjacent` is what is measured, with the
documents at hand. "gain" is of gold spans wholly inside one passage, over the hits as they came.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.corpora import Corpus, load_chroma, load_fastapi
from benchmarks.embeddings import load_minilm, load_wordllama
from benchmarks.retrieval import (
    Piece,
    Score,
    Search,
    bm25_search,
    dense_search,
    hits_of,
    interval,
    langchain_recursive,
    llama_index_sentence,
    ragtrace_split,
    score_question,
)
from benchmarks.tokens import use_bundled_tables
from ragtrace.postprocessing import Hit, merge_adjacent


def measure(
    corpus: Corpus, retrieved: Sequence[list[Hit]], fill_gap: int | None
) -> tuple[list[Score], float]:
    """Return a score per question and the milliseconds that merging takes for one."""
    began = time.perf_counter()
    passages: Sequence[Sequence[Hit]] = retrieved
    if fill_gap is not None:
        passages = [
            merge_adjacent(hits, fill_gap=fill_gap, documents=corpus.documents)
            for hits in retrieved
        ]
    took = (time.perf_counter() - began) * 1000 / len(retrieved)
    scores = []
    for question, hits in zip(corpus.questions, passages, strict=True):
        spans = [(str(hit.doc_id), hit.start or 0, hit.end or 0) for hit in hits]
        scores.append(score_question(question, spans, sum(len(hit.text) for hit in hits)))
    return scores, took


def report(name: str, corpus: Corpus, pieces: list[Piece], search: Search, k: int) -> None:
    retrieved = [
        hits_of(pieces, search(question.query, k), corpus) for question in corpus.questions
    ]
    before, _ = measure(corpus, retrieved, None)
    for label, fill_gap in (
        ("as retrieved", None),
        ("merged", 0),
        ("gap of 1", 1),
        ("gap of 2", 2),
    ):
        scores, took = measure(corpus, retrieved, fill_gap)
        gains = [after.whole - score.whole for after, score in zip(scores, before, strict=True)]
        low, high = interval(gains)
        context = sum(score.context for score in scores) / sum(score.context for score in before)
        cells = (
            f"{name}, {label}",
            f"{np.mean([score.recall for score in scores]):.3f}",
            f"{np.mean([score.whole for score in scores]):.3f}",
            f"{np.mean(gains):+.3f} [{low:+.3f}, {high:+.3f}]",
            f"{context:.2f}x",
            "" if fill_gap is None else f"{took:.2f}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=("minilm", "wordllama", "bm25"), default="wordllama")
    parser.add_argument("--corpus", choices=("chroma", "fastapi"), default="chroma")
    parser.add_argument("--size", type=int, default=200, help="tokens (cl100k_base)")
    parser.add_argument("--k", type=int, default=5)
    options = parser.parse_args()
    use_bundled_tables()
    corpus = load_chroma() if options.corpus == "chroma" else load_fastapi()
    loaders = {"minilm": load_minilm, "wordllama": load_wordllama}
    embed = loaders[options.model]() if options.model in loaders else None
    form = "markdown" if options.corpus == "fastapi" else "prose"
    chunkers = {
        "LangChain recursive": langchain_recursive(options.size),
        "LlamaIndex sentence": llama_index_sentence(options.size),
        "ragtrace": ragtrace_split(options.size, format=form),
        "ragtrace, overlap 1": ragtrace_split(options.size, format=form, overlap_sentences=1),
    }
    print(f"{options.corpus}, {len(corpus.questions)} questions, {options.model}, ", end="")
    print(f"{options.size} tokens, top {options.k}")
    print("| hits | token recall | whole spans | gain (95 %) | context | ms a query |")
    print("|---|---|---|---|---|---|")
    for name, chunker in chunkers.items():
        pieces = [p for doc_id, text in corpus.documents.items() for p in chunker(doc_id, text)]
        contents = [piece.content for piece in pieces]
        search = bm25_search(contents) if embed is None else dense_search(contents, embed)
        report(name, corpus, pieces, search, options.k)


if __name__ == "__main__":
    main()
