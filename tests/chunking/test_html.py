"""HTML becomes Markdown that reads as the page does, then chunks of it."""

import re
import time
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragtrace.chunking import split, split_html
from ragtrace.chunking.html import convert_html
from tests.chunking.judging import check_chunks

PAGE = """<!DOCTYPE html><html><head><title>Site | Guide</title><style>h2 { color: red }</style>
</head><body><nav><a href="/">Home</a></nav><header>Acme</header><article><header><h1>Fish &amp;
chips</h1></header><!-- draft --><p>Eat <b>them</b>
<a href="x">hot</a>, <em>not</em> cold.</p><h2>Prices</h2>
<table><caption>Today</caption><tr><th>dish</th><th>price</th></tr><tr><td>cod</td><td>9 | 10</td>
</tr></table><pre><code class="language-py">if x:
    y  =  1
# not a heading
</code></pre></article><script>var h = "</h2><h2>No</h2>";</script><footer>Contact</footer>"""


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text)


class VisibleText(HTMLParser):
    """Read the text a page shows, in the simplest way that is right for what is generated here."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self._hidden: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag in ("script", "style", "title", "nav"):
            self._hidden.append(tag)
        elif tag not in INLINE:
            self.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            self._hidden.remove(tag)
        elif tag not in INLINE:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text.append(data)


INLINE = ("a", "b", "em", "span", "code")
CONTAINERS = ("div", "section", "article", "header", "footer", "aside", "blockquote", "details")
texts = st.lists(
    st.one_of(
        st.text("abcdefghij", min_size=1, max_size=6),
        st.sampled_from(
            ["# ", "- ", "1. ", "<!--", "<div>", "```", "|", "---", "\n", "*", "&", "="]
        ),
    ),
    min_size=1,
    max_size=6,
).map(lambda parts: escape(" ".join(parts)))


def wrapped(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bodies = st.lists(children, min_size=1, max_size=4)
    inline = st.tuples(st.sampled_from(INLINE[:-1]), bodies).map(
        lambda t: wrap(t[0], " ".join(t[1]))
    )
    blocks = st.tuples(st.sampled_from(CONTAINERS), bodies).map(lambda t: wrap(t[0], "".join(t[1])))
    lists = st.tuples(st.sampled_from(["ul", "ol"]), bodies).map(
        lambda t: wrap(t[0], "".join(wrap("li", item) for item in t[1]))
    )
    tables = st.lists(st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=3).map(
        lambda rows: wrap("table", "".join(wrap("tr", cells(row)) for row in rows))
    )
    terms = st.tuples(texts, bodies).map(
        lambda t: wrap("dl", wrap("dt", t[0]) + "".join(wrap("dd", body) for body in t[1]))
    )
    leaves = st.tuples(
        st.sampled_from(["p", "h1", "h2", "h3", "pre", "summary", "div><code"]), texts
    ).map(lambda t: wrap(*t))
    noise = st.sampled_from(
        [
            "<script>if (a < b) x = '</h2>';</script>",
            "<style>p { q: r }</style>",
            "<nav><a href=s>t</a></nav>",
            "<!-- u <p> -->",
            "<br>",
            "<hr>",
            "<img src=v>",
        ]
    )
    return st.one_of(inline, blocks, lists, tables, terms, leaves, noise)


def wrap(tag: str, body: str) -> str:
    return f"<{tag}>{body}</{'></'.join(reversed(tag.split('><')))}>"


def cells(row: list[str]) -> str:
    return "".join(wrap("td", cell) for cell in row)


# Only blocks stand beside each other, so that no word runs into the next.
pages = st.recursive(texts.map(lambda text: wrap("p", text)), wrapped, max_leaves=12)


@settings(max_examples=150)
@given(html=pages)
@example(html="<hr><p>a</p><hr><p>b</p>")
def test_no_visible_word_is_lost_and_none_is_added(html: str) -> None:
    assert words(convert_html(html)) == words("".join(VisibleText(html).text))


FRAGMENTS = (
    *(
        "<p>",
        "</p>",
        "<div",
        ">",
        "<",
        "</",
        "<!--",
        "-->",
        "<!",
        "<?php",
        "<h2>",
        "</h3>",
        "<pre>",
    ),
    *("</pre>", "<table>", "<td>", "<tr>", "<ul>", "<li>", "<script>", "</script>", "<b>", "</i>"),
    *('<a href="', "='", '"', "<svg>", "<img alt='x'>", "<textarea>", "<title>", "&amp", "&#0;"),
    *(
        "word ",
        "```\n",
        "# no\n",
        "| a | b |\n",
        "猫。",
        "\ud800",
        "\x00",
        "\r\n",
        "\ufeff",
        "<body>",
    ),
)


@settings(max_examples=150)
@given(
    html=st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join),
    budget=st.integers(5, 60),
)
def test_chunks_of_broken_html_keep_every_promise(html: str, budget: int) -> None:
    text, chunks = split_html(html, chunk_size=budget, length="characters")
    check_chunks(text, chunks, budget, len)
    assert split(html, format="html", chunk_size=budget, length="characters") == chunks


def test_a_page_reads_as_its_reader_sees_it() -> None:
    assert convert_html(PAGE) == (
        "Acme\n\n# Fish & chips\n\nEat them hot, not cold.\n\n## Prices\n\nToday\n\n"
        "| dish | price |\n| --- | --- |\n| cod | 9 \\| 10 |\n\n"
        "```py\nif x:\n    y  =  1\n# not a heading\n```\n\nContact"
    )


def test_chunks_know_the_headings_above_them() -> None:
    chunks = split(PAGE, format="html", chunk_size=60, length="characters")
    assert {c.heading_path for c in chunks if "cod" in c.text} == {("Fish & chips", "Prices")}
    assert {heading for c in chunks for heading in c.heading_path} == {"Fish & chips", "Prices"}


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("   \n ", ""),
        ("no markup", "no markup"),
        ("a < b && c > d", "a < b && c > d"),
        ("if a <b then", "if a <b then"),
        ("<p>a<br>b</p>", "a  \nb"),
        ("<dl><dt>Term<dd>One<dd>Two<dt>Next<dd>Three</dl>",
         "- Term\n\n  One\n\n  Two\n\n- Next\n\n  Three"),
        ("<details><summary>More</summary>text</details>", "More\n\ntext"),
        ("<p>x <img src='a.png' alt='a &lt; b'> y</p>", "x a < b y"),
        ("<p title=it's>a</p><p>b's</p>", "a\n\nb's"),
        ("<p>&lt;!-- text</p><h2>Go on</h2>", "\\<!-- text\n\n## Go on"),
        ("<pre>&lt;div>\n```\n</pre>", "````\n<div>\n```\n````"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        (
            "<table><tr><td>a<table><tr><td>b</td></tr></table></td><td>c</td></tr></table>",
            "| a b | c |\n| --- | --- |",
        ),
        ("<form><h2>Ask</h2><button>Go</button></form>", "## Ask\n\nGo"),
        ("<div hidden>tab</div><template>no</template>", "tab"),
        ("<textarea><b>x</textarea>", "\\<b>x"),
        ("<hr><p>a</p><hr>", "a\n\n---"),
        ("%PDF-1.7 is no page", "%PDF-1.7 is no page"),
        ("\ufeff<p>marked</p>", "marked"),
    ],
)  # fmt: skip
def test_html_is_converted(html: str, text: str) -> None:
    assert convert_html(html) == text


@pytest.mark.parametrize(
    "tag", ["div", "b", "font", "ul><li", "table><tr><td", "blockquote", "dl><dd"]
)
def test_text_is_kept_however_deep_it_stands(tag: str) -> None:
    html = f"<{tag}>wq" * 3000 + "</div>" * 3000 + "<h2>end</h2>"
    assert convert_html(html).count("wq") == 3000


@pytest.mark.parametrize(
    "piece",
    ["<", "<!--", "<a href=", '<a href="', "<a b='c", "</", "<?", "&amp", "</script ", "\n"],
)  # fmt: skip
def test_time_is_linear_in_hostile_html(piece: str) -> None:
    started = time.perf_counter()
    convert_html("<script>" * (piece == "</script ") + piece * 100_000)
    # Quadratic time would be minutes; linear time is below a second.
    assert time.perf_counter() - started < 20
