"""Scores without a second query: watch a vector store while its retriever asks it.

`VectorStoreRetriever` asks for documents and their scores are lost, although nearly every store
computes both and drops the scores itself. So the retriever is copied for one call with an observer
in place of its store: an object of a subclass of the store's own class that shares the store's
attributes. The store's methods run as they are, on the same data, and what its scored methods
return on the way is written down. No query is sent twice and no result is replaced.
"""

import inspect
import re
import types
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from ragtrace.tracing.schema import ScoreKind

RERANKER_KEY = "relevance_score"
"""The metadata key under which LangChain's rerankers leave their score."""

_SCORED_METHOD = re.compile(r"(?!.*max_marginal).*search.*_scores?(_.*)?")
_RELEVANCE_METHOD = re.compile(r"_?a?similarity_search_with_relevance_scores")

# Stores whose search happens in another object, out of sight, and whose scored search is the same
# search (read in their source): there the documents are taken from the scored search instead.
_SCORED_SEARCH_INSTEAD = frozenset({"PGVectorStore"})

_DISTANCE_STORES = frozenset({"Chroma", "PGVector", "PGVectorStore", "AsyncPGVectorStore"})
_SIMILARITY_STORES = frozenset({"InMemoryVectorStore", "ElasticsearchStore"})
# What a metric is called by the stores that offer several, and which way its numbers run.
_KIND_BY_METRIC: dict[str, dict[str, ScoreKind]] = {
    "FAISS": {
        "euclidean_distance": "distance",
        "cosine": "distance",
        "max_inner_product": "similarity",
    },
    "QdrantVectorStore": {
        "cosine": "similarity",
        "dot": "similarity",
        "euclid": "distance",
        "manhattan": "distance",
    },
}


class ObservedScores:
    """Collect the scores that a store computed during one retrieval.

    Documents are told apart by identity: the store drops the score and hands on the document.
    """

    def __init__(self) -> None:
        self._scores: dict[int, tuple[Document, float, ScoreKind]] = {}

    def keep(self, pairs: Any, kind: ScoreKind) -> None:
        """Write down (document, score) pairs; the store's innermost method, asked first, wins."""
        if not isinstance(pairs, list):
            return
        for pair in pairs:
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Document)):
                return
            document, score = pair
            if score is not None:
                self._scores.setdefault(id(document), (document, float(score), kind))

    def read(self, documents: Any) -> tuple[list[float | None], ScoreKind | None]:
        """Return the score of each document that came back, and which way the scores run.

        Where the store told none, it is what a reranker gave. Of an answer that is no list there is
        nothing to say.
        """
        values: list[float | None] = []
        kinds: set[ScoreKind] = set()
        for document in documents if isinstance(documents, list) else ():
            known = self._scores.get(id(document))
            value = known[1] if known else _reranked(document)
            values.append(value)
            if value is not None:
                kinds.add(known[2] if known else "relevance")
        return values, kinds.pop() if len(kinds) == 1 else ("unknown" if kinds else None)


def observe(runnable: Runnable[Any, Any], scores: ObservedScores) -> Runnable[Any, Any]:
    """Return a runnable that does the same and lets `scores` see what its vector store computes.

    Where that is not possible (another kind of retriever, one that brings its own search, maximal
    marginal relevance, whose scores say nothing about the order) the runnable itself is returned.
    """
    if isinstance(runnable, VectorStoreRetriever):
        if runnable.search_type == "mmr" or not _searches_as_its_class_says(runnable):
            return runnable
        try:
            store = _observed_store(runnable.vectorstore, scores)
        except Exception:
            # A store whose class cannot be derived from, or that keeps no attributes.
            return runnable
        return runnable.model_copy(update={"vectorstore": store})
    if isinstance(runnable, RunnableBindingBase):
        return _with_inner(runnable, "bound", runnable.bound, scores)
    if isinstance(runnable, DynamicRunnable):
        return _with_inner(runnable, "default", runnable.default, scores)
    return runnable


def score_kind(store: VectorStore) -> ScoreKind:
    """Say which way the numbers of a store's `similarity_search_with_score` run."""
    for cls in type(store).__mro__:
        if cls.__name__ in _DISTANCE_STORES:
            return "distance"
        if cls.__name__ in _SIMILARITY_STORES:
            return "similarity"
        if cls.__name__ in _KIND_BY_METRIC:
            return _KIND_BY_METRIC[cls.__name__].get(_metric(store), "unknown")
    return "unknown"


def _reranked(document: Any) -> float | None:
    metadata = getattr(document, "metadata", None)
    value = metadata.get(RERANKER_KEY) if isinstance(metadata, dict) else None
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _metric(store: Any) -> str:
    if _value(getattr(store, "retrieval_mode", "dense")) != "dense":
        return ""  # Qdrant's sparse and fused scores follow no metric
    metric = getattr(store, "distance_strategy", None) or getattr(store, "distance", "")
    return _value(metric)


def _value(member: Any) -> str:
    return str(getattr(member, "value", member)).lower()


def _with_inner(
    runnable: Any, field: str, inner: Runnable[Any, Any], scores: ObservedScores
) -> Runnable[Any, Any]:
    observed = observe(inner, scores)
    if observed is inner:
        return runnable  # type: ignore[no-any-return]  # a Runnable came in
    return runnable.model_copy(update={field: observed})  # type: ignore[no-any-return]  # same


def _searches_as_its_class_says(retriever: VectorStoreRetriever) -> bool:
    """Tell whether a copy may be asked: a subclass's own search could change its state."""
    cls = type(retriever)
    return (
        cls._get_relevant_documents is VectorStoreRetriever._get_relevant_documents
        and cls._aget_relevant_documents is VectorStoreRetriever._aget_relevant_documents
    )


def _observed_store(store: VectorStore, scores: ObservedScores) -> VectorStore:
    cls = _observer_class(type(store))
    observer = cls.__new__(cls)
    observer.__dict__ = store.__dict__  # shared, so that what the store learns is not lost
    observer._ragtrace_keep = _keeper(scores, score_kind(store))  # type: ignore[attr-defined]  # a slot
    return observer


def _keeper(scores: ObservedScores, raw: ScoreKind) -> Callable[[str, Any], None]:
    def keep(method: str, pairs: Any) -> None:
        scores.keep(pairs, "relevance" if _RELEVANCE_METHOD.fullmatch(method) else raw)

    return keep


@lru_cache(maxsize=64)
def _observer_class(cls: type[VectorStore]) -> type[VectorStore]:
    """Derive the class of a store's observer; the name stays, since other tracers report it."""
    members: dict[str, Any] = {
        "__slots__": ("_ragtrace_keep",),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if inspect.isfunction(method) and _SCORED_METHOD.fullmatch(name):
            members[name] = _recorded(name, method)
    if any(base.__name__ in _SCORED_SEARCH_INSTEAD for base in cls.__mro__):
        members |= {"similarity_search": _search, "asimilarity_search": _asearch}
    observer: type[VectorStore] = types.new_class(
        cls.__name__, (cls,), exec_body=lambda namespace: namespace.update(members)
    )
    return observer


def _recorded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(method):

        async def arecorded(self: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = await method(self, *args, **kwargs)
            self._ragtrace_keep(name, pairs)
            return pairs

        return arecorded

    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        pairs = method(self, *args, **kwargs)
        self._ragtrace_keep(name, pairs)
        return pairs

    return recorded


def _search(self: Any, *args: Any, **kwargs: Any) -> list[Document]:
    return _documents(self.similarity_search_with_score(*args, **kwargs))


async def _asearch(self: Any, *args: Any, **kwargs: Any) -> list[Document]:
    return _documents(await self.asimilarity_search_with_score(*args, **kwargs))


def _documents(pairs: Sequence[tuple[Document, float]]) -> list[Document]:
    return [document for document, _ in pairs]
