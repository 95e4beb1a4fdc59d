"""LangChain's own suites run against the wrapper and over the observed store."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

from ragtrace.langchain import MergingRetriever, TracedRetriever
from ragtrace.langchain.scores import ObservedScores, observe
from tests.langchain.conftest import TEXTS, WordEmbeddings


def filled_store() -> InMemoryVectorStore:
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_documents([Document(page_content=text, id=text[:4]) for text in TEXTS])
    return store


class RetrieverSuite(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _in_a_folder(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    @property
    def retriever_query_example(self) -> str:
        return "timeout"


class TestTracedRetriever(RetrieverSuite):
    @property
    def retriever_constructor(self) -> Any:
        return lambda **settings: TracedRetriever(
            filled_store().as_retriever(search_kwargs=settings), "traces.jsonl"
        )


class TestTracedRunnable(RetrieverSuite):
    """A runnable that is no retriever: the wrapper reports the run."""

    @property
    def retriever_constructor(self) -> Any:
        def build(k: int = 3) -> BaseRetriever:
            store = filled_store()

            def search(query: str, **kwargs: Any) -> list[Document]:
                return store.similarity_search(query, **{"k": k, **kwargs})

            return TracedRetriever(RunnableLambda(search), "traces.jsonl")

        return build


class TestMergingRetriever(RetrieverSuite):
    @property
    def retriever_constructor(self) -> Any:
        return lambda **settings: MergingRetriever(
            TracedRetriever(filled_store().as_retriever(search_kwargs=settings), "traces.jsonl")
        )


class TestObservedStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> VectorStore:
        store = InMemoryVectorStore(self.get_embeddings())
        observed = observe(store.as_retriever(), ObservedScores()).vectorstore  # type: ignore[attr-defined]
        assert type(observed) is not InMemoryVectorStore
        return observed  # type: ignore[no-any-return]
