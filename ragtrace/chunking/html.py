"""HTML: turned into Markdown that reads as the page does, and split as Markdown."""

import re
from collections.abc import Iterator
from typing import Any

from ragtrace.chunking.chunk import Chunk
from ragtrace.chunking.graphemes import replace_surrogates
from ragtrace.chunking.html_tags import simplify_html
from ragtrace.chunking.split import split

# What a browser shows to nobody, and what leads elsewhere.
_LEFT_OUT = ["nav", "[role=navigation]", "video", "audio", "canvas"]
_LEADING_RULES = re.compile(r"(?:---\n\s*)+")
_LEAD = re.compile(r"(?:[ >]|[-*+] |[0-9]{1,9}[.)] )*")
_LIKE_HTML = re.compile(r"<[!?/A-Za-z]")


def convert_html(html: str) -> str:
    r"""Return the text of an HTML page as Markdown: headings, lists, tables, fences.

    Scripts, styles, comments, the title and navigation (`nav`) are gone; headers, footers and what
    is hidden at first, such as the panel of a tab, are kept. Emphasis and links leave their text,
    pictures what is said in their place.

    >>> convert_html("<h2>Ask &amp; tell</h2><p>The <b>bold</b>\n<a href='x'>link</a>.</p>")
    '## Ask & tell\n\nThe bold link.'
    """
    try:
        from html_to_markdown import ConversionOptions, PreprocessingOptions, convert
    except ImportError as error:
        raise ImportError(
            "format 'html' needs html-to-markdown: pip install 'ragtrace-kit[html]'"
        ) from error

    options = ConversionOptions(
        autolinks=False,
        bullets="-",
        compact_tables=True,
        exclude_selectors=_LEFT_OUT,
        extract_metadata=False,
        hidden_content="reachable",
        include_blockquote_citations=False,
        preprocessing=PreprocessingOptions(remove_forms=False, remove_navigation=False),
    )
    readable = replace_surrogates(html.replace("\0", ""), "\ufffd").removeprefix("\ufeff")
    # Without the tag in front, a text that begins like a PDF or an archive would be refused.
    converted = convert(f"<body>{simplify_html(readable)}", options).content or ""
    # A page that begins with a rule would be taken for one with front matter.
    text = converted[rules.end() :] if (rules := _LEADING_RULES.match(converted)) else converted
    return "\n".join(_escaped_lines(text.strip("\n")))


def split_html(html: str, **settings: Any) -> tuple[str, list[Chunk]]:
    """Split an HTML page; return the converted text that offsets refer to, and the chunks.

    The settings are `split`'s, without `format`.

    >>> text, [chunk] = split_html("<h1>Time</h1><p>Five seconds.</p>", chunk_size=30)
    >>> chunk.heading_path, text[chunk.start : chunk.end] == chunk.text
    (('Time',), True)
    """
    text = convert_html(html)
    return text, split(text, format="markdown", **settings)


def _escaped_lines(text: str) -> Iterator[str]:
    """Yield the lines; text that begins one like a tag is marked as text, but not in fences."""
    fence = ""
    for line in text.split("\n"):
        lead = _LEAD.match(line)
        at = lead.end() if lead else 0
        rest = line[at:]
        if fence:
            if rest.startswith(fence) and not rest.strip(" `"):
                fence = ""
        elif rest.startswith("```"):
            fence = rest[: len(rest) - len(rest.lstrip("`"))]
        elif _LIKE_HTML.match(rest):
            line = f"{line[:at]}\\{rest}"
        yield line
