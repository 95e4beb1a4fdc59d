"""Keep a LlamaIndex index in step with its documents."""

from collections.abc import Collection, Iterable, Sequence

from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from ragtrace.index.embedding_cache import EmbeddingCache
from ragtrace.index.manifest_chunk import ManifestChunk
from ragtrace.index.permissions import permission_keys
from ragtrace.index.plan import Stored
from ragtrace.index.stored_metadata import store_metadata


class IndexTarget:
    """Let `ragtrace.index.sync` write to a vector store index.

    LlamaIndex has no way to write metadata alone, so a chunk that moved is written again; with a
    `cache`, for which the index's `embed_model` is to be given, that costs no embedding.

    >>> from llama_index.core import MockEmbedding
    >>> index = VectorStoreIndex(nodes=[], embed_model=MockEmbedding(embed_dim=2))
    >>> IndexTarget(index).present(["244d78ed-fcb9-d597-f78a-5c1194bd2822"])
    set()
    """

    def __init__(
        self,
        index: VectorStoreIndex,
        *,
        embed_model: BaseEmbedding | None = None,
        cache: EmbeddingCache | None = None,
    ) -> None:
        if (embed_model is None) is not (cache is None):
            raise ValueError("embed_model and cache are of use only together: give both or none")
        self.index = index
        self.embed_model = embed_model
        self.cache = cache

    def add(self, chunks: Stored) -> None:
        """Embed and write chunks; an id that is there is replaced."""
        self.delete(list(chunks))
        nodes = [to_node(store_id, chunk) for store_id, chunk in chunks.items()]
        if self.cache is not None and self.embed_model is not None:
            texts = [node.text for node in nodes]
            vectors = self.cache.embed(texts, self.embed_model.get_text_embedding_batch)
            for node, vector in zip(nodes, vectors, strict=True):
                node.embedding = vector
        self.index.insert_nodes(nodes)

    def update(self, chunks: Stored) -> None:
        """Write chunks whose text the index already has, with new metadata."""
        self.add(chunks)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; an id that is not there is no error."""
        there = list(self.present(ids))
        if there:
            self.index.delete_nodes(there, delete_from_docstore=True)

    def present(self, ids: Sequence[str]) -> Collection[str]:
        """Return those of the ids that the index has."""
        if not ids:
            return set()
        store = self.index.vector_store
        if not store.stores_text:
            return {i for i in ids if self.index.docstore.document_exists(i)}
        # Qdrant's class makes its collection when the first node comes.
        exists = getattr(getattr(store, "client", None), "collection_exists", None)
        if exists is not None and not exists(getattr(store, "collection_name", "")):
            return set()
        return {node.node_id for node in store.get_nodes(node_ids=list(ids))}


def to_node(store_id: str, chunk: ManifestChunk) -> TextNode:
    """Make a node of a chunk; its metadata is for reading, not for embedding or prompts."""
    metadata = store_metadata(chunk)
    return TextNode(
        id_=store_id,
        text=chunk.content,
        metadata=metadata,
        start_char_idx=chunk.start,
        end_char_idx=chunk.end,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=list(metadata),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.doc_id)},
    )


def permission_filters(groups: Iterable[str]) -> MetadataFilters:
    """Return the filters that let a retriever return only what these groups may read.

    >>> [condition.key for condition in permission_filters(["staff"]).filters]
    ['allow_everyone', 'allow_staff']
    """
    return MetadataFilters(
        filters=[
            MetadataFilter(key=key, value=1, operator=FilterOperator.EQ)
            for key in permission_keys(groups)
        ],
        condition=FilterCondition.OR,
    )
