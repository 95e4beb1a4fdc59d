"""The contract in LlamaIndex's words."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode

from ragtrace.llama_index import (
    DefinitionSplitter,
    HeadingPathSplitter,
    MergeAdjacentPostprocessor,
    NearDuplicatePostprocessor,
    SentenceAlignedSplitter,
    TracedRetriever,
    ValidateChunks,
    trace_retrieval,
)
from tests.contract.side import Stored

SPLITTERS: dict[str, Callable[..., Any]] = {
    "sentence-aligned": SentenceAlignedSplitter,
    "heading-path": HeadingPathSplitter,
    "definition": DefinitionSplitter,
}


class FixedRetriever(BaseRetriever):
    """Answers any query with the same nodes, best first."""

    def __init__(
        self, stored: Sequence[Stored], similarity_top_k: int, error: BaseException | None
    ) -> None:
        self.stored = stored
        self.similarity_top_k = similarity_top_k
        self.error = error
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self.error is not None:
            raise self.error
        return [node_of(one) for one in self.stored[: self.similarity_top_k]]


def node_of(stored: Stored) -> NodeWithScore:
    named = {} if stored.id is None else {"id_": stored.id}
    node = TextNode(text=stored.content, metadata=dict(stored.metadata), **named)
    return NodeWithScore(node=node, score=stored.score)


def stored_of(item: NodeWithScore) -> Stored:
    return Stored(item.node.get_content(), dict(item.node.metadata), item.node.node_id, item.score)


class LlamaIndexSide:
    name = "llama_index"

    def make_splitter(self, name: str, **settings: Any) -> Any:
        return SPLITTERS[name](**{"length": "characters", **settings})

    def split(self, splitter: Any, documents: Sequence[tuple[str, str]]) -> list[Stored]:
        given = [Document(text=text, id_=doc_id) for doc_id, text in documents]
        return [
            Stored(node.get_content(), dict(node.metadata), node.node_id)
            for node in splitter.get_nodes_from_documents(given)
        ]

    def make_retriever(
        self, stored: Sequence[Stored], top_k: int, error: BaseException | None = None
    ) -> Any:
        return FixedRetriever(stored, top_k, error)

    def trace(
        self, retriever: Any, queries: Sequence[str], path: Path, **options: Any
    ) -> list[Any]:
        traced = TracedRetriever(retriever, path, **options)
        return [traced.retrieve(query) for query in queries]

    async def atrace(
        self, retriever: Any, queries: Sequence[str], path: Path, **options: Any
    ) -> list[Any]:
        traced = TracedRetriever(retriever, path, **options)
        return [await traced.aretrieve(query) for query in queries]

    def observe(self, retriever: Any, queries: Sequence[str], path: Path) -> list[Any]:
        with trace_retrieval(path):
            return [retriever.retrieve(query) for query in queries]

    def trace_merged(
        self, retriever: Any, queries: Sequence[str], path: Path, **settings: Any
    ) -> list[Any]:
        traced = TracedRetriever(retriever, path)
        merger = MergeAdjacentPostprocessor(**settings)
        return [merger.postprocess_nodes(traced.retrieve(q), query_str=q) for q in queries]

    def observe_merged(
        self, retriever: Any, queries: Sequence[str], path: Path, **settings: Any
    ) -> list[Any]:
        merger = MergeAdjacentPostprocessor(**settings)
        with trace_retrieval(path):
            return [merger.postprocess_nodes(retriever.retrieve(q), query_str=q) for q in queries]

    def answers(self, result: Any) -> list[Stored]:
        return [stored_of(item) for item in result]

    def merge(self, stored: Sequence[Stored], **settings: Any) -> list[Stored]:
        return self._postprocess(MergeAdjacentPostprocessor(**settings), stored)

    def validate(self, stored: Sequence[Stored], events: Any, **settings: Any) -> list[Stored]:
        nodes = [node_of(one).node for one in stored]
        passed = ValidateChunks(events, **settings)(nodes)
        assert passed is nodes
        return [Stored(n.get_content(), dict(n.metadata), n.node_id) for n in passed]

    def drop_near_duplicates(self, stored: Sequence[Stored], **settings: Any) -> list[Stored]:
        return self._postprocess(NearDuplicatePostprocessor(**settings), stored)

    def _postprocess(self, postprocessor: Any, stored: Sequence[Stored]) -> list[Stored]:
        nodes = postprocessor.postprocess_nodes([node_of(one) for one in stored], query_str="q")
        return [stored_of(node) for node in nodes]


side = LlamaIndexSide()
