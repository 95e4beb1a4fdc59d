"""A retriever that needs no model and no server: BM25 over chunks in memory."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ragtrace.chunking.chunk import Chunk
from ragtrace.index.manifest import hit_of
from ragtrace.postprocessing.shingles import words_of
from ragtrace.tracing.hit import Hit

# A border inside a name: fooBar, HTTPServer, utf8.
_INNER_BORDER = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_NAME = re.compile(r"\w+(?:[._-]\w+)*")


def terms_of(text: str) -> list[str]:
    """Return what a text is found by: its words, and for a name the parts as well as the whole.

    >>> terms_of("Set maxLength in http_client.py")
    ['set', 'max', 'length', 'maxlength', 'in', 'http', 'client', 'py', 'http_client.py']
    """
    names = _NAME.findall(unicodedata.normalize("NFKC", text))
    return [term for name in names for term in _terms_of_name(name)]


@lru_cache(maxsize=100_000)  # a corpus has few names and many of each
def _terms_of_name(name: str) -> list[str]:
    parts = words_of(_INNER_BORDER.sub(" ", name))
    return [*parts, name.casefold()] if len(parts) > 1 and name.isascii() else parts


class Bm25Retriever:
    """Rank chunks by the words they share with a query.

    Chunks with equal scores come in the order they were given; chunks that share no word with the
    query do not come at all, so there may be fewer than asked for.

    >>> chunks = [Chunk("a", 0, 0, 12, "Keys rotate."), Chunk("a", 1, 13, 27, "Logs are kept.")]
    >>> [hit.chunk_id for hit in Bm25Retriever(chunks).search("how are logs kept?", 5)]
    ['a#c1']
    """

    def __init__(self, chunks: Iterable[Chunk], *, k1: float = 1.5, b: float = 0.75) -> None:
        self.chunks = tuple(chunks)
        self._index = _build([terms_of(chunk.content) for chunk in self.chunks], k1, b)

    def search(self, query: str, top_k: int = 5) -> list[Hit]:
        """Return the best chunks, best first. Raises `ValueError` for a `top_k` below 1."""
        if top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {top_k}")
        terms = terms_of(query)
        if self._index is None or not terms:
            return []
        import numpy as np

        scores = self._index.get_scores(terms)
        order = np.argsort(-scores, kind="stable")[:top_k]
        return [
            hit_of(self.chunks[position], score=float(scores[position]), rank=rank)
            for rank, position in enumerate(order, 1)
            if scores[position] > 0
        ]


def _build(documents: list[list[str]], k1: float, b: float) -> Any:
    if not any(documents):
        return None  # there are no words to build an index of
    try:
        import bm25s
    except ImportError:
        raise ImportError("Bm25Retriever needs bm25s: pip install 'ragtrace-kit[demo]'") from None
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(term, len(numbers)) for term in terms] for terms in documents]
    index = bm25s.BM25(k1=k1, b=b)
    index.index((rows, numbers), show_progress=False)
    return index
