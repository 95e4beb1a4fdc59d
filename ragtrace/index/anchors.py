"""Which documents a text may come from, without reading every document for every text."""

import re
from collections import Counter
from collections.abc import Mapping
from zlib import crc32

_WORD = re.compile(r"\w+")

RUN = 4
"""Words in an anchor."""

SHARE = 8
"""One run of words in so many is an anchor, chosen by its hash: the same ones in every text."""


class AnchorIndex:
    """Find the documents that share runs of words with a text.

    >>> index = AnchorIndex({"a": "one two three four five six " * 9, "b": "seven eight nine"})
    >>> index.candidates("two three four five six one two three four five six one")
    ['a']
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents: dict[int, list[int]] = {}
        self._ids = list(documents)
        for number, text in enumerate(documents.values()):
            for anchor in anchors_of(text):
                self._documents.setdefault(anchor, []).append(number)

    def candidates(self, text: str) -> list[str]:
        """Return document ids, those that share most with the text first, else in their order."""
        shared: Counter[int] = Counter()
        for anchor in anchors_of(text):
            shared.update(self._documents.get(anchor, ()))
        order = sorted(shared, key=lambda number: (-shared[number], number))
        return [self._ids[number] for number in order]


def anchors_of(text: str) -> set[int]:
    """Return the hashes of the runs of words that serve as anchors."""
    words = _WORD.findall(text.casefold())
    hashes = (
        crc32(" ".join(words[at : at + RUN]).encode("utf-8", "surrogatepass"))
        for at in range(len(words) - RUN + 1)
    )
    return {value for value in hashes if value % SHARE == 0}
