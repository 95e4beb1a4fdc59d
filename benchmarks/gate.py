"""How often the gate's drop rule alarms: when nothing changed, and when recall really fell.

Run `python -m benchmarks.gate [--rounds 1000]`. Two BM25 indexes over the same documents, cut
differently, are asked the same questions, so that a fifth to a quarter of the questions have
another recall@5. Of these, n are drawn, and for each it is tossed up which of its two values is
"before" and which "after": what changed is then chance alone. A real drop of d points loses
questions that "after" had found, each with the same probability, until d points are gone on
average. The demand is at most 5 % of false alarms; they get five times as many rounds, as 1000
leave an error of .7 points.
"""

import argparse
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.corpora import Corpus, load_chroma
from benchmarks.retrieval import Chunker, langchain_recursive, ragtrace_split
from benchmarks.tokens import use_bundled_tables
from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, GateLimits, analyze, run_eval
from ragtrace.evaluation.gate import is_drop
from ragtrace.evaluation.paired import compare_pairs
from ragtrace.index import Bm25Retriever

COUNTS = (20, 30, 50)
DROPS = (0.0, 0.05, 0.10, 0.20)
K = 5
FALSE_ALARMS = 0.05


def alarm_rate(
    one: Sequence[float],
    other: Sequence[float],
    *,
    count: int,
    drop: float,
    rounds: int,
    limits: GateLimits,
    seed: int = 1,
) -> float:
    """Return how often the drop rule alarms over `count` questions that lost `drop` on average."""
    assert limits.max_drop is not None
    random = np.random.default_rng(seed)
    values = np.array([one, other], dtype=float)
    lost = drop / values.mean()
    alarms = 0
    for _ in range(rounds):
        chosen = random.choice(values.shape[1], count, replace=False)
        first = random.integers(0, 2, count)
        before, after = values[first, chosen], values[1 - first, chosen]
        after = np.where(random.random(count) < lost, 0.0, after)
        difference = compare_pairs(before.tolist(), after.tolist())
        alarms += is_drop(difference, limits.max_drop, limits.alpha)
    return alarms / rounds


def recalls(corpus: Corpus, eval_set: EvalSet, chunker: Chunker) -> list[float]:
    """Return the recall@k of every question under BM25 over chunks of one kind."""
    chunks = [
        Chunk(doc_id, piece.index, piece.start, piece.end, text[piece.start : piece.end])
        for doc_id, text in corpus.documents.items()
        for piece in chunker(doc_id, text)
    ]
    with tempfile.TemporaryDirectory() as folder:
        traces = Path(folder) / "traces.jsonl"
        run_eval(Bm25Retriever(chunks), eval_set, top_k=K, trace_path=traces)
        analysis = analyze(traces, eval_set, chunks=chunks, documents=corpus.documents, k=K)
    return [question.metrics["recall"] for question in analysis.questions]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    rounds = parser.parse_args().rounds
    use_bundled_tables()
    logging.disable(logging.DEBUG)  # bm25s tells of every index it builds
    corpus = load_chroma()
    eval_set = corpus.eval_set()
    small, large = langchain_recursive(150), langchain_recursive(300)
    short, long = ragtrace_split(150), ragtrace_split(250)
    pairs = (
        ("recursive 150 | recursive 200", small, langchain_recursive(200)),
        ("sentences 150 | sentences 250", short, long),
        ("recursive 300 | sentences 150", large, short),
    )
    limits = GateLimits()
    worst = 0.0
    print(
        f"alarms of the drop rule (more than {limits.max_drop} and p < {limits.alpha}), {rounds}"
        f" rounds each\n\n{'two indexes':32}{'changed':>9}{'n':>4}{'nothing':>9}"
        + "".join(f"{f'-{100 * drop:.0f} points':>12}" for drop in DROPS[1:])
    )
    for name, first, second in pairs:
        one, other = recalls(corpus, eval_set, first), recalls(corpus, eval_set, second)
        changed = np.mean(np.array(one) != np.array(other))
        for count in COUNTS:
            false, *found = (
                alarm_rate(
                    one,
                    other,
                    count=count,
                    drop=drop,
                    rounds=rounds if drop else 5 * rounds,
                    limits=limits,
                )
                for drop in DROPS
            )
            worst = max(worst, false)
            print(
                f"{name:32}{changed:>9.1%}{count:>4}{false:>9.1%}"
                + "".join(f"{share:>12.0%}" for share in found),
                flush=True,
            )
    print(f"\nmost false alarms: {worst:.1%} (at most {FALSE_ALARMS:.0%})")


if __name__ == "__main__":
    main()
