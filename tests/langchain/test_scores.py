"""Scores are the store's own, asked for once, and what comes back is what came back before."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore, VectorStoreRetriever

from ragtrace.langchain import TracedRetriever
from ragtrace.langchain.scores import ObservedScores, observe, score_kind
from ragtrace.tracing.schema import ScoreKind
from tests.langchain.conftest import DIMENSIONS, WordEmbeddings

Lines = Callable[[], list[dict[str, Any]]]
StoreAndKind = tuple[VectorStore, ScoreKind]


def uuid_ids(documents: list[Document]) -> list[Document]:
    return [
        document.model_copy(update={"id": str(uuid5(NAMESPACE_DNS, str(document.id)))})
        for document in documents
    ]


def in_memory(embeddings: WordEmbeddings, documents: list[Document], _: Path) -> StoreAndKind:
    store = InMemoryVectorStore(embeddings)
    store.add_documents(documents)
    return store, "similarity"


def chroma(embeddings: WordEmbeddings, documents: list[Document], folder: Path) -> StoreAndKind:
    module = pytest.importorskip("langchain_chroma")
    store = module.Chroma(
        "scores", embedding_function=embeddings, persist_directory=str(folder / "chroma")
    )
    store.add_documents(documents)
    return store, "distance"


def faiss(embeddings: WordEmbeddings, documents: list[Document], _: Path) -> StoreAndKind:
    pytest.importorskip("faiss")
    module = pytest.importorskip("langchain_community.vectorstores")
    return module.FAISS.from_documents(documents, embeddings), "distance"


def faiss_inner_product(
    embeddings: WordEmbeddings, documents: list[Document], _: Path
) -> StoreAndKind:
    pytest.importorskip("faiss")
    module = pytest.importorskip("langchain_community.vectorstores")
    return (
        module.FAISS.from_documents(documents, embeddings, distance_strategy="MAX_INNER_PRODUCT"),
        "similarity",
    )


def qdrant(embeddings: WordEmbeddings, documents: list[Document], _: Path) -> StoreAndKind:
    module = pytest.importorskip("langchain_qdrant")
    store = module.QdrantVectorStore.from_documents(
        uuid_ids(documents), embeddings, location=":memory:", collection_name="scores"
    )
    return store, "similarity"


def qdrant_euclid(embeddings: WordEmbeddings, documents: list[Document], _: Path) -> StoreAndKind:
    module = pytest.importorskip("langchain_qdrant")
    models = pytest.importorskip("qdrant_client.models")
    store = module.QdrantVectorStore.from_documents(
        uuid_ids(documents),
        embeddings,
        location=":memory:",
        collection_name="scores",
        distance=models.Distance.EUCLID,
    )
    return store, "distance"


def check_store(
    store: VectorStore,
    kind: ScoreKind,
    embeddings: WordEmbeddings,
    path: Path,
    lines: Lines,
    **settings: Any,
) -> None:
    retriever = store.as_retriever(**settings)
    query = "a timeout of seconds"
    plain = retriever.invoke(query)
    raw = [float(score) for _, score in store.similarity_search_with_score(query, k=len(plain))]
    asked = embeddings.queries
    traced = TracedRetriever(retriever, path).invoke(query)
    assert embeddings.queries == asked + 1
    assert traced == plain
    (line,) = lines()
    assert [hit["score"] for hit in line["hits"]] == pytest.approx(raw, abs=1e-6)
    assert line["score_kind"] == kind
    assert len(raw) == 3
    assert raw == sorted(raw, reverse=kind == "similarity")


@pytest.mark.parametrize(
    "build",
    [
        in_memory,
        pytest.param(chroma, marks=pytest.mark.stores),
        pytest.param(faiss, marks=pytest.mark.stores),
        pytest.param(faiss_inner_product, marks=pytest.mark.stores),
        pytest.param(qdrant, marks=pytest.mark.stores),
        pytest.param(qdrant_euclid, marks=pytest.mark.stores),
    ],
)
async def test_each_store_gives_its_raw_score_for_one_embedding_call(
    build: Callable[..., StoreAndKind],
    embeddings: WordEmbeddings,
    documents: list[Document],
    path: Path,
    lines: Lines,
    tmp_path: Path,
) -> None:
    store, kind = build(embeddings, documents, tmp_path)
    check_store(store, kind, embeddings, path, lines, search_kwargs={"k": 3})
    asked = embeddings.queries
    retriever = store.as_retriever(search_kwargs={"k": 3})
    answer = await TracedRetriever(retriever, path).ainvoke("a timeout of seconds")
    assert embeddings.queries == asked + 1
    assert answer == await retriever.ainvoke("a timeout of seconds")
    by_sync, by_async = lines()
    assert by_async["hits"] == by_sync["hits"]
    assert by_async["score_kind"] == kind


@pytest.mark.stores
@pytest.mark.parametrize("name", ["PGVector", "PGVectorStore"])
def test_pgvector_gives_its_raw_score_for_one_embedding_call(
    postgres: str,
    name: str,
    embeddings: WordEmbeddings,
    documents: list[Document],
    path: Path,
    lines: Lines,
) -> None:
    import langchain_postgres
    import sqlalchemy

    store: Any
    if name == "PGVector":
        engine: Any = sqlalchemy.create_engine(postgres)
        store = langchain_postgres.PGVector(embeddings, connection=engine)
        close = engine.dispose
    else:
        engine = langchain_postgres.PGEngine.from_connection_string(postgres)
        engine.init_vectorstore_table("chunks", DIMENSIONS)
        store = langchain_postgres.PGVectorStore.create_sync(engine, embeddings, "chunks")

        def close() -> None:
            engine._run_as_sync(engine.close())  # its connections belong to its own loop

    store.add_documents(uuid_ids(documents))
    check_store(store, "distance", embeddings, path, lines, search_kwargs={"k": 3})
    close()


@pytest.mark.stores
async def test_a_threshold_keeps_the_raw_score_not_the_relevance(
    embeddings: WordEmbeddings, documents: list[Document], path: Path, lines: Lines, tmp_path: Path
) -> None:
    store, kind = chroma(embeddings, documents, tmp_path)
    retriever = store.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"k": 3, "score_threshold": 0.3}
    )
    traced = TracedRetriever(retriever, path)
    answer = traced.invoke("a timeout of seconds")
    assert await traced.ainvoke("a timeout of seconds") == answer
    expected = store.similarity_search_with_score("a timeout of seconds", k=len(answer))
    assert 0 < len(answer) < 3
    for line in lines():
        assert [hit["score"] for hit in line["hits"]] == [score for _, score in expected]
        assert line["score_kind"] == kind


class RelevanceStore(InMemoryVectorStore):
    """Computes relevance by itself and no other score, as hosted stores do."""

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        return [(Document(page_content=query, id="x"), 0.75)]


def test_a_score_that_is_only_a_relevance_is_called_so(
    embeddings: WordEmbeddings, path: Path, lines: Lines
) -> None:
    retriever = RelevanceStore(embeddings).as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.5}
    )
    TracedRetriever(retriever, path).invoke("q")
    assert lines()[0]["hits"][0]["score"] == 0.75
    assert lines()[0]["score_kind"] == "relevance"


def test_maximal_marginal_relevance_has_no_score(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    retriever = store.as_retriever(search_type="mmr", search_kwargs={"k": 2})
    assert TracedRetriever(retriever, path).invoke("timeout") == retriever.invoke("timeout")
    assert [hit["score"] for hit in lines()[0]["hits"]] == [None, None]
    assert "score_kind" not in lines()[0]


def test_scores_are_seen_through_bound_retrievers(
    store: InMemoryVectorStore, path: Path, lines: Lines
) -> None:
    TracedRetriever(store.as_retriever().with_config(tags=["a"]).with_retry(), path).invoke("logs")
    assert lines()[0]["hits"][0]["score"] == pytest.approx(
        store.similarity_search_with_score("logs")[0][1]
    )


class UnscoredStore(VectorStore):
    """Finds documents and tells no score."""

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [Document(page_content=query, id="x")]

    @classmethod
    def from_texts(cls, *args: Any, **kwargs: Any) -> "UnscoredStore":
        return cls()


def test_a_store_that_tells_no_score_is_asked_as_before(path: Path, lines: Lines) -> None:
    TracedRetriever(UnscoredStore().as_retriever(), path).invoke("q")
    assert lines()[0]["hits"][0]["score"] is None


class CountingRetriever(VectorStoreRetriever):
    calls: int = 0

    def _get_relevant_documents(
        self, query: str, *, run_manager: Any, **kwargs: Any
    ) -> list[Document]:
        self.calls += 1
        return super()._get_relevant_documents(query, run_manager=run_manager, **kwargs)


def test_a_retriever_with_its_own_search_is_not_copied(
    store: InMemoryVectorStore, path: Path
) -> None:
    base = CountingRetriever(vectorstore=store)
    TracedRetriever(base, path).invoke("logs")
    assert base.calls == 1


class LearningStore(InMemoryVectorStore):
    """Changes an attribute of its own while it searches."""

    searches = 0

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        self.searches += 1
        return super().similarity_search(query, k, **kwargs)


def test_what_a_store_learns_while_observed_it_keeps(
    embeddings: WordEmbeddings, path: Path
) -> None:
    store = LearningStore(embeddings)
    traced = TracedRetriever(store.as_retriever(), path)
    traced.invoke("a")
    traced.invoke("b")
    assert store.searches == 2


class SealedStore(InMemoryVectorStore):
    def __init_subclass__(cls, **kwargs: Any) -> None:
        raise TypeError("no subclasses")


def test_a_store_that_cannot_be_observed_is_used_as_it_is(
    embeddings: WordEmbeddings, documents: list[Document], path: Path, lines: Lines
) -> None:
    store = SealedStore(embeddings)
    store.add_documents(documents)
    assert len(TracedRetriever(store.as_retriever(), path).invoke("logs")) == 4
    assert [hit["score"] for hit in lines()[0]["hits"]] == [None] * 4


def test_a_rerankers_score_is_read_from_the_metadata(path: Path, lines: Lines) -> None:
    ranked = [Document(page_content="a", metadata={"relevance_score": 0.9}, id="a")]
    TracedRetriever(RunnableLambda(lambda query: ranked), path).invoke("q")
    assert lines()[0]["hits"][0]["score"] == 0.9
    assert lines()[0]["score_kind"] == "relevance"


def test_an_unknown_store_says_nothing_about_direction(embeddings: WordEmbeddings) -> None:
    assert score_kind(UnscoredStore()) == "unknown"
    assert score_kind(RelevanceStore(embeddings)) == "similarity"


def test_the_observer_is_the_store_to_all_appearances(store: InMemoryVectorStore) -> None:
    observed = observe(store.as_retriever(), ObservedScores()).vectorstore  # type: ignore[attr-defined]
    assert isinstance(observed, InMemoryVectorStore)
    assert type(observed).__name__ == "InMemoryVectorStore"
    assert observed.__dict__ is store.__dict__
