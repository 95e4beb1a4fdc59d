"""LlamaIndex node parsers over `ragtrace.chunking.split`."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

from llama_index.core.node_parser.interface import MetadataAwareTextSplitter
from llama_index.core.schema import (
    DEFAULT_TEXT_NODE_TMPL,
    BaseNode,
    Document,
    ImageDocument,
    ImageNode,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.utils import get_tqdm_iterable
from msgspec.structs import replace

from ragtrace.chunking import Chunk
from ragtrace.chunking.documents import (
    IdStyle,
    SourceDocument,
    SplitSettings,
    read_source,
    split_sources,
    stored_id,
)
from ragtrace.chunking.lengths import length_function
from ragtrace.chunking.metadata import CHUNK_KEYS, chunk_metadata
from ragtrace.llama_index.settings import CheckedSettings, Function


class _ChunkingSplitter(CheckedSettings, MetadataAwareTextSplitter):
    """Keep what LlamaIndex expects of a node parser; subclasses say what the text is.

    Lengths are tokens of `length`, a tiktoken encoding, unless it is `"characters"`, `"words"` or a
    function. The metadata embedded or shown with a chunk counts, unless `include_metadata=False`.
    `document_id` names the metadata key, or is the function, that tells documents apart, and
    `title_key` the metadata key of a title to put in front of each chunk. A node's id is its chunk
    id, or with `id_style="uuid5"` a UUID made from it, for stores (Qdrant) that take nothing else;
    `id_func(chunk_index, document)` decides instead where it is given. Functions survive pickling
    as pickle lets them; to `from_dict` they must be passed again.
    """

    chunk_size: int = 512
    chunk_overlap: int = 0
    overlap_sentences: int = 0
    length: Function = "cl100k_base"
    oversize: Literal["split", "keep"] = "split"
    segmenter: Function = None
    document_id: Function = None
    title_key: str | None = None
    id_style: IdStyle = "chunk_id"
    id_func: Function = None

    _name: ClassVar[str]

    @classmethod
    def from_defaults(cls, **settings: Any) -> Self:
        """Build the splitter, as LlamaIndex's own parsers can be built."""
        return cls(**settings)

    def split_text(self, text: str) -> list[str]:
        """Split a text that belongs to no document; return what would be embedded."""
        return [chunk.content for chunk in self._settings().split(text, "text")]

    def split_text_metadata_aware(self, text: str, metadata_str: str) -> list[str]:
        """Split a text and leave room in each chunk for the metadata."""
        reserved = length_function(self.length)(metadata_str + "\n\n") if metadata_str else 0
        source = SourceDocument(text, "text", reserved=reserved)
        [chunks] = split_sources([source], self._settings())
        return [chunk.content for chunk in chunks]

    def _form(self) -> dict[str, Any]:
        """Return the settings of `split` that say what the text is."""
        # Not declared abstract: LlamaIndex makes a span of every call of what once was.
        raise NotImplementedError

    def _has_offsets(self) -> bool:
        return True

    def _check(self) -> None:
        self._settings()

    def _settings(self) -> SplitSettings:
        return SplitSettings(
            chunk_size=self.chunk_size,
            chunk_overlap=self.chunk_overlap,
            overlap_sentences=self.overlap_sentences,
            length=self.length,
            oversize=self.oversize,
            segmenter=self.segmenter,
            **self._form(),
        )

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        settings = self._settings()
        splitter = settings.fingerprint(self._name)
        sources = [self._source(node) for node in nodes]
        # A hierarchical parser splits each piece in a call of its own, so that numbers start anew.
        alone = len(nodes) == 1 and nodes[0].source_node is not None
        parsed: list[BaseNode] = []
        for node, source, chunks in zip(
            get_tqdm_iterable(nodes, show_progress, "Parsing nodes"),
            sources,
            split_sources(sources, settings),
            strict=True,
        ):
            placed = self._has_offsets() and not source.piece
            # Made once: it hashes the whole document.
            origin = node.source_node or node.as_related_node_info()
            made = [self._to_node(node, chunk, splitter, placed, alone, origin) for chunk in chunks]
            if self.include_prev_next_rel:
                _link(made)
            parsed += made
        _refuse_repeats(parsed)
        return parsed

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        # Upstream searches the document for each chunk's text and overwrites exact offsets with
        # what it finds; all else it does here is done where the nodes are made.
        return nodes

    def _source(self, node: BaseNode) -> SourceDocument:
        parent = node.source_node
        source = read_source(
            node.get_content(metadata_mode=MetadataMode.NONE),
            node.metadata,
            own_id=node.node_id,
            start=None if parent is None else getattr(node, "start_char_idx", None),
            parent_id=None if parent is None else parent.node_id,
            key=self.document_id,
            title_key=self.title_key,
        )
        embedded = self._get_metadata_str(node) if self.include_metadata else ""
        if not embedded:
            return source
        template = getattr(node, "text_template", DEFAULT_TEXT_NODE_TMPL)
        taken = template.format(metadata_str=embedded, content="")
        return replace(source, reserved=length_function(self.length)(taken))

    def _to_node(
        self,
        node: BaseNode,
        chunk: Chunk,
        splitter: str,
        placed: bool,
        alone: bool,
        origin: RelatedNodeInfo,
    ) -> TextNode:
        kept = node.metadata if self.include_metadata else {}
        metadata = {key: value for key, value in kept.items() if key not in CHUNK_KEYS}
        values = chunk_metadata(chunk, splitter, offsets=placed)
        fields: dict[str, Any] = {
            "id_": self._node_id(node, chunk, splitter, placed, alone),
            "text": chunk.content,
            "metadata": {**metadata, **values},
            "excluded_embed_metadata_keys": _extended(node.excluded_embed_metadata_keys, values),
            "excluded_llm_metadata_keys": _extended(node.excluded_llm_metadata_keys, values),
            "metadata_template": node.metadata_template,
            "metadata_separator": node.metadata_separator,
            "text_template": getattr(node, "text_template", DEFAULT_TEXT_NODE_TMPL),
            "relationships": {NodeRelationship.SOURCE: origin},
            "start_char_idx": chunk.start if placed else None,
            "end_char_idx": chunk.end if placed else None,
        }
        if isinstance(node, ImageDocument | ImageNode):
            images = ("image", "image_path", "image_url")
            return ImageNode(**fields, **{name: getattr(node, name) for name in images})
        return TextNode(**fields)

    def _node_id(
        self, node: BaseNode, chunk: Chunk, splitter: str, placed: bool, alone: bool
    ) -> str:
        if self.id_func is not None:
            return str(self.id_func(chunk.index, node))
        name = chunk.chunk_id
        if alone and placed:
            settings = splitter.rpartition(":")[2]
            name = f"{chunk.doc_id}#{chunk.start}-{chunk.end}@{settings}"
        elif alone:
            name = f"{node.node_id}#c{chunk.index}"
        return stored_id(name) if self.id_style == "uuid5" else name


def _extended(excluded: list[str], values: dict[str, Any]) -> list[str]:
    return [*excluded, *(key for key in values if key not in excluded)]


def _link(nodes: list[TextNode]) -> None:
    for before, after in pairwise(nodes):
        before.relationships[NodeRelationship.NEXT] = after.as_related_node_info()
        after.relationships[NodeRelationship.PREVIOUS] = before.as_related_node_info()


def _refuse_repeats(nodes: Sequence[BaseNode]) -> None:
    seen: set[str] = set()
    for node in nodes:
        if node.node_id in seen:
            raise ValueError(f"two chunks have the node id {node.node_id!r}: mend the id_func")
        seen.add(node.node_id)


class SentenceAlignedSplitter(_ChunkingSplitter):
    """Split prose between sentences, never inside one that fits.

    `overlap_sentences` repeats whole sentences; `window` and `step` make windows of sentences in
    their place. `oversize="keep"` leaves a sentence that is longer than a chunk whole. `segmenter`
    is any function from a text to the spans of its sentences.

    >>> from llama_index.core.schema import Document
    >>> splitter = SentenceAlignedSplitter(chunk_size=5)
    >>> nodes = splitter.get_nodes_from_documents([Document(text="One is. Two is.", id_="d")])
    >>> [(node.node_id, node.text, node.start_char_idx) for node in nodes]
    [('d#c0', 'One is.', 0), ('d#c1', 'Two is.', 8)]
    """

    window: int | None = None
    step: int | None = None

    _name: ClassVar[str] = "sentence-aligned"

    def _form(self) -> dict[str, Any]:
        return {"format": "prose", "window": self.window, "step": self.step}


class HeadingPathSplitter(_ChunkingSplitter):
    """Split Markdown or HTML along its structure; each chunk knows the headings above it.

    Fences, tables, lists and definitions that fit a chunk stay whole. `sections="merge"` lets a
    chunk span consecutive sections, `prepend_heading_path` puts the path in front of the text. HTML
    is turned into Markdown first; its chunks have no offsets.
    """

    format: Literal["markdown", "html"] = "markdown"
    sections: Literal["separate", "merge"] = "separate"
    prepend_heading_path: bool = False

    _name: ClassVar[str] = "heading-path"

    def _form(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "sections": self.sections,
            "prepend_heading_path": self.prepend_heading_path,
        }

    def _has_offsets(self) -> bool:
        return self.format != "html"


class DefinitionSplitter(_ChunkingSplitter):
    """Split source code between definitions; a function that fits a chunk is never cut.

    `language` is one that `ragtrace.chunking.split` knows: "python", "typescript", "go" and so on.
    Needs the extra `code`.
    """

    language: str
    prepend_heading_path: bool = False

    _name: ClassVar[str] = "definition"

    def _form(self) -> dict[str, Any]:
        return {
            "format": "code",
            "language": self.language,
            "prepend_heading_path": self.prepend_heading_path,
        }
