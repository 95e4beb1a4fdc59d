"""What a chunker does to retrieval, at equal context, with the questions split in two halves.

Run `python -m benchmarks.retrieval [--model minilm|wordllama|bm25] [--corpus chroma|fastapi]`.
One half of the questions (chosen by a hash) is for choosing settings, the other for reporting.
Columns: chunks in the index; gold spans that no chunk holds whole (cut); then, of the top k as
retrieved, merged, and merged with a gap of one chunk filled: gold spans that are cut and in no
passage whole (cut misses), token recall, precision and IoU by characters, gold spans wholly inside
one passage (whole), and the characters a prompt would get (context). Intervals are 95 % bootstrap
intervals over questions. With `--equal-context` every row takes hits, best first, until its
passages come nearest to what LangChain's recursive splitter gives at top k, unmerged.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from benchmarks.corpora import Corpus, Label, LabelledQuestion, load_chroma, load_fastapi
from benchmarks.embeddings import load_minilm, load_wordllama
from benchmarks.tokens import use_bundled_tables
from ragtrace.chunking import split
from ragtrace.evaluation import QuestionResult
from ragtrace.postprocessing import Hit, merge_adjacent

TOLERANCE = 2  # characters at each end that a "whole" span may lack: a stop, a quote
REFERENCE = "LangChain recursive"
DEPTH = 60  # hits to choose from at equal context


class Piece(NamedTuple):
    """A chunk as an index sees it: where it is from, and what is embedded."""

    doc_id: str
    index: int
    start: int
    end: int
    content: str


Chunker = Callable[[str, str], Iterable[Piece]]  # (doc_id, text) -> pieces
Search = Callable[[str, int], list[int]]  # (query, k) -> positions in the list of pieces


def locate(doc_id: str, text: str, chunks: Iterable[str]) -> list[Piece]:
    """Find the chunks of a splitter that gives no offsets, in order."""
    pieces: list[Piece] = []
    at = 0
    for chunk in chunks:
        found = text.find(chunk, at)
        if found < 0:
            raise ValueError(f"{doc_id}: a chunk is not in the text: {chunk[:40]!r}")
        pieces.append(Piece(doc_id, len(pieces), found, found + len(chunk), chunk))
        at = found + 1
    return pieces


def langchain_recursive(size: int) -> Chunker:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        "cl100k_base", chunk_size=size, chunk_overlap=0
    )
    return lambda doc_id, text: locate(doc_id, text, splitter.split_text(text))


def llama_index_sentence(size: int) -> Chunker:
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(chunk_size=size, chunk_overlap=0)
    return lambda doc_id, text: locate(doc_id, text, splitter.split_text(text))


def chonkie_sentence(size: int) -> Chunker:
    import tiktoken
    from chonkie import SentenceChunker

    chunker = SentenceChunker(
        tiktoken.get_encoding("cl100k_base"), chunk_size=size, chunk_overlap=0
    )
    return lambda doc_id, text: [
        Piece(doc_id, index, chunk.start_index, chunk.end_index, chunk.text)
        for index, chunk in enumerate(chunker.chunk(text))
    ]


def ragtrace_split(size: int, **settings: object) -> Chunker:
    def chunk(doc_id: str, text: str) -> list[Piece]:
        return [
            Piece(doc_id, chunk.index, chunk.start, chunk.end, chunk.content)
            for chunk in split(text, chunk_size=size, doc_id=doc_id, **settings)
        ]

    return chunk


def dense_search(contents: Sequence[str], embed: Callable[[Sequence[str]], np.ndarray]) -> Search:
    index = embed(contents)

    def search(query: str, k: int) -> list[int]:
        scores = index @ embed([query])[0]
        return [int(at) for at in np.argsort(-scores, kind="stable")[:k]]

    return search


def bm25_search(contents: Sequence[str]) -> Search:
    import bm25s

    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(list(contents), show_progress=False), show_progress=False)

    def search(query: str, k: int) -> list[int]:
        tokens = bm25s.tokenize([query], show_progress=False)
        found, _ = retriever.retrieve(tokens, k=min(k, len(contents)), show_progress=False)
        return [int(at) for at in found[0]]

    return search


Span = tuple[str, int, int]


def hits_of(pieces: Sequence[Piece], ranked: Sequence[int], corpus: Corpus) -> list[Hit]:
    return [
        Hit(
            chunk_id=f"{piece.doc_id}#c{piece.index}",
            doc_id=piece.doc_id,
            text=corpus.documents[piece.doc_id][piece.start : piece.end],
            rank=rank,
            chunk_index=piece.index,
            start=piece.start,
            end=piece.end,
        )
        for rank, piece in enumerate((pieces[at] for at in ranked), 1)
    ]


class Passages(NamedTuple):
    """What a prompt would get: spans of documents, and how many characters they take."""

    spans: list[Span]
    context: int


def make_passages(
    pieces: Sequence[Piece], ranked: Sequence[int], corpus: Corpus, fill_gap: int | None
) -> Passages:
    """Make passages of hits, as they are or merged."""
    if fill_gap is None:
        chosen = [pieces[at] for at in ranked]
        spans = [(piece.doc_id, piece.start, piece.end) for piece in chosen]
        return Passages(spans, sum(len(piece.content) for piece in chosen))
    hits = hits_of(pieces, ranked, corpus)
    merged = merge_adjacent(hits, fill_gap=fill_gap, documents=corpus.documents)
    spans = [(str(hit.doc_id), hit.start or 0, hit.end or 0) for hit in merged]
    return Passages(spans, sum(len(hit.text) for hit in merged))


def fit(
    pieces: Sequence[Piece],
    ranked: Sequence[int],
    corpus: Corpus,
    fill_gap: int | None,
    budget: float,
) -> Passages:
    """Take hits, best first, until their passages come nearest to a budget of characters."""
    best = Passages([], 0)
    for k in range(1, len(ranked) + 1):
        passages = make_passages(pieces, ranked[:k], corpus, fill_gap)
        if abs(passages.context - budget) <= abs(best.context - budget):
            best = passages
        if passages.context >= budget:
            break
    return best


class Score(NamedTuple):
    """What one question got."""

    recall: float
    precision: float
    iou: float
    whole: float
    context: int


def holds(span: Span, gold: Label) -> bool:
    doc_id, start, end = span
    return doc_id == gold.doc_id and start <= gold.start + TOLERANCE and gold.end - TOLERANCE <= end


def score_question(question: LabelledQuestion, spans: Sequence[Span], context: int) -> Score:
    gold = {(g.doc_id, at) for g in question.gold for at in range(g.start, g.end)}
    got = {(doc, at) for doc, start, end in spans for at in range(start, end)}
    both = len(gold & got)
    whole = [any(holds(span, g) for span in spans) for g in question.gold]
    return Score(
        recall=both / len(gold),
        precision=both / len(got) if got else 0.0,
        iou=both / len(gold | got),
        whole=float(np.mean(whole)),
        context=context,
    )


def cut_labels(pieces: Sequence[Piece], questions: Sequence[LabelledQuestion]) -> set[Label]:
    """Return the gold spans that no chunk holds whole."""
    by_doc: dict[str, list[Span]] = {}
    for piece in pieces:
        by_doc.setdefault(piece.doc_id, []).append((piece.doc_id, piece.start, piece.end))
    return {
        gold
        for question in questions
        for gold in question.gold
        if not any(holds(span, gold) for span in by_doc.get(gold.doc_id, []))
    }


def interval(values: Sequence[float]) -> tuple[float, float]:
    draws = np.random.default_rng(7).choice(values, size=(2000, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


def in_first_half(question: LabelledQuestion | QuestionResult) -> bool:
    return blake2b(question.query.encode(), digest_size=1).digest()[0] % 2 == 0


def mean_context(
    corpus: Corpus,
    chunker: Chunker,
    make_search: Callable[[Sequence[str]], Search],
    questions: Sequence[LabelledQuestion],
    k: int,
) -> float:
    """Return the characters that the top k take on average."""
    contents = [
        piece.content
        for doc_id, text in corpus.documents.items()
        for piece in chunker(doc_id, text)
    ]
    search = make_search(contents)
    found = [search(question.query, k) for question in questions]
    return float(np.mean([sum(len(contents[at]) for at in ranked) for ranked in found]))


def evaluate(
    name: str,
    corpus: Corpus,
    chunker: Chunker,
    make_search: Callable[[Sequence[str]], Search],
    questions: Sequence[LabelledQuestion],
    k: int,
    budget: float | None,
) -> None:
    """Print the rows of one chunker: as retrieved, merged, merged with one gap filled.

    With a `budget` of characters, k is whatever makes the context come nearest to it.
    """
    pieces = [piece for doc_id, text in corpus.documents.items() for piece in chunker(doc_id, text)]
    search = make_search([piece.content for piece in pieces])
    found = [search(question.query, DEPTH) for question in questions]
    cut = cut_labels(pieces, questions)
    labels = sum(len(question.gold) for question in questions)
    for label, fill_gap in (("", None), (" + merge", 0), (" + merge, gap 1", 1)):
        if budget is None:
            got = [make_passages(pieces, ranked[:k], corpus, fill_gap) for ranked in found]
        else:
            got = [fit(pieces, ranked, corpus, fill_gap, budget) for ranked in found]
        scores = [
            score_question(question, *passages)
            for question, passages in zip(questions, got, strict=True)
        ]
        missed = sum(
            gold in cut and not any(holds(span, gold) for span in passages.spans)
            for question, passages in zip(questions, got, strict=True)
            for gold in question.gold
        )
        mean = Score(*(float(np.mean(column)) for column in zip(*scores, strict=True)))
        low, high = interval([score.recall for score in scores])
        whole_low, whole_high = interval([score.whole for score in scores])
        cells = (
            f"{name}{label}",
            str(len(pieces)),
            f"{len(cut) / labels:.1%}",
            f"{missed / labels:.1%}",
            f"{mean.recall:.3f} [{low:.2f}, {high:.2f}]",
            f"{mean.precision:.3f}",
            f"{mean.iou:.3f}",
            f"{mean.whole:.3f} [{whole_low:.2f}, {whole_high:.2f}]",
            f"{mean.context:.0f}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


def chunkers(corpus: str, size: int) -> dict[str, Chunker]:
    peers = {
        REFERENCE: langchain_recursive(size),
        "LlamaIndex sentence": llama_index_sentence(size),
        "chonkie sentence": chonkie_sentence(size),
    }
    ours = {
        "ragtrace sentences": ragtrace_split(size),
        "ragtrace sentences, overlap 1": ragtrace_split(size, overlap_sentences=1),
    }
    if corpus == "fastapi":
        for sections in ("separate", "merge"):
            name = f"ragtrace markdown, {sections}"
            ours[name] = ragtrace_split(size, format="markdown", sections=sections)
            ours[f"{name}, heading path"] = ragtrace_split(
                size, format="markdown", sections=sections, prepend_heading_path=True
            )
            ours[f"{name}, overlap 1"] = ragtrace_split(
                size, format="markdown", sections=sections, overlap_sentences=1
            )
    return peers | ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=("minilm", "wordllama", "bm25"), default="wordllama")
    parser.add_argument("--corpus", choices=("chroma", "fastapi"), default="chroma")
    parser.add_argument("--size", type=int, default=200, help="tokens (cl100k_base)")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--half", choices=("first", "second", "all"), default="all")
    parser.add_argument("--equal-context", action="store_true")
    parser.add_argument("--only", help="only chunkers whose name holds this text")
    options = parser.parse_args()
    use_bundled_tables()
    corpus = load_chroma() if options.corpus == "chroma" else load_fastapi()
    questions = [
        question
        for question in corpus.questions
        if options.half == "all" or in_first_half(question) == (options.half == "first")
    ]
    embed = {"minilm": load_minilm, "wordllama": load_wordllama}.get(options.model)
    make_search: Callable[[Sequence[str]], Search] = bm25_search
    if embed is not None:
        model = embed()
        make_search = lambda contents: dense_search(contents, model)  # noqa: E731 - one line says it
    print(f"{options.corpus}, {len(questions)} questions ({options.half} half), {options.model},")
    print(f"{options.size} tokens, top {options.k}")
    print(
        "| chunker | chunks | cut | cut misses | token recall | precision | IoU | whole | context |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    compared = chunkers(options.corpus, options.size)
    budget = None
    if options.equal_context:
        budget = mean_context(corpus, compared[REFERENCE], make_search, questions, options.k)
    for name, chunker in compared.items():
        if options.only and options.only not in name and name != REFERENCE:
            continue
        evaluate(name, corpus, chunker, make_search, questions, options.k, budget)


if __name__ == "__main__":
    main()
