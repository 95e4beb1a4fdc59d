from hashlib import blake2b

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

DIMENSIONS = 64
TEXTS = (
    "A timeout is five seconds.",
    "Retries follow a timeout.",
    "Keys rotate once a month.",
    "Logs are kept for a year.",
    "A pool holds ten connections.",
)


class WordEmbeddings(Embeddings):
    """A deterministic bag of words on the unit sphere, which counts how often it is asked."""

    def __init__(self) -> None:
        self.queries = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries += 1
        return self._embed(text)

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in text.lower().replace(".", "").split():
            place = blake2b(word.encode(), digest_size=2).digest()
            vector[int.from_bytes(place) % DIMENSIONS] += 1.0
        norm = sum(value * value for value in vector) ** 0.5 or 1.0
        return [value / norm for value in vector]


@pytest.fixture
def embeddings() -> WordEmbeddings:
    return WordEmbeddings()


@pytest.fixture
def documents() -> list[Document]:
    return [
        Document(
            page_content=text,
            metadata={"doc_id": "guide.md", "chunk_id": f"guide.md#c{index}", "chunk_index": index},
            id=f"guide.md#c{index}",
        )
        for index, text in enumerate(TEXTS)
    ]


@pytest.fixture
def store(embeddings: WordEmbeddings, documents: list[Document]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(embeddings)
    store.add_documents(documents)
    return store
