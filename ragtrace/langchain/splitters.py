"""LangChain text splitters over `ragtrace.chunking.split`."""

import copy
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Literal, Self

import msgspec
from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter

from ragtrace.chunking import Chunk
from ragtrace.chunking.documents import (
    IdStyle,
    SourceDocument,
    SplitSettings,
    read_source,
    split_sources,
    stored_id,
)
from ragtrace.chunking.lengths import length_function as counting
from ragtrace.chunking.metadata import CHUNK_KEYS, DocumentIdKey, chunk_metadata

Length = str | Callable[[str], int]


class ChunkingSplitter(TextSplitter):
    """Keep what LangChain expects of a splitter; its subclasses say what the text is.

    `chunk_size`, `length_function` and `chunk_overlap` (in units of whole sentences) work as in
    LangChain, but nothing overlaps unless asked. `length_function` may also name a tiktoken
    encoding, `"characters"` or `"words"`. `keep_separator` means nothing: no character between two
    chunks is ever a separator. `add_start_index=False` leaves both offsets out of the metadata.
    `strip_whitespace=False` makes the chunks tile the text: joined, they are the text again, and
    white space at their ends does not count.

    `document_id` names the metadata key, or is the function, that tells documents apart; without,
    it is `doc_id`, the document's own id, or `source`. `title_key` names the metadata key of a
    title to put in front of each chunk. `id_style` fills `Document.id`: not at all, as LangChain's
    splitters, with the `"chunk_id"`, or with a `"uuid5"` of it for stores that take only UUIDs.
    """

    _name: ClassVar[str]

    def __init__(
        self,
        chunk_size: int = 4000,
        chunk_overlap: int = 0,
        length_function: Length = len,
        keep_separator: bool | Literal["start", "end"] = False,
        add_start_index: bool = True,
        strip_whitespace: bool = True,
        *,
        document_id: DocumentIdKey = None,
        title_key: str | None = None,
        id_style: IdStyle | None = None,
        **settings: Any,
    ) -> None:
        if id_style not in (None, "chunk_id", "uuid5"):
            raise ValueError(f"id_style is {id_style!r}: expected None, 'chunk_id' or 'uuid5'")
        length = "characters" if length_function is len else length_function
        self._settings = SplitSettings(
            chunk_size=chunk_size, chunk_overlap=chunk_overlap, length=length, **settings
        )
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            length_function=counting(length),
            keep_separator=keep_separator,
            add_start_index=add_start_index,
            strip_whitespace=strip_whitespace,
        )
        self._document_id = document_id
        self._title_key = title_key
        self._id_style = id_style

    @classmethod
    def from_tiktoken_encoder(
        cls,
        encoding_name: str = "cl100k_base",
        model_name: str | None = None,
        allowed_special: Literal["all"] | AbstractSet[str] | None = None,
        disallowed_special: Literal["all"] | Collection[str] = (),
        **kwargs: Any,
    ) -> Self:
        """Count in tokens; the name of a special token is text like any other unless allowed."""
        if model_name is None and not allowed_special and not disallowed_special:
            return cls(length_function=encoding_name, **kwargs)
        return super().from_tiktoken_encoder(
            encoding_name, model_name, allowed_special, disallowed_special, **kwargs
        )

    @classmethod
    def from_huggingface_tokenizer(cls, tokenizer: Any, **kwargs: Any) -> Self:
        """Count with a tokenizer of `transformers` or `tokenizers`, special tokens left out."""
        return cls(length_function=tokenizer, **kwargs)

    def split_text(self, text: str) -> list[str]:
        """Split one text; return what gets embedded."""
        source = SourceDocument(text)
        [chunks] = split_sources([source], self._settings)
        return [chunk.content for chunk in self._tiled(chunks, source)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """Split texts; the metadata of a text goes to each of its chunks."""
        metadatas = metadatas or [{}] * len(texts)
        if len(metadatas) != len(texts):
            raise ValueError(f"{len(texts)} texts and {len(metadatas)} metadatas: give one each")
        pairs = zip(texts, metadatas, strict=True)
        return self.split_documents(
            Document(page_content=text, metadata=metadata) for text, metadata in pairs
        )

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Split documents, or chunks of documents, which their `start_index` gives away.

        Raises `ValueError` where two whole documents have one id.
        """
        documents = list(documents)
        sources = [self._source(document) for document in documents]
        fingerprint = self._settings.fingerprint(self._name)
        return [
            self._chunk_document(chunk, document, fingerprint)
            for document, source, chunks in zip(
                documents, sources, split_sources(sources, self._settings), strict=True
            )
            for chunk in self._tiled(chunks, source)
        ]

    def _source(self, document: Document) -> SourceDocument:
        start = document.metadata.get("start_index")
        return read_source(
            document.page_content,
            document.metadata,
            own_id=document.id,
            start=start if isinstance(start, int) and start >= 0 else None,
            key=self._document_id,
            title_key=self._title_key,
        )

    def _tiled(self, chunks: Sequence[Chunk], source: SourceDocument) -> Sequence[Chunk]:
        """Give the white space between chunks to the one before it, unless it may be stripped."""
        if self._strip_whitespace or not chunks or not self._has_offsets():
            return chunks
        origin = source.start or 0
        ends = [*(chunk.start for chunk in chunks[1:]), origin + len(source.text)]
        tiles: list[Chunk] = []
        for chunk, end in zip(chunks, ends, strict=True):
            start = chunk.start if tiles else origin
            end = max(end, chunk.end)  # neighbours may overlap
            text = source.text[start - origin : end - origin]
            tiles.append(msgspec.structs.replace(chunk, start=start, end=end, text=text))
        return tiles

    def _chunk_document(self, chunk: Chunk, document: Document, fingerprint: str) -> Document:
        inherited = {k: v for k, v in document.metadata.items() if k not in CHUNK_KEYS}
        own = chunk_metadata(
            chunk, fingerprint, offsets=self._add_start_index and self._has_offsets()
        )
        return Document(
            page_content=chunk.content,
            metadata=copy.deepcopy(inherited) | own,
            id=self._stored_id(chunk),
        )

    def _has_offsets(self) -> bool:
        return True

    def _stored_id(self, chunk: Chunk) -> str | None:
        if self._id_style is None:
            return None
        return chunk.chunk_id if self._id_style == "chunk_id" else stored_id(chunk.chunk_id)


class SentenceAlignedSplitter(ChunkingSplitter):
    """Split prose between sentences, never inside one that fits.

    `overlap_sentences` repeats whole sentences; `window` and `step` make windows of sentences in
    their place. `oversize="keep"` leaves a sentence that is longer than a chunk whole. `segmenter`
    is any function from a text to the spans of its sentences. What all splitters take is said in
    `ChunkingSplitter`.

    >>> splitter = SentenceAlignedSplitter(chunk_size=30)
    >>> splitter.split_text("Dr. Smith arrived. He was late. Nobody minded.")
    ['Dr. Smith arrived.', 'He was late. Nobody minded.']
    """

    _name = "sentence-aligned"

    def __init__(
        self,
        chunk_size: int = 4000,
        chunk_overlap: int = 0,
        *args: Any,
        overlap_sentences: int = 0,
        window: int | None = None,
        step: int | None = None,
        oversize: Literal["split", "keep"] = "split",
        segmenter: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(
            chunk_size,
            chunk_overlap,
            *args,
            overlap_sentences=overlap_sentences,
            window=window,
            step=step,
            oversize=oversize,
            segmenter=segmenter,
            **options,
        )


class HeadingPathSplitter(ChunkingSplitter):
    r"""Split Markdown or HTML along its structure; each chunk knows the headings above it.

    Fences, tables, lists and definitions that fit a chunk stay whole. `sections="merge"` lets a
    chunk span consecutive sections, `prepend_heading_path` puts the path in front of the text. HTML
    is turned into Markdown first; its chunks have no offsets.

    >>> text = "# Guide\n\nRead it.\n\n## Time\n\nFive seconds."
    >>> documents = HeadingPathSplitter(chunk_size=40).create_documents([text])
    >>> [document.metadata["heading_path"] for document in documents]
    ['Guide', 'Guide > Time']
    """

    _name = "heading-path"

    def __init__(
        self,
        chunk_size: int = 4000,
        chunk_overlap: int = 0,
        *args: Any,
        format: Literal["markdown", "html"] = "markdown",  # noqa: A002  # as in split()
        sections: Literal["separate", "merge"] = "separate",
        overlap_sentences: int = 0,
        prepend_heading_path: bool = False,
        oversize: Literal["split", "keep"] = "split",
        segmenter: Any = None,
        **options: Any,
    ) -> None:
        self._format = format
        super().__init__(
            chunk_size,
            chunk_overlap,
            *args,
            format=format,
            sections=sections,
            overlap_sentences=overlap_sentences,
            prepend_heading_path=prepend_heading_path,
            oversize=oversize,
            segmenter=segmenter,
            **options,
        )

    def _has_offsets(self) -> bool:
        return bool(self._settings.format != "html")


class DefinitionSplitter(ChunkingSplitter):
    r"""Split source code between definitions, never inside one that fits.

    `language` is one that `ragtrace.chunking.split` knows: "python", "typescript", "go" and so on.
    Needs the extra `code`.

    >>> code = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"
    >>> DefinitionSplitter("python", chunk_size=30).split_text(code)
    ['import os', 'def one():\n    return 1', 'def two():\n    return 2']
    """

    _name = "definition"

    def __init__(
        self,
        language: str,
        chunk_size: int = 4000,
        *args: Any,
        prepend_heading_path: bool = False,
        oversize: Literal["split", "keep"] = "split",
        **options: Any,
    ) -> None:
        super().__init__(
            chunk_size,
            *args,
            format="code",
            language=language,
            prepend_heading_path=prepend_heading_path,
            oversize=oversize,
            **options,
        )
