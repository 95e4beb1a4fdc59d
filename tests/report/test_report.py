"""The page: whole, safe, and readable without a script."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.chunking import split
from ragtrace.evaluation import EvalSet, analyze, collect, run_eval, what_if
from ragtrace.index import Bm25Retriever
from ragtrace.report import render_report
from ragtrace.report.passages import cut_into_parts, mark_answers, mark_boundaries

EVIL = "<script>alert('x')</script> & \"quotes\""
GUIDE = f"Keys rotate {EVIL} once a month for everybody. Logs are kept for a year and a day."
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Reader(HTMLParser):
    """Read a page; note its tags, its text, and whether every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def run(path):
    """Ask two questions, of which the first is cut, with everything evil that a text may hold."""
    chunks = split(GUIDE, chunk_size=5, length="words", doc_id="<guide>")
    questions = EvalSet.from_items(
        [
            {
                "query": f"When do keys rotate? Once a year? {EVIL}",
                "gold": [{"quote": GUIDE.split(". ")[0]}],
            },
            {"query": "How long are logs kept?", "gold": [{"quote": "Logs are kept for a"}]},
        ]
    )
    run_eval(Bm25Retriever(chunks), questions, trace_path=path, top_k=4)
    documents = {"<guide>": GUIDE}
    given = {"chunks": chunks, "documents": documents, "k": 2}
    analysis = analyze(path, questions, **given)
    traces = collect(path, questions, k=2).latest
    return analysis, traces, chunks, documents, what_if(path, questions, **given)


def render(run, **changes):
    analysis, traces, chunks, documents, repairs = run
    settings = {"traces": traces, "chunks": chunks, "documents": documents, "repairs": repairs}
    return render_report(analysis, **(settings | changes))


def test_the_page_is_whole_and_holds_nothing_that_runs_or_loads(run):
    page = Reader(render(run, title=EVIL))
    assert page.open == []
    assert not page.tags & {"script", "link", "img", "iframe", "object", "form"}
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "style"})
    links = [value for name, value in page.attributes if name == "href"]
    assert links
    assert all(link.startswith("#q") for link in links)
    assert "http" not in re.sub(r"http-equiv", "", render(run))


def test_every_text_is_shown_as_it_is(run):
    page = Reader(render(run, title=EVIL))
    assert page.text.count(EVIL) >= 3
    assert "<guide>" in page.text


def test_answer_and_boundaries_are_marked(run):
    page = render(run)
    assert page.count("<mark>") >= 2
    assert '<b class="cut"' in page
    assert "⟦" in page
    assert "(beyond k)" in page
    text = Reader(page).text
    for name in ("recall@2", "whole in one hit@2", "cut_misses", "Repairs tried", "context"):
        assert name in text


def test_without_traces_the_page_says_what_it_lacks(run):
    page = render(run, traces={}, chunks=(), documents={}, repairs=None)
    assert "No hits to show" in page
    assert "Repairs tried" not in page
    assert Reader(page).open == []


def test_only_the_first_lost_questions_are_shown_and_the_rest_is_counted(run):
    page = render(run, most=0)
    assert "<details" not in page
    assert "and 1 more lost questions" in page


def test_a_run_without_a_loss_says_so(path):
    chunks = split("Keys rotate.", doc_id="a")
    questions = EvalSet.from_items([{"query": "Do keys rotate?", "expected_chunk_ids": ["a#c0"]}])
    run_eval(Bm25Retriever(chunks), questions, trace_path=path)
    page = render_report(analyze(path, questions, chunks=chunks))
    assert "No question was lost" in page
    assert "nan" not in page
    empty = render_report(analyze([], questions, chunks=chunks))
    assert "No question was lost" in empty


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40))),
    st.lists(st.integers(-5, 50)),
)
def test_cutting_into_parts_loses_nothing(text, spans, boundaries):
    spans = [(min(span), max(span)) for span in spans if max(span) <= len(text)]
    parts = cut_into_parts(text, spans, boundaries)
    assert "".join(part.text for part in parts) == text
    marked = "".join(part.text for part in parts if part.marked)
    assert len(marked) == len({place for start, end in spans for place in range(start, end)})
    assert sum(part.boundary for part in parts) == len(
        {place for place in boundaries if 0 <= place < len(text)}
    )


def test_an_answer_is_shown_with_the_chunks_that_cut_it():
    text = "One two. Three four. Five six."
    chunks = split(text, chunk_size=2, length="words", doc_id="d")
    before, held, after = mark_boundaries(text, (4, 14), chunks)
    assert [part.text for part in held] == ["two.", " ", "Three"]
    assert all(part.marked for part in held)
    assert ("".join(p.text for p in before), "".join(p.text for p in after)) == (
        "One ",
        " four. Five six.",
    )
    assert mark_answers("nothing here", ["else"]) == cut_into_parts("nothing here", [], [])


def test_the_command_writes_a_page_from_traces_and_from_an_analysis(ragtrace, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(GUIDE)
    (tmp_path / "e.json").write_text(
        json.dumps([{"query": "When do keys rotate?", "gold": [{"quote": "once a month for"}]}])
    )
    split_it = ("split", "docs", "--chunk-size", 5, "--length", "words", "-o", "c.jsonl")
    assert ragtrace(*split_it).returncode == 0
    assert ragtrace("eval", "run", "e.json", "--chunks", "c.jsonl").returncode == 0
    made = ("report", "run.jsonl", "-e", "e.json", "--chunks", "c.jsonl", "-o", "report.html")
    result = ragtrace(*made)
    assert result.stdout.startswith("report.html: 1 questions scored"), result.stderr
    assert "⟦" in (tmp_path / "report.html").read_text(encoding="utf-8")
    saved = ragtrace("analyze", "run.jsonl", "-e", "e.json", "--documents", "docs", "--json")
    (tmp_path / "saved.json").write_text(saved.stdout)
    assert ragtrace("report", "saved.json", "-o", "second.html").returncode == 0
    assert "No hits to show" in (tmp_path / "second.html").read_text(encoding="utf-8")
    missing = ragtrace("report", "run.jsonl", "-o", "third.html")
    assert missing.returncode == 2
    assert "-e" in missing.stderr
