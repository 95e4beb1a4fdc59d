"""Keep embeddings by the text they are of, so that no text is embedded twice."""

import os
import sqlite3
from array import array
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock

Embed = Callable[[list[str]], Sequence[Sequence[float]]]


class EmbeddingCache:
    """Hold embeddings in an SQLite file, by model and text.

    `model` names the model and whatever else changes its vectors. Vectors are kept, and returned
    the first time as well, in single precision. Safe in threads.

    >>> calls = []
    >>> def embed(texts):
    ...     calls.append(texts)
    ...     return [[float(len(text))] for text in texts]
    >>> cache = EmbeddingCache(":memory:", "lengths")
    >>> cache.embed(["a", "bb"], embed), cache.embed(["bb", "ccc", "ccc"], embed)
    ([[1.0], [2.0]], [[2.0], [3.0], [3.0]])
    >>> calls
    [['a', 'bb'], ['ccc']]
    """

    def __init__(self, path: str | os.PathLike[str], model: str) -> None:
        self.model = model
        self._lock = Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False)
        with self._connection:
            self._connection.execute(
                "create table if not exists vectors (key blob primary key, vector blob not null)"
            )

    def embed(self, texts: Sequence[str], embed: Embed) -> list[list[float]]:
        """Return the embedding of each text; `embed` is called once, for those not known yet.

        Raises `ValueError` where it returns another number of vectors than it was given texts.
        """
        keys = [self._key(text) for text in texts]
        with self._lock:
            known = {key: vector for key in keys if (vector := self._read(key)) is not None}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if unknown:
            vectors = embed(list(unknown.values()))
            if len(vectors) != len(unknown):
                raise ValueError(f"{len(vectors)} embeddings came back for {len(unknown)} texts")
            new = {key: array("f", vector) for key, vector in zip(unknown, vectors, strict=True)}
            with self._lock, self._connection:
                self._connection.executemany(
                    "insert or replace into vectors values (?, ?)",
                    ((key, vector.tobytes()) for key, vector in new.items()),
                )
            known |= new
        return [known[key].tolist() for key in keys]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _key(self, text: str) -> bytes:
        name = f"{self.model}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(name, digest_size=16).digest()

    def _read(self, key: bytes) -> "array[float] | None":
        rows = self._connection.execute("select vector from vectors where key = ?", (key,))
        for (vector,) in rows:
            return array("f", vector)
        return None
