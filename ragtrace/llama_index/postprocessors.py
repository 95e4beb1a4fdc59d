"""What can be done with nodes after retrieval, as LlamaIndex postprocessors."""

from typing import Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from llama_index.core.storage.docstore import BaseDocumentStore
from msgspec.structs import replace

from ragtrace.chunking.documents import stored_id
from ragtrace.llama_index.hits import LINKS, Part, to_hit, to_hits, to_node
from ragtrace.llama_index.recording import answers_with, record_postprocessed
from ragtrace.llama_index.settings import CheckedSettings, Function
from ragtrace.postprocessing import Hit, drop_near_duplicates, merge_adjacent
from ragtrace.postprocessing.sources import default_fill_gap
from ragtrace.tracing import ScoreKind, Tracer, as_tracer


class RecordingPostprocessor(CheckedSettings, BaseNodePostprocessor):
    """Write what is left of the nodes to the trace of the retrieval they came from.

    Where the retrieval is traced (`TracedRetriever`, `trace_retrieval`), the result is written to
    its trace as stage `merged` under the same id, once after each postprocessor: the last one
    counts. With a `trace_path` (or `Tracer`) it is always written there.
    """

    trace_path: Any = Field(default=None, exclude=True)
    _tracer: Tracer | None = PrivateAttr(default=None)

    def _check(self) -> None:
        if self.trace_path is not None:
            self._tracer = as_tracer(self.trace_path, {})
        self._improve([], "unknown")

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        answers = answers_with(nodes, query_bundle)
        alone = None
        if self._tracer is not None and not answers:
            query = "" if query_bundle is None else query_bundle.query_str
            alone = self._tracer.start(query, retriever=type(self).__name__)
        kept = self._improve(nodes, answers[0].score_kind if answers else "unknown")
        if self._tracer is not None and alone is not None:
            self._tracer.finish(alone, lambda: to_hits(kept), stage="merged")
        record_postprocessed(answers, kept, self._tracer)
        return kept

    def _improve(self, nodes: list[NodeWithScore], kind: ScoreKind) -> list[NodeWithScore]:
        """Return the nodes to go on with; those given are not changed."""
        # Not declared abstract: LlamaIndex makes a span of every call of what once was.
        raise NotImplementedError


class MergeAdjacentPostprocessor(RecordingPostprocessor):
    """Join nodes that are neighbours in their document, in place of the better ranked one.

    The settings are those of `ragtrace.postprocessing.merge_adjacent`. `documents` are texts by
    id, or a function that returns one; they let `fill_gap` work, as does `chunk_at`, and restore
    the white space between chunks. `docstore` is LlamaIndex's place for both. Without a word
    `fill_gap` is 1 where any of them is given, else 0: one to two more passages in a hundred come
    back whole for 4 to 9 % more context (`benchmarks/merge.py`). `higher_is_better` follows from
    the kind of the scores where a traced retrieval knows it. Images and index nodes pass through as
    they are. The nodes given are never changed.
    """

    fill_gap: int | None = None
    max_length: int | None = None
    length: Function = None
    within_section: bool = False
    higher_is_better: bool | None = None
    documents: Any = Field(default=None, exclude=True)
    chunk_at: Any = Field(default=None, exclude=True)
    docstore: Any = Field(default=None, exclude=True)

    def _improve(self, nodes: list[NodeWithScore], kind: ScoreKind) -> list[NodeWithScore]:
        higher_is_better = self.higher_is_better
        if higher_is_better is None:
            higher_is_better = kind != "distance"
        given = dict(enumerate(nodes, 1))
        texts = {rank: item for rank, item in given.items() if _is_text(item.node)}
        hits = _linked({rank: to_hit(item, rank) for rank, item in texts.items()}, texts)
        merged = merge_adjacent(
            list(hits.values()),
            fill_gap=self._gap(),
            max_length=self.max_length,
            length=self.length,
            within_section=self.within_section,
            higher_is_better=higher_is_better,
            documents=self.documents or _document_texts(self.docstore),
            chunk_at=self.chunk_at or _chunk_lookup(self.docstore),
        )
        owners = {
            name: Part(texts[rank].node, hit)
            for rank, hit in hits.items()
            for name in (hit.merged_ids or (hit.chunk_id,))
        }
        placed = {rank: item for rank, item in given.items() if rank not in texts}
        for hit in merged:
            item = texts[hit.rank]
            if hit.merged_ids not in ((hits[hit.rank].chunk_id,), hits[hit.rank].merged_ids):
                parts = [owners[name] for name in hit.merged_ids if name in owners]
                item = NodeWithScore(node=to_node(hit, parts), score=hit.score)
            placed[hit.rank] = item
        return [placed[rank] for rank in sorted(placed)]

    def _gap(self) -> int:
        if self.fill_gap is not None:
            return self.fill_gap
        return default_fill_gap(self.documents, self.chunk_at, self.docstore)


class NearDuplicatePostprocessor(RecordingPostprocessor):
    """Let a node that repeats an earlier one give up its place; see `drop_near_duplicates`.

    Retrieve more than `k` nodes, and the places that become free are filled from further ranks.
    """

    threshold: float = 0.85
    k: int | None = None

    def _improve(self, nodes: list[NodeWithScore], kind: ScoreKind) -> list[NodeWithScore]:
        kept = drop_near_duplicates(to_hits(nodes), threshold=self.threshold, k=self.k)
        return [nodes[hit.rank - 1] for hit in kept]


def _is_text(node: BaseNode) -> bool:
    return isinstance(node, TextNode) and not isinstance(node, ImageNode | IndexNode)


def _linked(hits: dict[int, Hit], items: dict[int, NodeWithScore]) -> dict[int, Hit]:
    """Tell each hit its neighbours by chunk id; nodes name them by node id."""
    nodes = {rank: items[rank].node for rank in hits}
    names = {nodes[rank].node_id: hit.chunk_id for rank, hit in hits.items()}
    # A text that was replaced after splitting is no chunk any more, and nobody's neighbour.
    replaced = {
        nodes[rank].node_id
        for rank, hit in hits.items()
        if hit.start is None and getattr(nodes[rank], "start_char_idx", None) is not None
    }
    linked: dict[int, Hit] = {}
    for rank, hit in hits.items():
        links = zip(LINKS, (nodes[rank].prev_node, nodes[rank].next_node), strict=True)
        known = {
            key: names.get(other.node_id, other.node_id)
            for key, other in links
            if other is not None and replaced.isdisjoint((other.node_id, nodes[rank].node_id))
        }
        linked[rank] = replace(hit, metadata={**hit.metadata, **known})
    return linked


def _document_texts(docstore: BaseDocumentStore | None) -> Any:
    if docstore is None:
        return None

    def text_of(doc_id: str) -> str | None:
        document = docstore.get_document(doc_id, raise_error=False)
        # A docstore may hold chunks as well; a chunk is not its document's text.
        return document.text if isinstance(document, Document) else None

    return text_of


def _chunk_lookup(docstore: BaseDocumentStore | None) -> Any:
    if docstore is None:
        return None

    def chunk_at(doc_id: str, index: int) -> Hit | None:
        name = f"{doc_id}#c{index}"
        for node_id in (name, stored_id(name)):
            node = docstore.get_document(node_id, raise_error=False)
            if node is not None:
                return to_hit(NodeWithScore(node=node), 0)
        return None

    return chunk_at
