"""Lengths in tokens: a document is encoded once, and any span of it is then looked up."""

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragtrace.chunking.graphemes import replace_surrogates

if TYPE_CHECKING:
    from tiktoken import Encoding

# What a decoder makes of the three bytes of a lone surrogate; no tokenizer counts more for it.
_REPLACED = "\ufffd" * 3
# No pre-token of any tiktoken encoding reaches from a character that is not white over a space, or
# from the end of a line to what follows, but for a slash: counts on both sides add up exactly.
_BORDER = re.compile(r"(?<=\S) |(?<=\n)[^\s/]")
_BORDER_REACH = 400  # characters in which to look for a border before encoding the whole span
_MARKS_REACH = 8  # characters of punctuation at the end of a span that are counted alone
_COUNTS_KEPT = 10_000
_PIECE = 1_000_000  # characters encoded at once
_LONGEST_RUN = 5_000  # characters without a border: longer ones are encoded in pieces
_LOADING_SECONDS = 20.0
_ENVIRONMENT = threading.Lock()


@lru_cache(maxsize=8)
def load_encoding(name: str) -> "Encoding":
    """Load a tiktoken encoding by name, without the network where its table is at hand.

    Raises `ValueError` for a name that tiktoken does not know, and for a table that cannot be had.
    """
    import tiktoken

    known = tiktoken.list_encoding_names()
    if name not in known:
        raise ValueError(
            f"unknown length {name!r}: give one of {', '.join(sorted(known))}, "
            "'characters', 'words' or a function"
        )
    with _bundled_tables():
        return _load_in_time(name)


def _load_in_time(name: str) -> "Encoding":
    """Load an encoding, but do not wait forever for a network that does not answer."""
    import tiktoken

    loaded: list[Encoding] = []
    failed: list[Exception] = []

    def load() -> None:
        try:
            loaded.append(tiktoken.get_encoding(name))
        except Exception as error:  # whatever a proxy, a disk or a server may raise
            failed.append(error)

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    thread.join(_LOADING_SECONDS)
    if loaded:
        return loaded[0]
    raise ValueError(
        f"the table of {name!r} cannot be loaded ({failed[0] if failed else 'no answer'}): set "
        "TIKTOKEN_CACHE_DIR to a folder that has it, or give length='characters'"
    ) from (failed[0] if failed else None)


@contextmanager
def _bundled_tables() -> Iterator[None]:
    """Let tiktoken read the tables inside llama-index-core, if the user names no folder."""
    if "TIKTOKEN_CACHE_DIR" in os.environ or "DATA_GYM_CACHE_DIR" in os.environ:
        yield
        return
    folder = _bundled_folder()
    if folder is None:
        yield
        return
    with _ENVIRONMENT:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
        try:
            yield
        finally:
            os.environ.pop("TIKTOKEN_CACHE_DIR", None)


def _bundled_folder() -> Path | None:
    # The name of the package alone: asking for a module inside it would import it.
    spec = find_spec("llama_index")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "core" / "_static" / "tiktoken_cache"
        if folder.is_dir():
            return folder
    return None


@lru_cache(maxsize=8)
def _token_sizes(name: str) -> NDArray[np.int32]:
    """Return the number of bytes of every token."""
    encoding = load_encoding(name)
    sizes = np.zeros(encoding.n_vocab, np.int32)
    for token in range(encoding.n_vocab):
        try:
            sizes[token] = len(encoding.decode_single_token_bytes(token))
        except KeyError:  # numbers that were never given out
            continue
    return sizes


def count_tokens(name: str, text: str) -> int:
    """Count the tokens of a text; names of special tokens are text like any other.

    >>> count_tokens("cl100k_base", "<|endoftext|>") > 1
    True
    """
    if len(text) > _LONGEST_RUN:
        return sum(len(piece) for piece, _ in _encode(name, text))
    return _count(load_encoding(name), text)


def _count(encoding: "Encoding", text: str) -> int:
    return len(encoding.encode_ordinary(replace_surrogates(text, _REPLACED)))


def _encode(name: str, text: str) -> Iterator[tuple[NDArray[np.uint32], int]]:
    """Yield the tokens of a text piece by piece, and where each piece ends.

    tiktoken needs more than linear time and deep stacks for long runs without a border.
    """
    encoding = load_encoding(name)
    start = 0
    while start < len(text):
        end = _piece_end(text, start)
        piece = text[start:end]
        piece = replace_surrogates(piece, _REPLACED)
        yield encoding.encode_to_numpy(piece, disallowed_special=()), end
        start = end


def _piece_end(text: str, start: int) -> int:
    limit = min(len(text), start + _PIECE)
    at = start
    while at < limit:
        # The last border within reach: as long as there is one, the run is not too long.
        border = last_border(text, at, min(limit, at + _LONGEST_RUN))
        if border is None:
            break
        at = border
    if limit == len(text) and limit - at <= _LONGEST_RUN:
        return limit
    return at if at > start else min(len(text), start + _LONGEST_RUN)


def last_border(text: str, start: int, end: int) -> int | None:
    """Return the last place in a span, after its start, where a pre-token certainly begins."""
    line = text.rfind("\n", start, max(start, end - 1)) + 1
    floor = line if line and not (text[line] == "/" or text[line].isspace()) else start
    at = end
    while (at := text.rfind(" ", floor + 1, at)) > 0:
        if not text[at - 1].isspace():
            return at
    return floor if floor > start else None


class TokenRuler:
    """Tell the length of any span of one text, in tokens.

    `before` and `place` estimate: a span's true length differs from the estimate by less than
    `slack`, but for freak inputs. `measure` is exact.
    """

    slack = 4

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._encoding = load_encoding(name)
        self._text = text
        pieces = list(_encode(name, text))
        tokens = np.concatenate([np.zeros(0, np.uint32), *(piece for piece, _ in pieces)])
        # A piece that does not end at a border has cut a pre-token: counts across do not add up.
        self._torn = [end for _, end in pieces[:-1] if text[end] != " " or text[end - 1].isspace()]
        self._ends: NDArray[np.int64] = np.cumsum(_token_sizes(name)[tokens], dtype=np.int64)
        self._counts: dict[str, int] = {}
        self._bytes = None if text.isascii() else _byte_offsets(text)

    def before(self, offsets: Sequence[int]) -> list[int]:
        """Return how many tokens end at or before each offset."""
        places = np.asarray(offsets, dtype=np.int64)
        if self._bytes is not None:
            places = self._bytes[places]
        found: list[int] = self._ends.searchsorted(places, side="right").tolist()
        return found

    def place(self, units: float) -> int:
        """Return the offset up to which there are so many tokens."""
        if units < 1:
            return 0
        count = min(int(units), len(self._ends))
        at = int(self._ends[count - 1]) if count else 0
        if self._bytes is None:
            return at
        return int(np.searchsorted(self._bytes, at, side="right")) - 1

    def measure(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """Return the exact length of the slice with what is put around it."""
        head = start if not prefix and self._begins_token(start) else self._first_border(start, end)
        tail = self._last_border(start, end, suffix)
        if head is None or tail is None or head > tail or self._is_torn(head, tail):
            return count_tokens(self._name, prefix + self._text[start:end] + suffix)
        length = self._tokens_before(tail) - self._tokens_before(head)
        if head > start or prefix:
            length += self._count(prefix + self._text[start:head])
        if tail < end or suffix:
            length += self._count(self._text[tail:end] + suffix)
        return length

    def _tokens_before(self, offset: int) -> int:
        place = offset if self._bytes is None else self._bytes[offset]
        return int(self._ends.searchsorted(place, "right"))

    def _begins_token(self, at: int) -> bool:
        """Say whether a token begins here whatever stands before: after the end of a line."""
        text = self._text
        if at in (0, len(text)):
            return True
        return text[at - 1] == "\n" and text[at] != "/" and not text[at].isspace()

    def _first_border(self, start: int, end: int) -> int | None:
        border = _BORDER.search(self._text, start + 1, min(end, start + _BORDER_REACH))
        return border.start() if border else None

    def _last_border(self, start: int, end: int, suffix: str) -> int | None:
        """Return the last place in a span where a token begins whatever stands after the span.

        That is where the marks after the last word begin; letters and marks are never one token.
        """
        text = self._text
        if not suffix and (end == len(text) or text[end].isspace()):
            at = end
            while at > end - _MARKS_REACH and at > start and not text[at - 1].isalnum():
                at -= 1
            marks = text[at:end]
            if (
                at > start
                and text[at - 1].isalnum()
                and not marks[:1].isspace()
                and marks[:1] != "'"
            ):
                return at
        return last_border(text, max(start, end - _BORDER_REACH), end)

    def _is_torn(self, head: int, tail: int) -> bool:
        return bool(self._torn) and any(head < torn < tail for torn in self._torn)

    def _count(self, text: str) -> int:
        known = self._counts
        count = known.get(text)
        if count is None:
            count = _count(self._encoding, text)
            if len(known) < _COUNTS_KEPT:
                known[text] = count
        return count


def _byte_offsets(text: str) -> NDArray[np.int64]:
    """Return where each code point begins in the UTF-8 form that is encoded, and its end."""
    readable = replace_surrogates(text, _REPLACED)
    data = np.frombuffer(readable.encode(), np.uint8)
    starts = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
    if readable is text:
        return starts
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    widths = np.where((points >= 0xD800) & (points < 0xE000), len(_REPLACED), 1)
    return starts[np.concatenate(([0], np.cumsum(widths)))]
