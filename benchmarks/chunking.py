"""How fast Markdown is split, and what is cut: ragtrace beside the splitters people use.

Run `python -m benchmarks.chunking [--size 512] [--peers]`. Speed is a ratio to tiktoken encoding
the same text in the same run (the best of three), at no overlap and with some: one sentence, or 64
tokens for those that count in tokens. What is cut is judged by markdown-it-py, which ragtrace does
not use: a fence, table or list counts as cut if it would fit a chunk alone and no chunk holds all
of it; a heading is last if its chunk ends with it and the document does not.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.corpora import load_markdown_docs
from benchmarks.tokens import use_bundled_tables
from ragtrace.chunking import length_function, split
from ragtrace.chunking.tokens import load_encoding

Span = tuple[int, int]
Splitter = Callable[[str], Sequence["Made"]]
KINDS = {"fence": "fence", "table": "table", "bullet_list": "list", "ordered_list": "list"}


class Made(NamedTuple):
    """A chunk as its splitter made it: what is stored, and its span if there is one."""

    content: str
    start: int
    end: int


class Judged(NamedTuple):
    """The blocks of a document that should not be cut, and its headings."""

    text: str
    blocks: list[tuple[str, Span]]
    headings: list[Span]


def judge(text: str) -> Judged:
    from markdown_it import MarkdownIt

    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    blocks = []
    headings = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if not token.map or token.nesting < 0:
            continue
        start, end = starts[token.map[0]], min(starts[token.map[1]], len(text))
        end = start + len(text[start:end].rstrip())
        kind = KINDS.get(token.type.removesuffix("_open"))
        if kind:
            blocks.append(
                (kind, (start + len(text[start:end]) - len(text[start:end].lstrip()), end))
            )
        elif token.type == "heading_open" and token.level == 0:
            headings.append((start, end))
    return Judged(text, blocks, headings)


def ragtrace_splitters(size: int) -> Iterator[tuple[str, Splitter, Splitter]]:
    def make(**settings: Any) -> Splitter:
        def run(text: str) -> Sequence[Made]:
            chunks = split(text, format="markdown", chunk_size=size, **settings)
            return [Made(chunk.content, chunk.start, chunk.end) for chunk in chunks]

        return run

    yield "ragtrace", make(), make(overlap_sentences=1)
    merged: dict[str, Any] = {"sections": "merge"}
    yield "ragtrace, merge", make(**merged), make(**merged, overlap_sentences=1)
    paths: dict[str, Any] = {"prepend_heading_path": True}
    yield "ragtrace, paths", make(**paths), make(**paths, overlap_sentences=1)


def peer_splitters(size: int) -> Iterator[tuple[str, Splitter, Splitter]]:
    yield "LangChain Recursive", langchain(size, 0), langchain(size, 64)
    yield "LlamaIndex SentenceSplitter", llama_index(size, 0), llama_index(size, 64)
    yield "semantic-text-splitter", semantic(size, 0), semantic(size, 64)
    yield "chonkie Recursive", chonkie(size), chonkie(size)
    yield "chonkie Sentence", chonkie_sentence(size, 0), chonkie_sentence(size, 64)


def langchain(size: int, overlap: int) -> Splitter:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        "cl100k_base",
        chunk_size=size,
        chunk_overlap=overlap,
        add_start_index=True,
        disallowed_special=(),
    )

    def run(text: str) -> Sequence[Made]:
        made = []
        for document in splitter.create_documents([text]):
            start = document.metadata["start_index"]
            made.append(Made(document.page_content, start, start + len(document.page_content)))
        return made

    return run


def llama_index(size: int, overlap: int) -> Splitter:
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(
        chunk_size=size, chunk_overlap=overlap, tokenizer=encode, include_prev_next_rel=False
    )

    def run(text: str) -> Sequence[Made]:
        nodes: Any = splitter.get_nodes_from_documents([Document(text=text)])
        return [Made(n.text, n.start_char_idx or 0, n.end_char_idx or 0) for n in nodes]

    return run


def semantic(size: int, overlap: int) -> Splitter:
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter.from_tiktoken_model("gpt-4", size, overlap)

    def run(text: str) -> Sequence[Made]:
        return [Made(piece, at, at + len(piece)) for at, piece in splitter.chunk_indices(text)]

    return run


def chonkie(size: int) -> Splitter:
    from chonkie import RecursiveChunker

    return _chonkie(RecursiveChunker(tokenizer=load_encoding("cl100k_base"), chunk_size=size))


def chonkie_sentence(size: int, overlap: int) -> Splitter:
    from chonkie import SentenceChunker

    return _chonkie(
        SentenceChunker(
            tokenizer=load_encoding("cl100k_base"), chunk_size=size, chunk_overlap=overlap
        )
    )


def _chonkie(chunker: Any) -> Splitter:
    def run(text: str) -> Sequence[Made]:
        return [Made(chunk.text, chunk.start_index, chunk.end_index) for chunk in chunker(text)]

    return run


def encode(text: str) -> list[int]:
    return load_encoding("cl100k_base").encode(text, disallowed_special=())


def seconds(run: Callable[[str], object], texts: Sequence[str], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        started = time.process_time()
        for text in texts:
            run(text)
        times.append(time.process_time() - started)
    return min(times)


def is_bad_end(text: str, end: int) -> bool:
    """Say whether a chunk ends inside a line without a stop."""
    at_line_end = end >= len(text) or text[end:].lstrip(" \t")[:1] in ("", "\n", "\r")
    return not at_line_end and text[:end].rstrip("\"')]*_`”’")[-1:] not in ".!?:;"


def leaves_fence_open(content: str) -> bool:
    from markdown_it import MarkdownIt

    lines = content.split("\n")
    for token in MarkdownIt("commonmark").parse(content):
        if token.type == "fence" and token.map:
            last = lines[token.map[1] - 1].strip(" \t\r>")
            if token.map[1] - token.map[0] < 2 or not last or last.strip(token.markup[0]):
                return True
    return False


def measure(documents: Sequence[Judged], run: Splitter, size: int) -> list[str]:
    count = length_function("cl100k_base")
    chunks = bad_ends = odd = last = over = exact = tokens = lost = signs = 0
    cut = dict.fromkeys(("fence", "table", "list"), 0)
    for document in documents:
        text = document.text
        made = run(text)
        covered = bytearray(len(text))
        for chunk in made:
            length = count(chunk.content)
            tokens += length
            over += length > size
            exact += text[chunk.start : chunk.end] in chunk.content and chunk.end > chunk.start
            odd += leaves_fence_open(chunk.content)
            covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
            end = chunk.start + len(text[chunk.start : chunk.end].rstrip())
            bad_ends += is_bad_end(text, end)
            last += end < len(text.rstrip()) and any(
                chunk.start <= start and stop == end for start, stop in document.headings
            )
        chunks += len(made)
        signs += sum(not sign.isspace() for sign in text)
        lost += sum(
            not seen and not sign.isspace() for seen, sign in zip(covered, text, strict=True)
        )
        for kind, (start, stop) in document.blocks:
            whole = any(chunk.start <= start and stop <= chunk.end for chunk in made)
            cut[kind] += not whole and count(text[start:stop]) <= size
    return [
        str(chunks),
        f"{tokens / chunks / size:.1%}",
        f"{bad_ends / chunks:.1%}",
        f"{odd / chunks:.1%}",
        *(str(number) for number in cut.values()),
        f"{last / chunks:.1%}",
        str(over),
        f"{exact / chunks:.1%}",
        f"{1 - lost / signs:.2%}",
    ]


HEADER = (
    *("splitter", "x", "x overlap", "chunks", "fill", "bad end", "odd fence"),
    *("fences cut", "tables cut", "lists cut", "heading last", "over", "exact", "covered"),
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--size", type=int, default=512, help="tokens in a chunk")
    arguments.add_argument("--peers", action="store_true", help="measure the peers as well")
    options = arguments.parse_args()
    use_bundled_tables()
    texts = list(load_markdown_docs().values())
    documents = [judge(text) for text in texts]
    encode(texts[0])
    print(f"{len(texts)} documents, {sum(map(len, texts)):,} characters, {options.size} tokens")
    print("| " + " | ".join(HEADER) + " |")
    print("|" + "---|" * len(HEADER))
    splitters = ragtrace_splitters(options.size)
    if options.peers:
        splitters = itertools.chain(splitters, peer_splitters(options.size))
    for name, plain, overlapping in splitters:
        ratios = []
        for run in (plain, overlapping):
            run(texts[0])
            # Measured side by side: on a shared machine speed changes from minute to minute.
            base = seconds(encode, texts, 3)
            ratios.append(f"{base / seconds(run, texts, 3):.2f}")
        print("| " + " | ".join([name, *ratios, *measure(documents, plain, options.size)]) + " |")


if __name__ == "__main__":
    main()
