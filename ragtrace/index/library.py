"""The source documents, searched for the texts of chunks."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal

import msgspec

from ragtrace.index.anchors import AnchorIndex, anchors_of
from ragtrace.tracing.hit import Hit

How = Literal["exact", "white space", "words"]
Reason = Literal["empty", "document-gone", "text-changed", "not-found", "extra-copy"]

# Coarser ways to compare, tried in turn: what a chunker that normalises its text leaves alone.
_TOKENS: Mapping[How, re.Pattern[str]] = {
    "white space": re.compile(r"\S+"),
    "words": re.compile(r"[^\W_]+"),
}
_MARKS = re.compile(r"[^\w\s]+")
_MOST_PLACES = 10_000
_LIKELY = 5


class Place(msgspec.Struct, frozen=True):
    """Hold one place where a chunk's text stands, and how it was compared."""

    doc_id: str
    start: int
    end: int
    how: How


class Library:
    """Find texts in documents.

    >>> library = Library({"docs/a.md": "One  two. Three."})
    >>> library.places(Hit(chunk_id="", text="One two.", doc_id="/home/me/docs/a.md"))
    [Place(doc_id='docs/a.md', start=0, end=9, how='white space')]
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self.documents = documents
        self._readings: dict[tuple[How, str], Reading] = {}

    @cached_property
    def _anchors(self) -> AnchorIndex:
        return AnchorIndex(self.documents)

    @cached_property
    def _by_last_part(self) -> dict[str, list[str]]:
        parts: dict[str, list[str]] = {}
        for doc_id in self.documents:
            parts.setdefault(last_part(doc_id), []).append(doc_id)
        return parts

    def places(self, hit: Hit) -> list[Place]:
        """Return where a chunk's text stands, compared as exactly as it can be found."""
        if not hit.text.strip():
            return []
        named = self.resolve(hit.doc_id)
        if named is not None:
            return self._search(hit.text, [named], [named])
        likely = self._anchors.candidates(hit.text)
        if anchors_of(hit.text):
            return self._search(hit.text, likely, likely[:_LIKELY])
        # Too short to be told by its words: it may stand anywhere, but not for a lost document.
        everywhere = list(self.documents)
        return self._search(hit.text, everywhere, everywhere) if hit.doc_id is None else []

    def why_not(self, hit: Hit) -> Reason:
        """Say why a chunk has no place."""
        if not hit.text.strip():
            return "empty"
        if self.resolve(hit.doc_id) is not None:
            return "text-changed"
        if hit.doc_id is not None:
            return "document-gone"
        return "text-changed" if self._anchors.candidates(hit.text) else "not-found"

    def resolve(self, doc_id: str | None) -> str | None:
        """Return the document that an index calls `doc_id`; of two paths one ends in the other."""
        if doc_id is None or doc_id in self.documents:
            return doc_id
        path = doc_id.replace("\\", "/").removeprefix("./")
        matches = [
            known
            for known in self._by_last_part.get(last_part(path), ())
            if path.endswith("/" + known) or known.endswith("/" + path) or path == known
        ]
        return matches[0] if len(matches) == 1 else None

    def _search(self, text: str, exact: Iterable[str], coarse: Iterable[str]) -> list[Place]:
        places = [
            Place(doc_id, at, at + len(text), "exact")
            for doc_id in exact
            for at in occurrences(self.documents[doc_id], text)
        ]
        for how in _TOKENS:
            if places:
                break
            tokens = [match[0] for match in _TOKENS[how].finditer(fold(text, how))]
            places = [
                Place(doc_id, *span, how)
                for doc_id in coarse
                if tokens
                for span in self._reading(how, doc_id).spans(tokens)
            ]
        return places

    def _reading(self, how: How, doc_id: str) -> "Reading":
        key = (how, doc_id)
        if key not in self._readings:
            self._readings[key] = Reading(self.documents[doc_id], how)
        return self._readings[key]


class Reading:
    """Hold a document as a run of tokens, each between two spaces, and where each stands."""

    def __init__(self, text: str, how: How) -> None:
        self._source = text
        matches = list(_TOKENS[how].finditer(text))
        self._spans = [match.span() for match in matches]
        tokens = [fold(match[0], how) for match in matches]
        self._text = " " + " ".join(tokens) + " "
        self._starts = [0]
        for token in tokens:
            self._starts.append(self._starts[-1] + len(token) + 1)

    def spans(self, tokens: list[str]) -> Iterator[tuple[int, int]]:
        """Yield the spans of the document that hold these tokens in a row."""
        for at in occurrences(self._text, " " + " ".join(tokens) + " "):
            first = bisect_left(self._starts, at)
            start, end = self._spans[first][0], self._spans[first + len(tokens) - 1][1]
            # The full stop after the last word belongs to it.
            mark = _MARKS.match(self._source, end)
            yield start, mark.end() if mark else end


def fold(text: str, how: How) -> str:
    """Make letters alike where words alone are compared; the number of characters stays."""
    if how != "words":
        return text
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def occurrences(text: str, part: str) -> Iterator[int]:
    """Yield where a part begins in a text, overlapping places too."""
    at = text.find(part)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(part, at + 1)


def last_part(path: str) -> str:
    """Return what stands after the last slash."""
    return path.rpartition("/")[2]
