"""What two texts have in common, by runs of words."""

import re

# A script without spaces has no word borders to go by: each of its characters is a word.
_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯豈-﫿฀-๿]|[^\W_]+(?:['’][^\W_]+)*")
_DIGIT = re.compile(r"\d")

RUN = 4
"""Words in a shingle."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, case folded, punctuation left out.

    >>> words_of("It's 30 s: 超时")
    ["it's", '30', 's', '超', '时']
    """
    return _WORD.findall(text.casefold())


def shingles_of(words: list[str]) -> frozenset[tuple[str, ...]]:
    """Return all runs of four words; a shorter text is one run.

    >>> sorted(shingles_of("a b c d e".split()))
    [('a', 'b', 'c', 'd'), ('b', 'c', 'd', 'e')]
    """
    last = max(len(words) - RUN, 0)
    return (
        frozenset(tuple(words[at : at + RUN]) for at in range(last + 1)) if words else frozenset()
    )


def numbers_of(words: list[str]) -> frozenset[str]:
    """Return the words that hold a digit."""
    return frozenset(word for word in words if _DIGIT.search(word))
