"""Sentences by rules: exact spans, linear time, no model and nothing to load."""

import re
from typing import Protocol

from ragtrace.chunking.abbreviations import ABBREVIATIONS_OF
from ragtrace.chunking.languages import (
    ABBREVIATIONS,
    CAPITALISED_CLOSING,
    CLOSING,
    GLUED_STARTERS,
    LOWER_STARTERS,
    MONTHS,
    MORE_ABBREVIATIONS_OF,
    NUMBERED,
    OPEN_ENDED,
    ORDINAL_BEFORE,
    SHORT_WORDS,
    SPEECH,
    STARTERS,
    STARTERS_OF,
    TITLES,
)
from ragtrace.chunking.lines import split_units

Span = tuple[int, int]


class Segmenter(Protocol):
    """Cut text into sentences.

    Returns half-open code-point spans, in order, disjoint, that together cover every character
    that is not white space. A segmenter keeps no state between calls and can be pickled.
    """

    def __call__(self, text: str) -> list[Span]:
        """Return the sentences of `text` as spans."""
        ...


# Stops that need no space and no capital after them.
_WIDE_STOPS = "。！？｡．؟۔।॥።։။"

_STOPS = f".!?…‽⁇⁈⁉{_WIDE_STOPS}"
_CLOSERS = r"\"'”’»«›)\]}」』）】》〉*_"

# Linear on any input: every repetition is possessive, a run of stops is read from its first stop
# only, and spaced ones ("word . . .") are counted out. It begins with one character class because
# that is what `re` can skip to.
_STOP = re.compile(
    rf"([{_STOPS}](?<![{_STOPS}][{_STOPS}])[{_STOPS}]*+(?:[ \u00a0]\.++){{0,8}}+)"
    # What closes with the sentence: quotes, brackets, marks of emphasis, notes, a smiley.
    # “ closes after a Latin stop („Ja.“) and opens after a wide one.
    rf"((?:[{_CLOSERS}\u00b9\u00b2\u00b3]|“(?<![{_WIDE_STOPS}”]“)"
    r"|[ \u00a0\u202f]»|[ ][\"”](?=[ ]?\n)|\[[0-9][0-9,–-]{0,9}\]|[ ]?[:;]-?[)(DP](?!\S))*+)"
    # Most stops inside names, numbers and addresses end here.
    rf"(?:(?=[\sA-Z\u2e80-\U0010ffff])|(?<=[{_WIDE_STOPS}{_CLOSERS}“]))"
    r"(\s*+)"
    # What opens the next one.
    r"((?:[\"'“‘«»‹„¿¡(\[{「『（*_–—-]++(?:(?<=[«¿–—-])[ \u00a0\u202f])?+)?+)"
)
_TOKEN = re.compile(r"[^\s,;:]{1,20}")
_SPEAKER = re.compile(rf"(?:[A-Z][\w.'’]*+\s){{1,3}}(?:{'|'.join(sorted(SPEECH))})\b")
# 「…。」と言った, "……。"他说: the quotation goes on into who says it.
_WIDE_SPEAKER = re.compile(r"[とって、，]|[^\s。！？，、]{0,5}[说說道问問答喊叫]")
_ENUMERATOR = re.compile(
    r"[\[(\"“]?(?:[•⁃‣▪●*+-]\s?)?\(?(?:[0-9]{1,3}(?:\.[0-9]{1,3}){0,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]{1,2}"
)
_LABEL = re.compile(r"\(?(?:[a-z]|[ivx]{1,5})\)\s")  # of an item that follows
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_CAPITALISED = TITLES | CAPITALISED_CLOSING
_NEVER_FIRST = frozenset(",;:)]%&/=<>|，；：、）」』")
_VOWELS = frozenset("aeiouyAEIOUYäöüéèêëáàâãíìîóòôõúùûåøæœąęıаеёиоуыэюяієїґαεηιουω")


class RuleSegmenter:
    """Cut text into sentences by rules and small tables.

    `language` is a two-letter code; it adds that language's abbreviations to the ones always
    known. A code without a table is fine: the rules that need no words still hold.

    >>> text = "Dr. Okafor left at 5 p.m. on Friday. Did she?"
    >>> [text[start:end] for start, end in RuleSegmenter()(text)]
    ['Dr. Okafor left at 5 p.m. on Friday.', 'Did she?']
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language
        code = language[:2].lower()
        words = f"{ABBREVIATIONS_OF.get(code, '')} {MORE_ABBREVIATIONS_OF.get(code, '')}".split()
        self._abbreviations = ABBREVIATIONS | (set(words) - CLOSING - NUMBERED - OPEN_ENDED)
        self._known = self._abbreviations | CLOSING | NUMBERED | OPEN_ENDED
        self._starters = STARTERS | frozenset(STARTERS_OF.get(code, "").split())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSegmenter) and other.language == self.language

    def __hash__(self) -> int:
        return hash((RuleSegmenter, self.language))

    def __repr__(self) -> str:
        return f"RuleSegmenter(language={self.language!r})"

    def __call__(self, text: str) -> list[Span]:
        """Return the sentences of `text` as spans."""
        spans: list[Span] = []
        ends = self._ends
        for start, end in split_units(text):
            for match in _STOP.finditer(text, start, end):
                following = match.end()
                if following < end and ends(text, start, match, text[following]):
                    spans.append((start, match.end(2)))
                    start = match.start(4)
            spans.append((start, start + len(text[start:end].rstrip())))
        return spans

    def _ends(self, text: str, start: int, match: re.Match[str], following: str) -> bool:
        """Say whether a stop ends the sentence begun at `start`; `following` starts a word."""
        stop, closing, space, opening = match.groups()
        if stop in ".!?" and space and following.isupper():
            pass  # by far the most frequent case
        elif stop[0] in _WIDE_STOPS:
            if stop == "．" and following.isdigit():
                return False
            speaks = closing and not space and _WIDE_SPEAKER.match(text, match.end())
            return not speaks and following not in _NEVER_FIRST
        elif not space:
            return self._glued(text, match, following)
        elif following in _NEVER_FIRST and "\n" not in space:
            return False
        elif following.islower() and not _LABEL.match(text, match.start(4)):
            return self._goes_on_in_lower_case(text, start, match)
        if stop == ".":
            return self._full_stop(text, start, match, following)
        before = text[match.start() - 1 : match.start()]
        if before and before in "([" and closing:  # [...], (!): a mark on what stands before
            return False
        if stop[-1] in "!?":
            if closing and _SPEAKER.match(text, match.end()):
                return False
            name = text[max(start, match.start() - 5) : match.start()] == "Yahoo"
            return not name or self._next_word(text, match.end()).lower() in self._starters
        return following.isalnum() or bool(opening)

    def _full_stop(self, text: str, start: int, match: re.Match[str], following: str) -> bool:
        """Decide on a single full stop, by the word before it and the one after it."""
        at = match.start()
        if at - start < 8 and _ENUMERATOR.fullmatch(text, start, match.end(2)):
            return False
        word = _word_before(text, start, at)
        if len(word) > 9 or not word:
            return True
        key = word.lower()
        if key in OPEN_ENDED:
            return True
        if word in TITLES or key in self._abbreviations:
            return False
        if key in NUMBERED:
            return not (following.isdigit() or following in "§#" or match[4] in ("(", "["))
        may_close = key in CLOSING or word in CAPITALISED_CLOSING
        initial = len(word) == 1 and word.isalpha()
        if following.isdigit():
            return not may_close and not initial
        if may_close or initial or _DOTTED.fullmatch(word):
            if ")" in match[2] or not following.isalpha():
                return False
            starter = self._next_word(text, match.end()).lower()
            if key in ("a.m", "p.m") and starter.capitalize() in TITLES:
                return at - start > 16  # "At 5 p.m. Mr. Smith" has not said anything yet
            return starter in self._starters
        if word.isdigit():
            return not (len(word) < 3 and following.isupper() and self._is_ordinal(text, match))
        if (
            word.isalpha()
            and max(word) < "\u0530"
            and _VOWELS.isdisjoint(word)
            and not word.isupper()
            and len(word) > 1
        ):
            # "Bldg.", "Hptm.": most likely an abbreviation, like those that may end a sentence.
            return self._next_word(text, match.end()).lower() in self._starters
        return True

    def _is_ordinal(self, text: str, match: re.Match[str]) -> bool:
        """Say whether the number before the stop counts: "am 3. Mai", "der 2. Versuch"."""
        before = text[max(0, match.start() - 12) : match.start()].split()
        return self._next_word(text, match.end()).lower() in MONTHS or (
            len(before) > 1 and before[-2].lower() in ORDINAL_BEFORE
        )

    def _goes_on_in_lower_case(self, text: str, start: int, match: re.Match[str]) -> bool:
        """Decide on a stop before a small letter: people do write like that."""
        stop, closing = match[1], match[2]
        if (
            stop[-1] == "…"
            or (len(stop) > 1 and stop[-1] == ".")
            or closing.strip(":;-)(DP ")
            or match[4]
        ):
            return False
        following = self._next_word(text, match.end())
        if not text[start].islower() and following not in LOWER_STARTERS:
            return False
        if stop[-1] != ".":
            return text[max(start, match.start() - 5) : match.start()] != "Yahoo"
        word = _word_before(text, start, match.start())
        key = word.lower()
        return (
            key.replace("'", "").replace("’", "").isalpha()
            and (len(key) > 2 or key in SHORT_WORDS)
            and word not in _CAPITALISED
            and key not in self._known
            and not _VOWELS.isdisjoint(key)
        )

    def _glued(self, text: str, match: re.Match[str], following: str) -> bool:
        """Decide on a stop with no space after it: a sentence only where both sides say so."""
        if match[1][-1] in "!?" and following >= "\u2e80":
            return True
        before = text[max(0, match.start() - 2) : match.start()]
        if match[2] or match[4] or not (len(before) == 2 and before.isalpha() and before.islower()):
            return False
        return re.split("['’]", self._next_word(text, match.end()))[0] in GLUED_STARTERS

    @staticmethod
    def _next_word(text: str, at: int) -> str:
        token = _TOKEN.match(text, at)
        return token[0].rstrip(".!?)\"'”’") if token else ""


def _word_before(text: str, start: int, at: int) -> str:
    """Return the word that ends at `at`, or as much of it as tells it from an abbreviation."""
    words = text[max(start, at - 24) : at].rsplit(None, 1)
    return words[-1].lstrip("([{\"'“‘«„*_—–-") if words else ""
