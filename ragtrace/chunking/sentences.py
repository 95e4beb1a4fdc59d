"""Sentences by rules: exact spans, linear time, no model and nothing to load."""

import re
from typing import Protocol

from ragtrace.chunking.languages import (
    ABBREVIATIONS,
    CLOSING,
    GLUED_STARTERS,
    LANGUAGES,
    MONTHS,
    NUMBERED,
    OPEN_ENDED,
    LOWER_STARTERS,
    SHORT_WORDS,
    SPEECH,
    STARTERS,
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

# Every repetition is possessive and everything after the first stop is optional: a candidate never
# fails after it has read a long run, so no input is read twice. It begins with one character class
# because that is what `re` can skip to.
_STOP = re.compile(
    rf"([{_STOPS}][{_STOPS}]*+(?:[ \u00a0]\.++)*+)"
    # What closes with the sentence: quotes, brackets, marks of emphasis, notes, a smiley.
    r"((?:[\"'”’“»«›)\]}」』）】》〉*_\u00b9\u00b2\u00b3]|[ \u00a0\u202f]»"
    r"|[ ][\"”](?=[ ]?\n)|\[[0-9][0-9,–-]{0,9}\]|[ ]?[:;]-?[)(DP](?!\S))*+)"
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
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
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
        self._abbreviations = ABBREVIATIONS | LANGUAGES.get(language[:2].lower(), frozenset())

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
        elif following.islower():
            return self._goes_on_in_lower_case(text, start, match)
        if stop == ".":
            return self._full_stop(text, start, match, following)
        before = text[match.start() - 1 : match.start()]
        if before in "([" and closing:  # [...], (!): a mark on what stands before
            return False
        if stop[-1] in "!?":
            if closing and _SPEAKER.match(text, match.end()):
                return False
            name = text[max(start, match.start() - 5) : match.start()] == "Yahoo"
            return not name or self._next_word(text, match.end()).lower() in STARTERS
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
        if key in self._abbreviations:
            return False
        if key in NUMBERED:
            return not (following.isdigit() or following in "§#" or match[4] in ("(", "["))
        if following.isdigit():
            return key not in CLOSING and not (len(word) == 1 and word.isalpha())
        if key in CLOSING or (len(word) == 1 and word.isupper()) or _DOTTED.fullmatch(word):
            if ")" in match[2] or not following.isalpha():
                return False
            starter = self._next_word(text, match.end()).lower()
            if key in ("a.m", "p.m") and starter in self._abbreviations:
                return at - start > 16  # "At 5 p.m. Mr. Smith" has not said anything yet
            return starter in STARTERS
        if word.isdigit():
            return len(word) > 2 or self._next_word(text, match.end()).lower() not in MONTHS
        # No vowel: "Bldg.", "Hptm."; but capitals ("TV.", "NBC.") do end sentences.
        return not word.isalpha() or word.isupper() or len(word) < 3 or not _VOWELS.isdisjoint(word)

    def _goes_on_in_lower_case(self, text: str, start: int, match: re.Match[str]) -> bool:
        """Decide on a stop before a small letter: people do write like that."""
        stop, closing = match[1], match[2]
        if len(stop) > 1 and stop[-1] == "." or closing.strip(":;-)(DP ") or match[4]:
            return False
        following = self._next_word(text, match.end())
        if not text[start].islower() and following not in LOWER_STARTERS:
            return False
        if stop[-1] != ".":
            return text[max(start, match.start() - 5) : match.start()] != "Yahoo"
        word = _word_before(text, start, match.start()).lower()
        return (
            word.replace("'", "").replace("’", "").isalpha()
            and (len(word) > 2 or word in SHORT_WORDS)
            and word not in self._abbreviations
            and word not in NUMBERED
            and word not in CLOSING
            and word not in OPEN_ENDED
            and not _VOWELS.isdisjoint(word)
        )

    def _glued(self, text: str, match: re.Match[str], following: str) -> bool:
        """Decide on a stop with no space after it: a sentence only where both sides say so."""
        if match[1][-1] in "!?" and following >= "\u2e80":
            return True
        before = text[max(0, match.start() - 3) : match.start()]
        if match[2] or match[4] or not (len(before) == 3 and before.isalpha() and before.islower()):
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
