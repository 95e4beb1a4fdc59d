"""Real parts, small and deterministic: an embedding, documents, an index, a way to read lines."""

import asyncio
import re
from collections.abc import Iterator
from hashlib import blake2b

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.schema import Document

DIMENSIONS = 64

DOCUMENTS = (
    ("timeouts", "A timeout is five seconds. It can be raised. Raise it in the settings file."),
    ("retries", "A request is retried twice. Retries wait longer each time. Then it fails."),
    ("pools", "A pool keeps ten connections. An idle connection is closed after a minute."),
)


class BagOfWords(BaseEmbedding):
    """Count hashed words: equal texts are near, in every process, without a model."""

    @classmethod
    def class_name(cls) -> str:
        return "BagOfWords"

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()):
            vector[blake2b(word.encode(), digest_size=2).digest()[0] % DIMENSIONS] += 1.0
        length = sum(value * value for value in vector) ** 0.5 or 1.0
        return [value / length for value in vector]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._embed(query)


@pytest.fixture
def embedding() -> BagOfWords:
    return BagOfWords()


@pytest.fixture
def llm() -> MockLLM:
    return MockLLM()


@pytest.fixture
def documents() -> list[Document]:
    return [Document(text=text, id_=doc_id) for doc_id, text in DOCUMENTS]


@pytest.fixture
def index(documents: list[Document], embedding: BagOfWords) -> VectorStoreIndex:
    from ragtrace.llama_index import SentenceAlignedSplitter

    splitter = SentenceAlignedSplitter(chunk_size=12)
    return VectorStoreIndex.from_documents(
        documents, embed_model=embedding, transformations=[splitter]
    )


@pytest.fixture
def own_loop() -> Iterator[None]:
    """Close the event loop that LlamaIndex makes where async retrievers are used from sync code."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
