"""Sentences by rules: exact spans, linear time, no model and nothing to load."""

import re
from typing import Protocol

from ragtrace.chunking.languages import (
    CLOSING,
    LANGUAGES,
    MONTHS,
    NUMBERED,
    OPEN_ENDED,
    SPEECH,
    STARTERS,
    TITLES,
)

Span = tuple[int, int]


class Segmenter(Protocol):
    """Cut text into sentences.

    Returns half-open code-point spans, in order, disjoint, that together cover every character
    that is not white space. A segmenter keeps no state between calls and can be pickled.
    """

    def __call__(self, text: str) -> list[Span]: ...


# A blank line, however it is spelled.
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*|\r\r\s*|\u2029\s*")
_MARKER = re.compile(r"[^\S\n]*(?:([-*+•‣▪●◦·⁃])\s|\(?(?:[0-9]{1,3}|[A-Za-z])[.)]\s)")
_FIRST_WORD = re.compile(r"\S*")

# Every repetition is possessive and everything after the stop is optional: a candidate never
# fails after it has read a long run, so no input is read twice.
_STOP = re.compile(
    r"(?P<stop>[.!?…‽⁇⁈⁉]++(?:[ \u00a0]\.++)*+|[。！？｡．؟۔।॥።։។။]++)"
    r"(?P<closing>(?:[\"'”’“»«›)\]}」』）】》〉*_\u00b9\u00b2\u00b3]|[ \u00a0\u202f]»"
    r"|\[[0-9][0-9,–-]{0,9}\])*+)"
    r"(?P<space>\s*+)"
    r"(?P<opening>[\"'“‘«»‹„¿¡(\[{「『（*_–—-]*+)"
)
_WORD = re.compile(r"[^\W_][\w'’]*+")
_SPOKEN = re.compile(r"(?:[A-Z][\w.]*+\s){1,3}(?:" + "|".join(sorted(SPEECH)) + r")\b")
_CITED_ON = re.compile("[とって]|[^\\s。！？，、]{0,5}[说說道问問答喊叫]")
_ENUMERATOR = re.compile(r"[•⁃*-]?\s?\(?(?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]{1,2}")
_ACRONYM = re.compile(r"(?:\w\.)+\w{1,2}")
_ITEM = re.compile(
    r"(?:(?P<bullet>[•⁃])\s?)?(?:(?P<number>[0-9]{1,2})|(?P<letter>a))(?P<end>\.\)|[.)])\s"
)
_UNCASED_STOPS = frozenset("。！？｡．؟۔।॥።։។။")
_VOWELS = frozenset("aeiouyAEIOUYäöüéèêáàâíóúåøæœ")


class RuleSegmenter:
    """Cut text into sentences by rules and small tables.

    `language` is a two-letter code; it adds that language's abbreviations to the English ones. A
    code without a table is fine: the rules that need no words still hold.

    >>> text = "Dr. Okafor left at 5 p.m. on Friday. Did she?"
    >>> [text[start:end] for start, end in RuleSegmenter()(text)]
    ['Dr. Okafor left at 5 p.m. on Friday.', 'Did she?']
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self._titles = TITLES | LANGUAGES.get(language.lower()[:2], frozenset())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSegmenter) and other.language == self.language

    def __hash__(self) -> int:
        return hash(("RuleSegmenter", self.language))

    def __repr__(self) -> str:
        return f"RuleSegmenter(language={self.language!r})"

    def __call__(self, text: str) -> list[Span]:
        """Return the sentences of `text` as spans."""
        spans: list[Span] = []
        start = len(text) - len(text.lstrip())
        for gap in _PARAGRAPH_BREAK.finditer(text, start):
            self._paragraph(text, start, gap.start(), spans)
            start = gap.end()
        self._paragraph(text, start, len(text), spans)
        return spans

    def _paragraph(self, text: str, start: int, end: int, spans: list[Span]) -> None:
        """Append the sentences of one paragraph."""
        for line in _unit_starts(text, start, end):
            self._unit(text, start, line, spans)
            start = line
        self._unit(text, start, end, spans)

    def _unit(self, text: str, start: int, end: int, spans: list[Span]) -> None:
        item = _ITEM.match(text, start, end)
        if item and item["number"] in (None, "1", "9"):
            for following in _item_starts(text, item, end):
                self._sentences(text, start, following, spans)
                start = following
        self._sentences(text, start, end, spans)

    def _sentences(self, text: str, start: int, end: int, spans: list[Span]) -> None:
        for match in _STOP.finditer(text, start, end):
            if match.end() < end and self._ends(text, start, match):
                spans.append((start, match.end("closing")))
                start = match.start("opening")
        last = text[start:end].rstrip()
        if last:
            spans.append((start, start + len(last)))

    def _ends(self, text: str, start: int, match: re.Match[str]) -> bool:
        """Say whether the stop that `match` holds ends the sentence begun at `start`."""
        at, space_end = match.start(), match.end()
        stop, closing, space, opening = match.groups()
        following = text[space_end]
        if stop[0] in _UNCASED_STOPS:
            return (
                not (closing and _CITED_ON.match(text, space_end)) and following not in ",;:，；："
            )
        if not space:
            return stop[-1] in "!?" and following >= "\u2e80"
        if following.islower():
            return False
        if stop != ".":
            if stop[-1] in "!?":
                if closing and _SPOKEN.match(text, space_end):
                    return False
                return following not in ",;:)"
            return following.isalnum() or bool(opening)
        if not following.isalnum():
            if following in ",;:)]%&/=<>|":
                return False
        if closing:
            return True
        return self._full_stop(text, start, at, space_end, following)

    def _full_stop(self, text: str, start: int, at: int, next_at: int, following: str) -> bool:
        word = text[max(start, at - 24) : at].rsplit(None, 1)[-1:]
        if not word:
            return True
        raw = word[0].lstrip("(\"'[“‘«„*_—-")
        if len(raw) > 9 or not raw:
            return True
        if at - start < 8 and _ENUMERATOR.fullmatch(text, start, at + 1):
            return False
        key = raw.lower()
        if key in OPEN_ENDED:
            return True
        if key in self._titles:
            return False
        if key in NUMBERED:
            return not (following.isdigit() or following in "([§#")
        if following.isdigit():
            return not (len(raw) == 1 and raw.isalpha()) and key not in CLOSING
        if len(raw) == 1 and raw.isupper() or key in CLOSING or _ACRONYM.fullmatch(raw):
            return self._starts(text, next_at)
        if raw.isdigit():
            return self._word(text, next_at).lower() not in MONTHS or len(raw) > 2
        return True

    @staticmethod
    def _word(text: str, at: int) -> str:
        word = _WORD.match(text, at)
        return word[0] if word else ""

    def _starts(self, text: str, at: int) -> bool:
        """Say whether the word at `at` is one that begins sentences."""
        return self._word(text, at).lower() in STARTERS


def _unit_starts(text: str, start: int, end: int) -> list[int]:
    """Return where lines of a paragraph begin that stand for themselves."""
    return []


def _item_starts(text: str, first: re.Match[str], end: int) -> list[int]:
    """Return where the further items of a list begin that runs on in one line."""
    starts: list[int] = []
    close, bullet = re.escape(first["end"]), re.escape(first["bullet"] or "")
    if first["number"]:
        labels = [str(int(first["number"]) + step) for step in range(1, 100)]
    else:
        labels = list("bcdefghijklmnopqrstuvwxyz")
    at = first.end()
    for label in labels:
        found = re.compile(rf"(?<=\s){bullet}\s?{label}{close}\s(?=\S)").search(text, at, end)
        if not found:
            break
        starts.append(found.start())
        at = found.end()
    return starts
