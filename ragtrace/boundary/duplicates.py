"""Chunks that say the same: exactly, or nearly."""

from array import array
from collections.abc import Iterator

import numpy as np

from ragtrace.boundary.issue import Issue
from ragtrace.boundary.piece import Piece

_BATCH = 50_000
_PERMUTATIONS = 64
_SHINGLE = 4  # words


class SeenTexts:
    """Find texts that were seen before, in a few dozen bytes a chunk.

    Hashes wait in a dictionary and move, sorted, into an array: a million chunks take 80 MB, and
    this is all that grows with their number.
    """

    def __init__(self) -> None:
        self._recent: dict[int, int] = {}
        self._hashes = np.empty(0, dtype=np.int64)
        self._owners = np.empty(0, dtype=np.int64)
        self._ids = bytearray()
        self._ends = array("Q")

    def find(self, piece: Piece) -> str | None:
        """Return the id of the first chunk with this text, `None` where this is the first."""
        # 64 bits, new in every process: two of a million texts collide in 1 of 30 million runs.
        key = hash(piece.text.strip())
        owner = self._recent.get(key)
        if owner is None:
            at = int(np.searchsorted(self._hashes, key))
            if at < len(self._hashes) and self._hashes[at] == key:
                owner = int(self._owners[at])
        if owner is not None:
            return self._id_of(owner)
        self._recent[key] = len(self._ends)
        self._ids += piece.chunk_id.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._ids))
        if len(self._recent) >= _BATCH:
            self._settle()
        return None

    def _id_of(self, owner: int) -> str:
        start = self._ends[owner - 1] if owner else 0
        return bytes(self._ids[start : self._ends[owner]]).decode("utf-8", "surrogatepass")

    def _settle(self) -> None:
        hashes = np.concatenate([self._hashes, np.fromiter(self._recent.keys(), dtype=np.int64)])
        owners = np.concatenate([self._owners, np.fromiter(self._recent.values(), dtype=np.int64)])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._owners = hashes[order], owners[order]
        self._recent = {}


class NearTexts:
    """Find texts most of whose four-word runs were seen in an earlier chunk (MinHash).

    Memory grows by about 2 kB a chunk. Raises `ImportError` without the extra `dedup`.
    """

    def __init__(self, similarity: float) -> None:
        if not 0 < similarity <= 1:
            raise ValueError(f"near_duplicates is {similarity}: give a similarity from 0 to 1")
        try:
            from datasketch import MinHash, MinHashLSH
        except ImportError:
            raise ImportError(
                "near duplicates need datasketch: pip install 'ragtrace-kit[dedup]'"
            ) from None
        self._similarity = similarity
        self._min_hash = MinHash
        self._index = MinHashLSH(threshold=similarity, num_perm=_PERMUTATIONS)
        self._signatures: list[tuple[str, object]] = []

    def find(self, piece: Piece) -> tuple[str, float] | None:
        """Return the id of the most similar earlier chunk and the estimated similarity."""
        words = piece.text.lower().split()
        if len(words) < 2 * _SHINGLE:
            return None
        signature = self._min_hash(num_perm=_PERMUTATIONS)
        runs = range(len(words) - _SHINGLE + 1)
        signature.update_batch(
            {" ".join(words[at : at + _SHINGLE]).encode("utf-8", "surrogatepass") for at in runs}
        )
        found: tuple[str, float] | None = None
        for number in self._index.query(signature):
            chunk_id, other = self._signatures[number]
            estimate = float(signature.jaccard(other))
            if estimate >= self._similarity and (found is None or estimate > found[1]):
                found = (chunk_id, estimate)
        self._index.insert(len(self._signatures), signature)
        self._signatures.append((piece.chunk_id, signature))
        return found


def find_duplicates(piece: Piece, seen: SeenTexts, near: NearTexts | None) -> Iterator[Issue]:
    """Yield what says that the chunk's text, or most of it, stands in an earlier chunk."""
    if not piece.text.strip():
        return
    first = seen.find(piece)
    if first is not None:
        yield _issue(piece, f"has the same text as {first}")
    elif near is not None and (found := near.find(piece)) is not None:
        yield _issue(piece, f"is {found[1]:.0%} the same as {found[0]}")


def _issue(piece: Piece, message: str) -> Issue:
    length = len(piece.text)
    excerpt = " ".join(piece.text[:120].split())
    return Issue("duplicate", piece.chunk_id, piece.doc_id, 0, length, length, message, excerpt)
