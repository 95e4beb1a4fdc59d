"""Whether causes are named right, the named repairs work, and what-if is true.

Run `python -m benchmarks.diagnosis [--rounds 3] [--corpus chroma ...] [--part faults ...]`.

`faults`: known faults are planted into clean indexes over real documents; printed is the confusion
matrix (rows planted, columns named) and the share of right causes and of false alarms on the clean
index. Planted faults that cost no question are left out, as are questions that another question's
fault got in the way of. `repairs`: every question that a plain index loses gets its named repair
applied for real, re-indexed where need be; the other embedder that some need is all-MiniLM-L6-v2.
Which repair is named for what was chosen on the first half of these questions. "context" is how
many times the text of the top k the repair takes. `what-if`: predicted recall beside that of the
repair really applied to all questions.
"""

import argparse
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from benchmarks.corpora import load_chroma, load_fastapi, load_markdown_docs
from benchmarks.embeddings import Embed, load_minilm, load_wordllama
from benchmarks.repairing import Index, Repaired, apply_repair, compare_what_if
from benchmarks.retrieval import in_first_half, langchain_recursive, llama_index_sentence
from benchmarks.tokens import use_bundled_tables
from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, GoldSpan, Question, analyze
from ragtrace.index import Bm25Retriever
from tests.evaluation.planting import (
    DEPTH,
    KINDS,
    Build,
    Ground,
    K,
    Passage,
    Planting,
    diagnose,
    find_passages,
    make_traces,
    plantings,
    without_copies,
)

SIZE = 200
FUSION = 60
POOL = 2 * DEPTH  # the same for any depth, or asking for more hits would reorder them
CLEAN = {"healthy", "ranked-low"}


def bm25(texts: Sequence[str]):
    index = Bm25Retriever([Chunk("i", at, 0, len(text), text) for at, text in enumerate(texts)])
    return lambda query, depth: [(hit.chunk_index, hit.score) for hit in index.search(query, depth)]


def dense(embed: Embed) -> Build:
    known: dict[str, np.ndarray] = {}

    def build(texts: Sequence[str]):
        fresh = list({text for text in texts if text not in known})
        if fresh:
            known.update(zip(fresh, embed(fresh), strict=True))
        vectors = np.stack([known[text] for text in texts])

        def search(query: str, depth: int):
            scores = vectors @ embed([query])[0]
            best = np.argsort(-scores, kind="stable")[:depth]
            return [(int(at), float(scores[at])) for at in best]

        return search

    return build


def hybrid(first: Build, second: Build) -> Build:
    def build(texts: Sequence[str]):
        searches = (first(texts), second(texts))

        def search(query: str, depth: int):
            fused: Counter[int] = Counter()
            for one in searches:
                for rank, (at, _) in enumerate(one(query, POOL), 1):
                    fused[at] += 1 / (FUSION + rank)
            return fused.most_common(depth)

        return search

    return build


def split_all(documents: Mapping[str, str], chunker) -> list[Chunk]:
    return [
        Chunk(piece.doc_id, piece.index, piece.start, piece.end, text[piece.start : piece.end])
        for doc_id, text in documents.items()
        for piece in chunker(doc_id, text)
    ]


def load_topics() -> dict[str, str]:
    from pydoc_data.topics import topics

    return dict(topics)


CORPORA: dict[str, Callable[[], dict[str, str]]] = {
    "chroma": lambda: load_chroma().documents,
    "fastapi": lambda: load_fastapi().documents,
    "markdown": load_markdown_docs,
    "topics": load_topics,
}
LABELLED = {"chroma": load_chroma, "fastapi": load_fastapi}
CHUNKERS = {
    "LangChain Recursive": langchain_recursive,
    "LlamaIndex Sentence": llama_index_sentence,
}


@lru_cache(maxsize=1)
def builds() -> dict[str, Build]:
    vectors = dense(load_wordllama())
    return {"bm25": bm25, "wordllama": vectors, "hybrid": hybrid(bm25, vectors)}


def grounds(corpora: Iterable[str]):
    for corpus in corpora:
        documents = without_copies(CORPORA[corpus]())
        for chunker, make in CHUNKERS.items():
            chunks = split_all(documents, make(SIZE))
            for retriever, build in builds().items():
                yield f"{corpus}, {chunker}, {retriever}", Ground(documents, chunks, build)


def label_of(ground: Ground, passage: Passage) -> GoldSpan:
    text = ground.documents[passage.doc_id][passage.start : passage.end]
    return GoldSpan(doc_id=passage.doc_id, start=passage.start, end=passage.end, quote=text)


def count_alarms(ground: Ground) -> Counter[str]:
    """Name causes on the clean index, for questions it answers and questions it does not."""
    held = [passage for passage in find_passages(ground.documents) if ground.holder(passage)]
    held.sort(key=lambda passage: (passage.start * 2654435761) % 2**32)
    questions = tuple(
        Question(
            question_id=str(number),
            query=ground.ask("ranked-low" if number % 3 == 0 else "cut-sentence", passage),
            gold=(label_of(ground, passage),),
        )
        for number, passage in enumerate(held[:200])
    )
    clean = Planting(ground)
    eval_set = EvalSet(questions=questions)
    analysis = analyze(
        make_traces(clean.entries(), ground.build, eval_set),
        eval_set,
        chunks=clean.manifest(),
        documents=ground.documents,
    )
    return Counter(span.fault.kind for one in analysis.questions for span in one.spans)


def measure_faults(corpora: Sequence[str], rounds: int) -> None:
    matrix: dict[str, Counter[str]] = defaultdict(Counter)
    clean: Counter[str] = Counter()
    won: dict[str, list[Repaired]] = defaultdict(list)
    planted_here = 0
    for name, ground in grounds(corpora):
        before = sum(counts.total() for counts in matrix.values())
        clean += count_alarms(ground)
        for planting in plantings(ground, rounds=rounds):
            entries = planting.entries()
            planted_here += len(planting.planted)
            for planted, span in diagnose(planting):
                matrix[planted.kind][span.fault.kind] += 1
                if planted.kind != "ranked-low":
                    index = Index.of(ground, entries)
                    won[span.fault.repair].append(
                        apply_repair(index, planted.question, span, ground)
                    )
        print(f"{name}: {sum(c.total() for c in matrix.values()) - before} faults", flush=True)
    print_matrix(matrix, clean, planted_here)
    print_wins("planted faults: the named repair, applied to the index, wins the question", won)


def print_matrix(matrix: Mapping[str, Counter[str]], clean: Counter[str], planted: int) -> None:
    columns = [*KINDS, "cut-passage", "healthy"]
    print(f"\n{'planted':18}" + "".join(f"{name[:11]:>12}" for name in columns))
    right = total = 0
    for kind in KINDS:
        counts = matrix[kind]
        right += counts[kind]
        total += counts.total()
        print(f"{kind:18}" + "".join(f"{counts[name] or '.':>12}" for name in columns))
    print(f"{'(clean)':18}" + "".join(f"{clean[name] or '.':>12}" for name in columns))
    alarms = sum(count for kind, count in clean.items() if kind not in CLEAN)
    print(f"\ncause right: {right}/{total} = {right / total:.1%} (wanted 95 %)")
    print(f"false alarms: {alarms}/{clean.total()} = {alarms / clean.total():.1%} (at most 2 %)")
    print(f"left out: {planted - total} of {planted} faults cost no question or were disturbed")


def print_wins(title: str, won: Mapping[str, Sequence[Repaired]]) -> None:
    last = "other-embedder-or-wording"
    promised = [one for repair, results in won.items() if repair != last for one in results]
    rows = sorted(won.items(), key=lambda row: -len(row[1]))
    rows += [
        ("all but the last resort", promised),
        ("all (wanted 80 %)", [*promised, *won.get(last, ())]),
    ]
    print(f"\n{title}")
    for name, results in rows:
        if results:
            share, growth = (np.mean(values) for values in zip(*results, strict=True))
            count = sum(one.won for one in results)
            print(f"  {name:28}{count:5} of {len(results):5}{share:6.0%}   context x{growth:.1f}")


def natural_runs(corpora: Sequence[str]):
    """Give plain indexes with the questions that people marked."""
    for corpus in corpora:
        if corpus not in LABELLED:
            continue
        labelled = LABELLED[corpus]()
        eval_set = labelled.eval_set()
        for chunker, make in CHUNKERS.items():
            for retriever, build in builds().items():
                chunks = split_all(labelled.documents, make(SIZE))
                ground = Ground(labelled.documents, chunks, build, splitter=make)
                yield f"{corpus}, {chunker}, {retriever}", ground, eval_set


def measure_repairs(corpora: Sequence[str]) -> None:
    halves = {half: defaultdict(list) for half in ("first half", "second half")}
    other = dense(load_minilm())
    for name, ground, eval_set in natural_runs(corpora):
        entries = Planting(ground).entries()
        traces = make_traces(entries, ground.build, eval_set)
        analysis = analyze(traces, eval_set, chunks=ground.chunks, documents=ground.documents)
        index = Index.of(ground, entries)
        for question in analysis.lost:
            won = halves["first half" if in_first_half(question) else "second half"]
            for span in question.spans:
                if span.finding.verdict != "whole":
                    asked = Question(question_id="", query=question.query, gold=(span.label,))
                    won[span.fault.repair].append(apply_repair(index, asked, span, ground, other))
        print(f"{name}: {len(analysis.lost)} of {len(analysis.questions)} lost", flush=True)
    title = "real questions, {}: the named repair, applied to the index, wins the label"
    for half, won in halves.items():
        print_wins(title.format(half), won)
    both = {
        repair: [result for won in halves.values() for result in won.get(repair, ())]
        for repair in {repair for won in halves.values() for repair in won}
    }
    print_wins(title.format("both"), both)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument(
        "--part",
        nargs="+",
        choices=("faults", "repairs", "what-if"),
        default=("faults", "repairs", "what-if"),
    )
    given = parser.parse_args()
    use_bundled_tables()
    logging.disable(logging.DEBUG)  # bm25s tells of every index it builds
    print(f"k = {K}, traces hold {DEPTH} hits, chunks of {SIZE} tokens\n")
    if "faults" in given.part:
        measure_faults(given.corpus, given.rounds)
    if "repairs" in given.part:
        measure_repairs(given.corpus)
    if "what-if" in given.part:
        compare_what_if(natural_runs(given.corpus))


if __name__ == "__main__":
    main()
