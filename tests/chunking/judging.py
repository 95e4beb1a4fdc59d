"""What must be true of the chunks of any text, and texts that try to break it."""

import itertools
import re
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from ragtrace.chunking import Chunk

# Each a construct, or half of one, that some splitter stumbles over.
FRAGMENTS = (
    *("One two. ", "Dr. No, e.g. 3.5! ", "(a [b {c", ")]} ", "word " * 12, "x" * 40, "a, b; c: d "),
    *("\n", "\n\n", "\r\n", "\r", "\t", "    ", " ", "\u00a0", "\u2028", "\ufeff", "\x00"),
    *("# H\n", "## H *x* `y` ##\n", "Title\n===\n", "Sub\n---\n", "\n# \n", "#no\n"),
    *("```\n", "````py\n", "~~~\n", "  ```\n", "- ```py\n  x\n", "> ```\n> y\n", "code()\n" * 9),
    *("| a | b |\n|---|---|\n", "| 1 | 2 |\n" * 4, "|", "| x \\| y | z |\n"),
    *(
        "- item\n",
        "  - sub\n",
        "1. one\n",
        "   more\n",
        "> quote\n",
        ">> deep\n",
        "* * *\n",
        "---\n",
    ),
    *(
        "<!--\n",
        "-->\n",
        "<div>\n",
        "</div>\n",
        "$$\n",
        "::: note\n",
        ":::\n",
        "/// tip\n",
        "///\n",
    ),
    *("[a]: http://b.c\n", "[^1]: note\n", "text[^1] ", "as follows:\n\n", "    indented\n"),
    *(
        "猫が鳴く。",
        "会议开始！",
        "👨‍👩‍👧",
        "e\u0301" * 5,
        "🇩🇪🇫🇷",
        "각",
        "\ud800",
        "\udc00",
        "𠮷",
        "ß",
    ),
    *("<|endoftext|>", "…", "¿qué? ", '"Yes." ', "http://a.b/c?d=e "),
)
hostile_texts = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)


def check_chunks(
    text: str,
    chunks: Sequence[Chunk],
    budget: int,
    count: Callable[[str], int],
    *,
    overlaps: bool = False,
) -> None:
    """Assert the invariants that hold for every format and setting, `oversize="split"`."""
    covered = bytearray(len(text))
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        assert chunk.length == count(chunk.content)
        # A single code point may be over any budget; nothing smaller is text.
        assert chunk.length <= budget or len(chunk.text) == 1
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    lost = [text[i] for i, seen in enumerate(covered) if not seen and not text[i].isspace()]
    assert not lost
    for index, (one, other) in enumerate(itertools.pairwise(chunks)):
        assert one.start < other.start
        assert one.index == index
        assert one.end < other.end
        if not overlaps:
            assert one.end <= other.start


def open_fence(text: str) -> str | None:
    """Return the fence that a chunk leaves open when it is read alone."""
    fence: str | None = None
    for line in re.split(r"\r\n|\n|\r", text):
        body = re.sub(r"^(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*", "", line)
        mark = re.match(r"(`{3,}|~{3,})(.*)", body)
        if mark is None:
            continue
        if fence is None:
            fence = None if mark[1][0] == "`" and "`" in mark[2] else mark[1]
        elif mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
            fence = None
    return fence
