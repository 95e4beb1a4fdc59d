"""One report on chunks of any shape."""

import time
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

from ragtrace.boundary import KINDS, Issue, in_reading_order, validate, validate_side_by_side
from ragtrace.chunking import Chunk
from ragtrace.chunking.metadata import chunk_metadata

TEXT = """# Pumps

The pump (a small one) needs oil. It is old, and nobody
has changed the oil.

- open the valve
- close the tap

| part | price |
|------|-------|
| seal | 3     |

```sh
pump --start
pump --stop
```

The end of it.
"""


def cut_at(*marks: str, text: str = TEXT, doc_id: str = "pumps") -> list[Chunk]:
    """Cut a text before each of these strings."""
    places = [0, *(text.index(mark) for mark in marks), len(text)]
    return [
        Chunk(doc_id, number, start, end, text[start:end])
        for number, (start, end) in enumerate(pairwise(places))
    ]


def kinds_of(issues: tuple[Issue, ...]) -> set[str]:
    return {issue.kind for issue in issues}


SOUND = ("The pump (a", "- open", "| part", "```sh", "The end")

CUTS = [
    ("one) needs", {"no-sentence-end", "no-sentence-start", "unbalanced-()"}),
    ("has changed", {"no-sentence-end", "no-sentence-start"}),
    ("- close", {"cut-list"}),
    ("| seal", {"cut-table"}),
    ("|------", {"cut-table"}),
    ("pump --stop", {"broken-code-fence"}),
]


@pytest.mark.parametrize(("mark", "kinds"), CUTS)
@pytest.mark.parametrize("known", [True, False])
def test_a_cut_is_named_by_what_it_goes_through(mark: str, kinds: set[str], known: bool) -> None:
    documents = {"pumps": TEXT} if known else None
    report = validate(cut_at(mark), documents=documents)
    assert kinds_of(report.issues) == kinds
    assert report.issue_rate == 1.0
    assert all(issue.exact == known for issue in report.issues)


@pytest.mark.parametrize("known", [True, False])
def test_chunks_cut_between_blocks_have_no_issue(known: bool) -> None:
    chunks = cut_at(*SOUND[1:])
    assert validate(chunks, documents={"pumps": TEXT} if known else None).issues == ()


@pytest.mark.parametrize("known", [True, False])
def test_a_heading_must_not_come_last(known: bool) -> None:
    report = validate(cut_at("The pump (a"), documents={"pumps": TEXT} if known else None)
    assert [issue.kind for issue in report.issues] == ["orphan-heading"]
    assert "# Pumps" in report.issues[0].message


def test_an_exact_issue_says_what_was_cut_where_and_by_how_much() -> None:
    first, second = validate(cut_at("has changed"), documents={"pumps": TEXT}).issues
    assert TEXT[first.start : first.end] == "It is old, and nobody\nhas changed the oil."
    assert (first.size, second.size) == (20, 21)
    assert "It is old, and nobody‖ has changed the oil.  - open" in first.excerpt
    assert first.message.startswith("ends inside a sentence")


def test_strings_mappings_documents_and_nodes_give_the_same_issues() -> None:
    chunks = cut_at("has changed", "- close")
    expected = [issue.kind for issue in validate(chunks).issues]
    assert expected

    def spans(chunk: Chunk) -> dict[str, int]:
        return {"start_index": chunk.start, "chunk_index": chunk.index}

    documents = [
        Document(c.text, metadata={"doc_id": "pumps", **spans(c)}, id=str(c.index)) for c in chunks
    ]
    nodes = [
        TextNode(
            text=c.text,
            start_char_idx=c.start,
            end_char_idx=c.end,
            metadata={"chunk_index": c.index},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="pumps")},
        )
        for c in chunks
    ]
    mappings = [
        {"content": c.text, "chunk_id": c.chunk_id, "start": c.start, "end": c.end} for c in chunks
    ]
    for same in (documents, nodes, [NodeWithScore(node=node) for node in nodes], mappings):
        report = validate(same)
        assert [issue.kind for issue in report.issues] == expected
        assert list(report.by_document) == ["pumps"]
    texts = validate({"pumps": [chunk.text for chunk in chunks]})
    assert [issue.kind for issue in texts.issues] == expected
    assert texts.issues[0].chunk_id == "pumps#c0"


def test_decoration_is_stripped_first() -> None:
    start = TEXT.index("- open")
    plain = Chunk("pumps", 1, start, len(TEXT), TEXT[start:], prefix="Pumps > (draft\n\n")
    stored = Document(plain.content, metadata=chunk_metadata(plain, "heading-path:1"))
    first = cut_at("- open")[0]
    for chunk in (plain, stored):
        report = validate([first, chunk], documents={"pumps": TEXT})
        assert report.issues == ()
    assert list(validate([stored]).by_splitter) == ["heading-path:1"]


def test_a_table_or_fence_that_decoration_makes_whole_is_not_cut() -> None:
    rows = "".join(f"| {n} | {n * n} |\n" for n in range(30))
    table = "| n | square |\n|---|---|\n" + rows
    fence = "```py\n" + "".join(f"print({n})\n" for n in range(30)) + "```\n"
    text = f"Squares:\n\n{table}\nIn code:\n\n{fence}"
    rest = text.index("| 15 |")
    tail = text.index("In code")
    line = text.index("print(15)")
    spans = [(0, rest), (rest, tail), (tail, line), (line, len(text))]
    header = "| n | square |\n|---|---|\n"
    prefixes, suffixes = ["", header, "", "```py\n"], ["", "", "```\n", ""]
    chunks = [
        Chunk("d", n, start, end, text[start:end], prefixes[n], suffixes[n])
        for n, (start, end) in enumerate(spans)
    ]
    assert validate(chunks, documents={"d": text}, chunk_size=200, length="characters").rates[
        "cut-table"
    ] == pytest.approx(0)
    assert validate(chunks, documents={"d": text}).rates["broken-code-fence"] == 0
    assert validate(chunks).issues == ()
    bare = [Chunk("d", c.index, c.start, c.end, c.text) for c in chunks]
    report = validate(bare, documents={"d": text}, chunk_size=200, length="characters")
    assert report.kinds["cut-table"] == 1
    assert report.kinds["broken-code-fence"] == 2


def test_a_list_too_long_for_a_chunk_may_be_cut_between_items() -> None:
    text = "".join(f"- item number {n}\n" for n in range(40))
    middle = text.index("- item number 20")
    chunks = [
        Chunk("d", 0, 0, middle, text[:middle]),
        Chunk("d", 1, middle, len(text), text[middle:]),
    ]
    settings = {"chunk_size": 400, "length": "characters"}
    assert validate(chunks, documents={"d": text}, **settings).rates["cut-list"] == 0
    settings = {"chunk_size": 4000, "length": "characters"}
    assert validate(chunks, documents={"d": text}, **settings).rates["cut-list"] == 1


def test_lost_text_is_a_gap_under_the_chunk_before_it() -> None:
    first, _, last = cut_at("- open", "| part")
    report = validate([first, last], documents={"pumps": TEXT})
    (gap,) = [issue for issue in report.issues if issue.kind == "gap"]
    assert TEXT[gap.start : gap.end] == "- open the valve\n- close the tap"
    assert gap.chunk_id == first.chunk_id
    assert report.rates["gap"] == 0.5


def test_a_document_without_a_chunk_is_a_gap_of_no_chunk() -> None:
    report = validate([], documents={"pumps": TEXT, "blank": " \n"})
    assert [(issue.kind, issue.chunk_id, issue.size) for issue in report.issues] == [
        ("gap", "", len(TEXT))
    ]
    assert report.issue_rate == 0


def test_a_wrong_offset_is_reported_with_the_right_one() -> None:
    chunk = Chunk("pumps", 0, 5, 5 + len(TEXT), TEXT)
    report = validate([chunk], documents={"pumps": TEXT})
    assert [issue.kind for issue in report.issues] == ["wrong-offset"]
    assert "claims 5, but its text stands at 0" in report.issues[0].message
    absent = validate([Chunk("pumps", 0, 0, 4, "Nope")], documents={"pumps": TEXT})
    assert "wrong-offset" in kinds_of(absent.issues)


def test_a_repeated_text_claimed_twice_at_one_place_is_a_wrong_offset() -> None:
    text = "Stop.\n\nGo.\n\nStop.\n"
    chunks = [
        Chunk("d", 0, 0, 5, "Stop."),
        Chunk("d", 1, 7, 10, "Go."),
        Chunk("d", 2, 0, 5, "Stop."),
    ]
    report = validate(chunks, documents={"d": text})
    (issue,) = [issue for issue in report.issues if issue.kind == "wrong-offset"]
    assert issue.chunk_id == "d#c2"
    assert "stands at 12" in issue.message
    assert report.kinds["gap"] == 0


def test_chunks_without_offsets_are_found_in_order_even_with_their_space_changed() -> None:
    texts = [
        "# Pumps The pump (a small one) needs oil.",
        "It is old, and nobody has changed the oil.",
    ]
    report = validate(texts, documents={"pumps": TEXT[: TEXT.index("- open")]})
    assert report.located == 2
    assert report.issues == ()


def test_duplicates_name_the_first_and_flaw_no_chunk() -> None:
    report = validate({"a": ["One is here."], "b": ["One is here."]})
    assert [(issue.kind, issue.chunk_id) for issue in report.issues] == [("duplicate", "b#c0")]
    assert "a#c0" in report.issues[0].message
    assert report.issue_rate == 0


def test_near_duplicates_are_found_when_asked_for() -> None:
    words = " ".join(f"word{n}" for n in range(200))
    chunks = {"a": [f"The {words}."], "b": [f"The {words}!"], "c": ["Another text altogether."]}
    assert validate(chunks).kinds["duplicate"] == 0
    report = validate(chunks, near_duplicates=0.8)
    assert [issue.chunk_id for issue in report.issues] == ["b#c0"]
    with pytest.raises(ValueError, match="from 0 to 1"):
        validate([], near_duplicates=2)


def test_what_is_over_the_budget_counts_what_is_embedded() -> None:
    chunk = Chunk("d", 0, 0, 10, "Ten chars.", prefix="Heading\n\n")
    assert validate([chunk], chunk_size=19, length="characters").issues == ()
    report = validate([chunk], chunk_size=15, length="characters")
    assert [(issue.kind, issue.size) for issue in report.issues] == [("over-budget", 4)]
    assert (report.chunk_size, report.length) == (15, "characters")
    words = validate([chunk], chunk_size=2, length=lambda text: len(text.split()))
    assert words.kinds["over-budget"] == 1
    assert validate([chunk], chunk_size=3).kinds["over-budget"] == 1


def test_a_chunk_that_points_elsewhere_is_a_fragment() -> None:
    text = "The valve is open in winter.\n\nThis does not apply to pumps."
    chunks = cut_at("This does", text=text, doc_id="d")
    report = validate(chunks, documents={"d": text})
    assert [(issue.kind, issue.chunk_id) for issue in report.issues] == [("fragment", "d#c1")]
    assert report.issue_rate == 0
    assert kinds_of(validate(["---"]).issues) == {"fragment"}


def test_an_overlap_is_no_cut_where_it_repeats_whole_sentences() -> None:
    text = "One is here. Two is there. Three is gone."
    spans = [(0, 26), (13, 41)]
    chunks = [Chunk("d", n, a, b, text[a:b]) for n, (a, b) in enumerate(spans)]
    assert validate(chunks).issues == ()
    assert validate(chunks, documents={"d": text}).issues == ()


def test_a_fence_is_followed_through_chunks_without_a_mark() -> None:
    code = "".join(f"call({n});\n" for n in range(9))
    text = f"Run:\n\n```js\n{code}```\n\nDone.\n"
    chunks = cut_at("call(3)", "call(6)", text=text, doc_id="d")
    assert validate(chunks).kinds["broken-code-fence"] == 3


def test_code_is_judged_by_its_brackets_only() -> None:
    text = "import os\n\ndef f(\n    a,\n    b,\n):\n    return os\n\nx = f(1, 2)\n"
    whole = cut_at("def f", "x = f", text=text, doc_id="m.py")
    assert validate(whole, documents={"m.py": text}).issues == ()
    cut = validate(cut_at("    b,", text=text, doc_id="m.py"), documents={"m.py": text})
    assert kinds_of(cut.issues) == {"unbalanced-()"}


def test_a_parser_of_the_users_own_is_used() -> None:
    from ragtrace.chunking.outline import Block, Outline

    def parse(text: str) -> Outline:
        return Outline([Block(0, text.index("\n"), level=1, title="top")])

    text = "Top line\nand a body. It is short."
    report = validate(cut_at("and a", text=text, doc_id="d"), documents={"d": text}, format=parse)
    assert kinds_of(report.issues) == {"orphan-heading"}


def test_issues_are_all_counted_and_only_some_are_kept() -> None:
    seen: list[Issue] = []
    texts = [f"Number {n} leads to the" for n in range(50)]
    report = validate(texts, keep=10, on_issue=lambda issue, piece: seen.append(issue))
    assert (len(report.issues), report.left_out) == (10, len(seen) - 10)
    assert report.kinds["no-sentence-end"] == 50
    assert all(len(worst) <= 5 for worst in report.worst.values())


def test_wrong_use_is_one_clear_line() -> None:
    with pytest.raises(ValueError, match="chunk_size is 0"):
        validate([], chunk_size=0)
    with pytest.raises(ValueError, match="without chunk_size"):
        validate([], length="words")
    with pytest.raises(ValueError, match="chunk 1 is a int"):
        validate(["One.", 2])
    with pytest.raises(ValueError, match="unknown format 'docx'"):
        validate(["One."], documents={"d": "One."}, format="docx")
    with pytest.raises(ValueError, match="not one value"):
        validate("One.")
    with pytest.raises(ValueError, match="has no text"):
        validate([{"body": "One."}])


def test_stored_chunks_are_brought_into_reading_order() -> None:
    chunks = cut_at("has changed")
    assert validate(chunks[::-1]).issues != validate(chunks).issues
    assert validate(in_reading_order(chunks[::-1])).issues == validate(chunks).issues


def test_splitters_stand_side_by_side() -> None:
    table = validate_side_by_side(
        {"bad": cut_at("has changed"), "good": cut_at("- open")}, documents={"pumps": TEXT}
    )
    assert table.names == ("bad", "good")
    assert table.best == "good"
    assert [row.kind for row in table.rows] == [
        "issue-rate",
        "no-sentence-start",
        "no-sentence-end",
    ]
    assert table.rows[0].shares == (1.0, 0.0)
    with pytest.raises(ValueError, match="no chunks to compare"):
        validate_side_by_side({})


HOSTILE = st.text(alphabet="ab .\n\r`#|-*1.()[]「」。é\ud800\t>:", max_size=200)


@settings(max_examples=150)
@given(HOSTILE, st.lists(st.integers(0, 200), max_size=4))
def test_any_tiling_of_any_text_is_read_without_loss(text: str, places: list[int]) -> None:
    places = sorted({0, len(text), *(place for place in places if place < len(text))})
    chunks = [
        Chunk("d", n, start, end, text[start:end])
        for n, (start, end) in enumerate(pairwise(places))
    ]
    for documents in (None, {"d": text}):
        report = validate(chunks, documents=documents)
        assert report.chunks == len(chunks)
        assert report.kinds["gap"] == report.kinds["wrong-offset"] == 0 or not chunks
        assert set(report.kinds) == set(KINDS)
        for issue in report.issues:
            assert issue.start <= issue.end <= len(text)
            assert issue.size >= 0
            assert issue.excerpt is not None
    whole = validate([Chunk("d", 0, 0, len(text), text)], documents={"d": text})
    assert whole.kinds["no-sentence-end"] == whole.kinds["cut-list"] == 0


def test_memory_does_not_grow_with_the_chunks_but_for_their_hashes() -> None:
    def stream(count: int) -> Iterator[str]:
        return (f"Sentence number {n} is here and leads to the" for n in range(count))

    peaks = []
    for count in (1_000, 6_000):
        tracemalloc.start()
        validate(stream(count), keep=100)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 5_000 * 250


def test_indented_code_too_long_for_a_chunk_may_be_cut_between_lines() -> None:
    code = "".join(f"    call({n});\n" for n in range(40))
    text = f"Run:\n\n{code}\nDone.\n"
    chunks = cut_at("    call(20)", text=text, doc_id="d")
    settings = {"documents": {"d": text}, "length": "characters", "format": "markdown"}
    assert validate(chunks, chunk_size=400, **settings).kinds["broken-code-fence"] == 0
    assert validate(chunks, chunk_size=4000, **settings).kinds["broken-code-fence"] == 2


LONG = 50_000
HOSTILE_LINES = (
    "| " + "-" * LONG + "x",
    "-" * LONG + "x",
    " " * LONG + "x",
    "<" + "a" * LONG,
    "(" * LONG,
    "`" * LONG + "x",
    "> " * LONG,
    "* " * LONG + "x",
    "# " + "a " * LONG,
    "a=" * LONG,
    '"' * LONG,
    "." * LONG,
    "[" * LONG + "]: x",
    "a\n" * LONG,
)


@pytest.mark.parametrize("line", HOSTILE_LINES, ids=[line[:4] for line in HOSTILE_LINES])
def test_no_line_takes_more_than_linear_time(line: str) -> None:
    started = time.process_time()
    half = len(line) // 2
    chunks = [Chunk("d", 0, 0, half, line[:half]), Chunk("d", 1, half, len(line), line[half:])]
    validate(chunks)
    validate(chunks, documents={"d": line})
    assert time.process_time() - started < 3
