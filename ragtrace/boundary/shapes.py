"""What a line looks like: heading, list item, table row, caption, code, address, quotation.

Cheap patterns over single lines; each is anchored or bounded, so no line takes more than linear
time.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

QUOTE_MARK = r"(?:[ \t]*>)*"

BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
FENCE = re.compile(
    rf"{QUOTE_MARK}[ \t]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+)?"
    r"(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)"
)
_FENCE_RUN = re.compile("```|~~~")
HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+\S")
UNDERLINE = re.compile(r"[ ]{0,3}(?:={2,}|-{2,})[ \t]*")
ITEM = re.compile(
    rf"{QUOTE_MARK}(?P<indent>[ \t]*)"
    r"(?:(?P<bullet>[-*+•‣▪–])|(?P<number>\d{1,3})(?P<stop>[.)]))[ \t]+(?=\S)"
)
ROW = re.compile(rf"{QUOTE_MARK}[ \t]*\|.*\|[ \t]*")
DELIMITER_ROW = re.compile(
    rf"{QUOTE_MARK}[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+|:?-++:?[ \t]*+\|)[-:| \t]*+"
)
CAPTION = re.compile(
    r"[*_]{0,3}(?:Figure|Fig\.|Table|Tab\.|Listing|Example|Equation|Eq\.|Photo|Image|Source|Box|"
    r"Abbildung|Tabelle|Tableau|Figura|Tabla|图|表|図)\s{0,2}[\dA-Z][\w.\-]{0,8}[:.)\s—–]?.{0,300}"
)
ADDRESS = re.compile(
    r"(?:[<(\[\"']|URL:|at:)?(?:(?:https?|ftp|file|mailto|git|ssh|s3)://?\S+|www\.\S+|"
    r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)*)[>)\]\"'.,]*",
    re.IGNORECASE,
)
CODE_START = re.compile(
    r"\s*(?:def |class |import |from \S+ import|return\b|elif |else:|try:|except\b|with \S+.*:$|"
    r"for .+[:{]$|while .+[:{]$|if .+[:{]$|func |fn |pub |let |const |var |static |public |"
    r"private |protected |package |namespace |using |struct |enum |impl |type \w+ |"
    r"#include|#define|#!|"
    r"@\w+\s*(?:\(|$)|//|/\*|\*/|--\s|\$ \S|>>> ?|\.\.\. |</?\w[^>]*>\s*$|"
    r"SELECT |INSERT |CREATE )"
)
CODE_END = re.compile(r"(?:[;{}]|\)\s*=>|=>|\]\s*,|\)\s*,|\},?|\\|&&|\|\||::|==|\(\)\)*|/>)\s*$")
ASSIGNMENT = re.compile(r"\s*[\w.\[\]\"'$\-]+\s*(?:[+\-*/|&]?=|:=|:)\s*[\[{\"'\w$(<&*\-].*")
BOLD_LINE = re.compile(r"\s*(?:\*\*[^*\n]{1,100}\*\*|__[^_\n]{1,100}__):?\s*")
MARKUP = re.compile(r"\s*(?:\[[^\]\n]{1,200}\]:\s|:::|\{[*%{])")
MARKUP_ENDS = ("-->", "%}", "*}")
RULE = re.compile(r"\s*(?:[-*_=~#+.]{3,}|(?:[-*_]\s+){2,}[-*_])\s*")
ATTRIBUTION = re.compile(r"\s*(?:[—–]|--)\s?[^\W\d_].{0,80}")


_PLAIN_WORD = re.compile(r"(?<= )[a-z]{2,}(?=[ ,.]|$)")
_MANY = 4  # plain words in a line of code


class Item(NamedTuple):
    """A list item's marker: how far it is indented, its bullet, or its number."""

    indent: int
    bullet: str
    number: int | None


def read_item(line: str) -> Item | None:
    """Read the marker of a list item, `None` where the line is none.

    >>> read_item("  3) Tighten the screws")
    Item(indent=2, bullet=')', number=3)
    """
    match = ITEM.match(line)
    if match is None or RULE.fullmatch(line):
        return None
    indent = len(match["indent"].expandtabs(4))
    if match["bullet"]:
        return Item(indent, match["bullet"], None)
    return Item(indent, match["stop"], int(match["number"]))


def is_code(line: str) -> bool:
    """Tell whether a line is more likely code than prose."""
    if CODE_START.match(line):
        return True
    if len(_PLAIN_WORD.findall(line, 0, 160)) > _MANY:
        return False
    if CODE_END.search(line[-12:]):
        return True
    # "key: value" is code only where what follows is not a sentence.
    return (
        bool(ASSIGNMENT.fullmatch(line))
        and line.count(" ") - (len(line) - len(line.lstrip())) <= 6
        and not line.rstrip().endswith((".", "!", "?"))
    )


def is_markup(line: str) -> bool:
    """Tell whether a line is a link definition, a directive, or the end of a comment."""
    return MARKUP.match(line) is not None or line.rstrip().endswith(MARKUP_ENDS)


def is_row(line: str) -> bool:
    """Tell whether a line is a whole table row with its outer bars."""
    return ROW.fullmatch(line) is not None


def find_fences(text: str) -> Iterator[re.Match[str]]:
    """Yield the lines that look like a fence, each as a match of `FENCE`."""
    if "```" not in text and "~~~" not in text:
        return
    next_line = 0
    for run in _FENCE_RUN.finditer(text):
        if run.start() < next_line:
            continue
        match = FENCE.match(text, text.rfind("\n", next_line, run.start()) + 1 or next_line)
        if match is not None:
            yield match
        next_line = (text.find("\n", run.start()) + 1) or len(text)


def open_fence(text: str, inside: str = "") -> str:
    r"""Return the run of marks of the fence that is open at the end of the text, `""` for none.

    `inside` is the fence that was open before it. Rules are CommonMark's: a fence is closed by a
    bare run of the same mark, at least as long.

    >>> open_fence("````md\n```\nx\n```")
    '````'
    """
    for match in find_fences(text):
        run, info = match["run"], match["info"].strip()
        if not inside:
            if run[0] == "~" or "`" not in info:
                inside = run
        elif run[0] == inside[0] and len(run) >= len(inside) and not info:
            inside = ""
    return inside
