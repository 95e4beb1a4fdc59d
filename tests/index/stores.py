"""Embedders that count their calls and a corpus that changes, for tests on real stores."""

from collections.abc import Sequence
from hashlib import blake2b

from ragtrace.chunking import Chunk

SIZE = 64


def embed(text: str) -> list[float]:
    """Embed as a bag of words, the same in every process."""
    vector = [0.0] * SIZE
    for word in text.lower().replace(".", " ").split():
        vector[blake2b(word.encode(), digest_size=2).digest()[0] % SIZE] += 1.0
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return [value / length for value in vector]


def chunks_of(doc_id: str, texts: Sequence[str]) -> list[Chunk]:
    chunks, at = [], 0
    for index, text in enumerate(texts):
        chunks.append(Chunk(doc_id, index, at, at + len(text), text))
        at += len(text)
    return chunks


GUIDE = ["Keys rotate every month. ", "The limit is thirty seconds. ", "Logs are kept for a year. "]
OTHER = ["Invoices go out on Monday. ", "Refunds take a week. "]
FIRST = [*chunks_of("guide", GUIDE), *chunks_of("other", OTHER)]
EDITED = [
    *chunks_of("guide", ["Keys rotate every week. ", *GUIDE[1:]]),
    *chunks_of("other", OTHER[:1]),
]
DELETED = chunks_of("guide", ["Keys rotate every week. ", *GUIDE[1:]])
