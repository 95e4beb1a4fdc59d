"""Well-formed Markdown, judged by markdown-it-py: what fits is whole, what is cut can be read."""

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragtrace.chunking import Chunk, length_function, split
from tests.chunking.judging import check_chunks, open_fence

COUNT = length_function("cl100k_base")
KINDS = {"fence", "table_open", "bullet_list_open", "ordered_list_open"}

words = st.sampled_from(
    ["river", "stone", "cloud", "engine", "paper", "window", "market", "signal"]
)
sentences = st.lists(words, min_size=3, max_size=9).map(
    lambda chosen: " ".join(chosen).capitalize() + "."
)
paragraphs = st.lists(sentences, min_size=1, max_size=5).map(" ".join)
leads = sentences.map(lambda sentence: sentence[:-1] + ":")
code = st.lists(words.map(lambda word: f"{word} = call({word!r})"), min_size=1, max_size=14)


def indent(text: str, by: str) -> str:
    return "\n".join(by + line if line else by.rstrip() for line in text.split("\n"))


def fence(lines: list[str], mark: str) -> str:
    return "\n".join([f"{mark}python", *lines, mark])


fences = st.builds(fence, code, st.sampled_from(["```", "````", "~~~"]))
tables = st.lists(st.tuples(words, words), min_size=1, max_size=12).map(
    lambda rows: "\n".join(["| a | b |", "|---|---|", *(f"| {x} | {y} |" for x, y in rows)])
)
items = st.one_of(
    sentences,
    st.builds(lambda lead, inner: f"{lead}\n\n{inner}", leads, fences),
    st.builds(
        lambda first, rest: "\n".join([first, *(f"- {one}" for one in rest)]),
        sentences,
        st.lists(sentences, min_size=1, max_size=3),
    ),
)
lists = st.lists(items, min_size=1, max_size=6).map(
    lambda chosen: "\n".join("- " + indent(item, "  ")[2:] for item in chosen)
)
quotes = st.one_of(paragraphs, fences, tables).map(lambda inner: indent(inner, "> "))
headings = st.builds(lambda level, word: "#" * level + " " + word.title(), st.integers(1, 3), words)
documents = st.lists(
    st.one_of(headings, paragraphs, leads, fences, tables, lists, quotes), min_size=1, max_size=9
).map("\n\n".join)


class Found(NamedTuple):
    kind: str
    start: int
    end: int


def find_blocks(text: str) -> list[Found]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        wanted = token.level == 0 or token.type in KINDS or token.type == "list_item_open"
        if token.map and token.nesting >= 0 and wanted:
            start, end = starts[token.map[0]], starts[token.map[1]] - 1
            found.append(Found(token.type, start, start + len(text[start:end].rstrip(" \n>"))))
    return found


def holds(chunks: list[Chunk], start: int, end: int) -> bool:
    return any(chunk.start <= start and end <= chunk.end for chunk in chunks)


@given(documents, st.integers(40, 120), st.sampled_from(["separate", "merge"]), st.integers(0, 2))
@settings(max_examples=250)
def test_what_fits_is_whole_and_what_is_cut_can_be_read_alone(
    text: str, budget: int, sections: str, overlap: int
) -> None:
    chunks = split(
        text,
        format="markdown",
        chunk_size=budget,
        sections=sections,
        overlap_sentences=overlap,
    )
    check_chunks(text, chunks, budget, COUNT, overlaps=overlap > 0)
    for chunk in chunks:
        assert open_fence(chunk.content) is None
    blocks = find_blocks(text)
    for kind, start, end in blocks:
        if kind in KINDS and COUNT(text[start:end]) <= budget:
            assert holds(chunks, start, end), (kind, text[start:end])
    check_tables(text, chunks, [block for block in blocks if block.kind == "table_open"])
    check_headings(text, chunks, blocks, budget)


def check_tables(text: str, chunks: list[Chunk], tables: list[Found]) -> None:
    for _, start, end in tables:
        for chunk in chunks:
            if start < chunk.start < end:
                assert chunk.prefix.lstrip("> ").startswith("| a | b |\n")
                assert "|---|---|\n" in chunk.prefix


def check_headings(text: str, chunks: list[Chunk], blocks: list[Found], budget: int) -> None:
    for index, block in enumerate(blocks[:-1]):
        last = any(chunk.start <= block.start and chunk.end == block.end for chunk in chunks)
        if block.kind != "heading_open" or not last:
            continue
        # Only what must stay whole, and just fits alone, may leave its heading behind: of a list
        # over the budget, its first item.
        following = next(
            (b for b in blocks[index + 1 :] if COUNT(text[b.start : b.end]) <= budget), None
        )
        if blocks[index + 1].kind != "heading_open":
            assert following is not None
            assert following.start == blocks[index + 1].start
            assert COUNT(text[block.start : following.end]) > budget


@given(documents, st.integers(40, 120))
@settings(max_examples=100)
def test_heading_paths_are_those_of_the_headings_above(text: str, budget: int) -> None:
    found = [block for block in find_blocks(text) if block.kind == "heading_open"]
    for chunk in split(text, format="markdown", chunk_size=budget):
        path: list[tuple[int, str]] = []
        for block in found:
            if block.start < chunk.end:
                marks, title = text[block.start : block.end].split(" ", 1)
                path = [*(one for one in path if one[0] < len(marks)), (len(marks), title)]
        assert chunk.heading_path == tuple(title for _, title in path)
