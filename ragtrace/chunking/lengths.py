"""How long a text is: in tokens, characters, words, or by any function."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Protocol

from ragtrace.chunking.tokens import TokenRuler, count_tokens, load_encoding

Length = str | Callable[[str], int]

_WORD = re.compile(r"\S+")
_SAMPLE = re.compile(r"(?s).{200}\S{0,100}\s?|.+")


class Ruler(Protocol):
    """Tell the length of any span of one text.

    `before` and `place` are estimates, good to `slack` units for a span; they only ever save
    work. `measure` is exact, counted on the joined string.
    """

    @property
    def slack(self) -> float:
        """How far an estimate may be off, in units."""
        ...

    def before(self, offsets: Sequence[int]) -> Sequence[float]:
        """Return about how many units stand before each offset."""
        ...

    def place(self, units: float) -> int:
        """Return about the offset before which there are so many units."""
        ...

    def measure(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """Return the exact length of the slice with what is put around it."""
        ...


def length_function(length: Length) -> Callable[[str], int]:
    """Return the function that a length names: an encoding, a unit, a tokenizer or a function.

    Raises `ValueError` for a name that is none of these.

    >>> length_function("words")("three small words")
    3
    """
    if isinstance(length, str):
        if length == "characters":
            return len
        if length == "words":
            return count_words
        load_encoding(length)
        return _TokenCount(length)
    if callable(getattr(length, "encode", None)):
        return _TokenizerCount(length)
    if not callable(length):
        raise ValueError(
            f"length is {length!r}: give a tiktoken encoding's name, 'characters', 'words' "
            "or a function from a text to its length"
        )
    return length


def make_ruler(length: Length, text: str) -> Ruler:
    """Measure a text once, so that the length of any span of it is cheap to tell."""
    if length == "characters" or length is len:
        return CharacterRuler(text)
    if length == "words":
        return WordRuler(text)
    if isinstance(length, str):
        return TokenRuler(length, text)
    return FunctionRuler(length_function(length), text)


def count_words(text: str) -> int:
    """Count what white space separates."""
    return len(text.split())


class CharacterRuler:
    """Count code points."""

    slack = 0.0

    def __init__(self, text: str) -> None:
        self._size = len(text)

    def before(self, offsets: Sequence[int]) -> Sequence[float]:
        """Return the offsets themselves."""
        return offsets

    def place(self, units: float) -> int:
        """Return the offset itself."""
        return min(int(units), self._size)

    def measure(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """Return the exact length."""
        return len(prefix) + end - start + len(suffix)


class WordRuler:
    """Count what white space separates."""

    slack = 1.0

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [word.start() for word in _WORD.finditer(text)]

    def before(self, offsets: Sequence[int]) -> Sequence[float]:
        """Return how many words begin before each offset."""
        starts = self._starts
        return [bisect_right(starts, offset - 1) for offset in offsets]

    def place(self, units: float) -> int:
        """Return where the next word after so many begins."""
        count = int(units)
        return self._starts[count] if count < len(self._starts) else len(self._text)

    def measure(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """Return the exact length."""
        return count_words(prefix + self._text[start:end] + suffix)


class FunctionRuler:
    """Ask a function, about samples of the text for estimates and about chunks for the truth."""

    def __init__(self, function: Callable[[str], int], text: str) -> None:
        self._function = function
        self._text = text
        self._offsets = [0]
        self._units = [0.0]
        for sample in _SAMPLE.finditer(text):
            self._offsets.append(sample.end())
            self._units.append(self._units[-1] + max(self._ask(sample[0]), 0.01))
        # Every sample may round, and a span cuts two of them.
        self.slack = 4 + 0.1 * self._units[-1] / max(1, len(self._units) - 1)

    def before(self, offsets: Sequence[int]) -> Sequence[float]:
        """Return about how many units stand before each offset."""
        import numpy as np

        found: list[float] = np.interp(offsets, self._offsets, self._units).tolist()
        return found

    def place(self, units: float) -> int:
        """Return about the offset before which there are so many units."""
        import numpy as np

        return int(np.interp(units, self._units, self._offsets))

    def measure(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """Return what the function says of the joined string."""
        return self._ask(prefix + self._text[start:end] + suffix)

    def _ask(self, text: str) -> int:
        answer = self._function(text)
        try:
            return index(answer)
        except TypeError:
            raise ValueError(
                f"the length function returned {answer!r}: it must return a whole number"
            ) from None


class _TokenCount:
    """Count tokens; a class, so that it can be pickled."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, text: str) -> int:
        return count_tokens(self._name, text)


class _TokenizerCount:
    """Count with a tokenizer object of Hugging Face, of either of its packages, or tiktoken."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> int:
        try:
            tokens = self._tokenizer.encode(text, add_special_tokens=False)
        except TypeError:
            tokens = self._tokenizer.encode(text, disallowed_special=())
        return len(getattr(tokens, "ids", tokens))
