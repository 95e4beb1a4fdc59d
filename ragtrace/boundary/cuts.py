"""Judge a cut by the text on both sides of it: a sentence's end, inside one, or not to be told.

No segmenter runs here: the last line before the cut and the first words after it decide. The rules
stand in the order in which they are trusted.
"""

import re
from typing import Literal

from ragtrace.boundary import shapes
from ragtrace.boundary.words import LEADING_ON, STARTING
from ragtrace.chunking.languages import ABBREVIATIONS, TITLES

Verdict = Literal["end", "inside", "unsure"]

TAIL = 300  # characters before a cut that are looked at

_CLOSERS = "\"'”’»›)]}*_`~>」』】）〉》"
_TERMINAL = re.compile(
    r"[.!?…。！？｡．।॥؟۔։።‼⁇⁈⁉:](?:[\"'”’»›)\]}*_`~」』】）〉》]|\[\^?\d{1,3}\]|\s)*$"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“‘])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|[Ee]\.?g|[Ii]\.?e|[Cc]f|[Vv]s|[Dd]r|[Mm]rs?|"
    r"[Mm]s|[Pp]rof|[Ss]t|[Jj]r|[Ss]r|[Nn]o|[Nn]os|[Vv]ol|[Pp]p?|[Ff]ig|[Ff]igs|[Ee]q|[Ss]ec|[Cc]h|"
    r"[Aa]rt|[Rr]ef|[Ee]ds?|[Ii]nc|[Ll]td|[Cc]orp|[Cc]o|[Dd]ept|[Gg]en|[Cc]ol|[Ll]t|[Ss]gt|[Rr]ev|"
    r"[Hh]on|[Gg]ov|[Ss]en|[Rr]ep|[Pp]res|[Aa]pprox|[Ee]st|[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Jj]un|[Jj]ul|"
    r"[Aa]ug|[Ss]ept?|[Oo]ct|[Nn]ov|[Dd]ec|al|ca|viz|resp|incl|trans|bzw|z\.B|d\.h)\.$"
)
# A title that a name follows, an initial, and what an example or a number follows: none of these
# ends a sentence, whatever comes next. The other abbreviations may as well end one.
_NEVER_LAST = TITLES | ABBREVIATIONS | {word.capitalize() for word in ABBREVIATIONS}
_TITLE = re.compile(
    rf"(?:^|[\s(\[\"'“‘])(?:[A-HJ-Z]|{'|'.join(sorted(map(re.escape, _NEVER_LAST)))})\.$"
)
_STAMP = re.compile(
    r"(?:\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}|\d{1,2}:\d{2}(?::\d{2})?|[AP]M|\(?\+?\d[\d\-().]{6,}|"
    r"[\w\-]+\.(?:jpe?g|png|gif|pdf|docx?|xlsx?|pptx?|txt|html?|zip|csv|md|vcf))[)\]>]*"
)
_PICTURES = re.compile(r"\s*[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+\s*$")
_BARE_MARKER = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])")
_SPEAKS = re.compile(r"[とっ]|[^\s。！？，、a-z]{0,5}[说說道问問答喊叫]")
_LABEL = re.compile(r"[A-Z][\w'&\-]*(?: [A-Z][\w'\-]*)?:(?=\s|$)")
_SYMBOLS = re.compile(r"[-_=*~#<>|+•.]{2,}")
_IN_ADDRESS = re.compile(r"[/.=@:_&]")

_SALUTATION = re.compile(
    r"(?:^|\n|[.!?] )\s*(?:(?:Hi|Hello|Hey|Dear|Thanks|Best|Regards|Cheers|Sincerely|Good luck|"
    r"Kind regards|Best regards|Many thanks|Yours \w+)\b[\w .]{0,40}"
    r"|[A-Z][\w.]*(?: [A-Z][\w.]*)?)\s?[,:\-–]?$"
)


def judge_cut(before: str, after: str | None, *, in_paragraph: bool = False) -> Verdict:
    """Judge the cut between two texts; `after` is `None` where what follows is not known.

    Both are as they stand, white space included: a blank line between them tells much.
    `in_paragraph` says that the cut is known to be in a paragraph: nothing is taken for code then.

    >>> judge_cut("The annex needs new wiring", " and a second exit.")
    'inside'
    >>> judge_cut("The annex needs new wiring.", " It is old.")
    'end'
    """
    tail = before[-TAIL:]
    stripped = tail.rstrip()
    if not stripped or (after is not None and not after.strip()):
        return "end"
    gap = tail[len(stripped) :]
    following = None
    if after is not None:
        following = after.lstrip()
        gap += after[: len(after) - len(following)]
        if not gap and _is_inside_word(stripped, following[0]):
            return "inside"
    line = stripped.rsplit("\n", 1)[-1]
    if _BARE_MARKER.fullmatch(line) and "\n" not in gap:
        return "inside"
    starts_block = following is not None and _starts_block(following)
    if gap.count("\n") >= 2 and following is not None:
        # A blank line ends a sentence, except where one visibly goes on (text from a PDF).
        leads_on = stripped[-1] in ",([{“‘«" or _leads_on(stripped)
        return "inside" if leads_on and not starts_block and following[0].islower() else "end"
    verdict = _judge_line(line, following, starts_block, in_paragraph)
    if verdict is not None:
        return verdict
    pictureless = _PICTURES.sub("", stripped[-12:])
    if len(pictureless) < len(stripped[-12:]):
        stripped = stripped[:-12] + pictureless
        if following is None or not following[0].islower():
            return "end"
    if _TERMINAL.search(pictureless):
        return _judge_terminal(stripped, gap, following, starts_block)
    return _judge_open(stripped, gap, line, following, starts_block)


def goes_on(text: str) -> bool:
    """Tell whether a text, though nothing follows it, visibly was to go on.

    >>> goes_on("Bring the keys, the lamp and the"), goes_on("Kind regards")
    (True, False)
    """
    stripped = text[-TAIL:].rstrip()
    line = stripped.rsplit("\n", 1)[-1]
    if not stripped or _is_block_line(line):
        return False
    if stripped[-1] in ",([{“‘«":
        return _SALUTATION.search(line) is None
    return _leads_on(stripped)


def judge_start(text: str) -> Verdict:
    """Judge the start of a chunk alone, what comes before it being unknown.

    >>> judge_start("and a second exit."), judge_start("The exit.")
    ('inside', 'end')
    """
    stripped = text.lstrip()
    if not stripped:
        return "end"
    line = stripped.split("\n", 1)[0]
    if _starts_block(stripped) or _is_block_line(line):
        return "end"
    first = stripped[0]
    if first in ",;:.!?)]}»”、。，；：！？）」』…%" and not stripped.startswith(("...", "…")):
        return "inside"
    if first.islower():
        word = line.split(maxsplit=1)[0]
        # An identifier, a path, an address or a name such as iPhone may start anything.
        named = re.search(r"[A-Z\d_./:@(=<]", word.rstrip(".,:;")) is not None
        return "unsure" if named else "inside"
    return "end"


def _is_inside_word(left: str, right: str) -> bool:
    """Tell whether nothing sets two texts apart: no space, no stop, no change to another script."""
    if _is_wide(left[-1]) or _is_wide(right):
        return False
    if left[-1].isalnum() and right.isalnum():
        return True
    return not (
        _TERMINAL.search(left[-12:]) and (right.isalnum() or right in "\"'“‘([*_`「『（《〈【")
    )


def _is_wide(character: str) -> bool:
    return "぀" <= character <= "鿿" or "가" <= character <= "힣" or "฀" <= character <= "๿"


def _starts_block(text: str) -> bool:
    """Tell whether a text starts with a heading, list item, table, fence or rule."""
    line = text.split("\n", 1)[0]
    return bool(
        shapes.HEADING.match(line)
        or shapes.read_item(line)
        or shapes.FENCE.match(line)
        or shapes.is_row(line)
        or shapes.RULE.fullmatch(line)
        or shapes.is_markup(line)
        or line.startswith(("$$", "<!--", "> "))
    )


def _is_block_line(line: str) -> bool:
    return bool(
        shapes.HEADING.match(line)
        or shapes.is_row(line)
        or shapes.DELIMITER_ROW.fullmatch(line)
        or shapes.FENCE.match(line)
        or shapes.RULE.fullmatch(line)
        or shapes.BOLD_LINE.fullmatch(line)
        or shapes.is_markup(line)
        or shapes.is_code(line)
    )


def _judge_line(
    line: str, following: str | None, starts_block: bool, in_paragraph: bool
) -> Verdict | None:
    """Judge by the shape of the last line; `None` where it is plain prose."""
    if not in_paragraph and _is_block_line(line):
        return "end"
    if following is not None and following[0] in ",;:!?)]}»”、，；：）」』":
        return "inside"
    if shapes.CAPTION.fullmatch(line) and (following is None or not following[0].islower()):
        return "end"
    item = shapes.read_item(line)
    if item is not None and (starts_block or following is None):
        return None if _leads_on(line) else "end"
    return None


def _judge_terminal(stripped: str, gap: str, following: str | None, starts_block: bool) -> Verdict:
    """Judge a cut after a stop, a question mark or their like."""
    bare = stripped.rstrip(_CLOSERS + " ")
    closed = len(bare) < len(stripped)
    if starts_block:
        return "end"
    if bare.endswith(":"):
        # A lead-in ends its line; "Note: the" does not.
        return "end" if following is None or "\n" in gap else "inside"
    if following is None:
        return "inside" if bare.endswith(".") and _TITLE.search(bare[-12:]) else "end"
    first = following[0]
    if not gap and not closed and (first.isalnum() and bare[-1] in ".?!" and not _is_wide(first)):
        # "config.prod", "3.5"; but "quality.You" lacks only its space.
        inside = first.islower() or first.isdigit() or "." in _first_word(following)[1:-1]
        if inside and bare[-1] in "?!" and not _IN_ADDRESS.search(_last_word(bare)):
            return "end"
        return "inside" if inside else "unsure"
    if bare.endswith(".") and not closed:
        short = bare[-12:]
        if _TITLE.search(short) or (first.islower() and _ABBREVIATION.search(short)):
            return "inside"
        if first.isdigit() and _ABBREVIATION.search(short):
            return "inside"
    if first.islower() and bare.endswith(("...", "…")):
        return "unsure"
    if first.islower() and closed and stripped[-1] in "\"'”’»」』":
        return "inside"  # '"Is there a key?" he asked.'
    if closed and stripped[-1] in "」』”" and _SPEAKS.match(following):
        return "inside"  # 「もう食べました。」と弟が言った。
    return "end"


def _judge_open(
    stripped: str, gap: str, line: str, following: str | None, starts_block: bool
) -> Verdict:
    """Judge a cut after a line that has no stop."""
    last = stripped[-1]
    word = _last_word(stripped)
    marks_end = bool(shapes.ADDRESS.fullmatch(word) or _STAMP.fullmatch(word))
    if following is None:
        if marks_end or (_is_title(line) and len(stripped) > len(line)) or _is_title(stripped):
            return "end"
        return "end" if shapes.ATTRIBUTION.fullmatch(line) else "inside"
    if starts_block:
        return "inside" if _leads_on(stripped) and "\n" not in gap else "end"
    first_word = _first_word(following)
    if last in ",;([{“‘«-–—/&":
        salutation = last in ",-–—" and _SALUTATION.search(stripped[-60:])
        return "end" if salutation and not following[0].islower() else "inside"
    if _SYMBOLS.fullmatch(word) or _SYMBOLS.match(first_word):
        return "end"
    if shapes.ADDRESS.fullmatch(first_word) or _LABEL.match(following):
        return "inside" if _leads_on(stripped) else "end"
    if marks_end:
        return "end" if not following[0].islower() else "unsure"
    if "\n" in gap and len(line) < 45 and not following[0].islower() and not _leads_on(stripped):
        return "end"
    if following[0].islower() or following[0] in "%":
        return "inside"
    if first_word.rstrip(".,:;!?") in STARTING and not _leads_on(stripped):
        return "end"
    if _STAMP.match(first_word):
        return "unsure"
    return "inside"


def _is_title(line: str) -> bool:
    """Tell whether a line without a stop may be a heading: short, and its words begin large."""
    line = line.strip(" *_#\t")
    return (
        len(line) <= 60 and not _leads_on(line) and line[:1].isupper() and line[-1:] not in ",;-("
    )


def _leads_on(text: str) -> bool:
    word = _last_word(text).lstrip("(\"'“‘[*_").lower()
    return word in LEADING_ON


def _last_word(text: str) -> str:
    words = text[-80:].rsplit(maxsplit=1)
    return words[-1] if words else ""


def _first_word(text: str) -> str:
    words = text[:80].split(maxsplit=1)
    return words[0] if words else ""
