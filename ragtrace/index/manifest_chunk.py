"""What the manifest says of one chunk and of one document."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ragtrace.chunking.chunk import Chunk
from ragtrace.chunking.metadata import content_hash


class DocumentRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hold what is known of a document beside its chunks.

    `updated_at` is in Unix seconds. `permissions` are labels; whoever holds one may read the
    document. `metadata` (source, title, page, …) is carried to every chunk. `text` is kept in a
    manifest only when asked for, and always for text that no file holds, as converted HTML.
    """

    doc_id: str = msgspec.field(name="document")
    hash: str = ""
    length: int = 0
    version: str | None = None
    updated_at: float | None = None
    permissions: tuple[str, ...] = ()
    metadata: dict[str, str | int | float | bool] = msgspec.field(default_factory=dict)
    text: str | None = None


class ManifestChunk(Chunk, frozen=True, kw_only=True, omit_defaults=True):
    """Hold a chunk as an index holds it.

    `own_id` is the id that hits carry, `doc_id#cN` unless the index was built by others.
    `content_hash` is of what was embedded, `splitter` a fingerprint.

    >>> chunk = next(describe_chunks([Chunk("guide", 0, 0, 5, "Hello")], splitter="prose:1"))
    >>> chunk.chunk_id, chunk.content_hash, chunk.splitter
    ('guide#c0', '3c5c8a1fdb206886', 'prose:1')
    """

    own_id: str = msgspec.field(default="", name="chunk_id")
    content_hash: str = ""
    splitter: str | None = None
    doc_version: str | None = None
    updated_at: float | None = None
    permissions: tuple[str, ...] = ()
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def chunk_id(self) -> str:
        """Return the id that hits of this chunk carry."""
        return self.own_id or f"{self.doc_id}#c{self.index}"


def document_record(
    doc_id: str,
    text: str,
    *,
    version: str | None = None,
    updated_at: float | None = None,
    permissions: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> DocumentRecord:
    """Describe a document for the manifest.

    >>> document_record("guide", "Hello", version="2", permissions=["staff"]).hash
    '3c5c8a1fdb206886'
    """
    return DocumentRecord(
        doc_id=doc_id,
        hash=content_hash(text),
        length=len(text),
        version=version,
        updated_at=updated_at,
        permissions=tuple(sorted(set(permissions))),
        metadata=dict(metadata or {}),
        text=text,
    )


Documents = Mapping[str, str | DocumentRecord]
"""Documents by id: their texts, or records that say more."""


def document_records(documents: Documents | None) -> dict[str, DocumentRecord]:
    """Describe documents of which only the text was given."""
    return {
        doc_id: document_record(doc_id, given) if isinstance(given, str) else given
        for doc_id, given in (documents or {}).items()
    }


def describe_chunks(
    chunks: Iterable[Chunk],
    *,
    splitter: str | None = None,
    documents: Documents | None = None,
) -> Iterator[ManifestChunk]:
    """Add to each chunk what its document and its splitter say of it.

    A `ManifestChunk` keeps what it says itself. Raises `ValueError` where a document's text is
    given and is not the text of the chunk.
    """
    records = document_records(documents)
    for chunk in chunks:
        document = records.get(chunk.doc_id)
        if document is not None and document.text is not None:
            check_slice(chunk, document.text)
        yield described(chunk, splitter, document)


def described(chunk: Chunk, splitter: str | None, document: DocumentRecord | None) -> ManifestChunk:
    """Make a manifest chunk of a chunk, or return one to which nothing is to be added."""
    says_enough = document is None and (splitter is None or getattr(chunk, "splitter", None))
    if isinstance(chunk, ManifestChunk) and chunk.own_id and chunk.content_hash and says_enough:
        return chunk
    known = {field: getattr(chunk, field) for field in chunk.__struct_fields__}
    if not known.get("content_hash"):
        known["content_hash"] = content_hash(chunk.content)
    known["own_id"] = chunk.chunk_id
    if known.get("splitter") is None:
        known["splitter"] = splitter
    if document is not None:
        if known.get("doc_version") is None:
            known["doc_version"] = document.version
        if known.get("updated_at") is None:
            known["updated_at"] = document.updated_at
        known["permissions"] = known.get("permissions") or document.permissions
        known["metadata"] = document.metadata | (known.get("metadata") or {})
    return ManifestChunk(**known)


def check_slice(chunk: Chunk, text: str) -> None:
    """Raise `ValueError` unless the chunk is what its document has at its offsets."""
    if text[chunk.start : chunk.end] != chunk.text:
        raise ValueError(
            f"chunk {chunk.chunk_id!r} is not the text of document {chunk.doc_id!r} at "
            f"{chunk.start}-{chunk.end}: give the documents that the chunks were made from"
        )
