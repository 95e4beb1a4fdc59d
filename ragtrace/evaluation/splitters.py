"""The splitters that repairs name, at the size of the index they are to replace."""

from collections.abc import Callable, Iterable

from ragtrace.chunking import Chunk, split
from ragtrace.evaluation.causes import Repair
from ragtrace.evaluation.lookup import ChunkLookup

Splitter = Callable[[str, str], Iterable[Chunk]]
"""Cuts a document, given its id and its text."""

_USUAL_SHARE = 0.95


def splitters_like(chunks: Iterable[Chunk] | ChunkLookup) -> dict[Repair, Splitter]:
    """Return what cuts documents anew into chunks as long as these, or half or twice as long.

    The size is counted in characters: that of which 95 % of the chunks are not longer. The two that
    keep sentences and sections whole repeat a sentence, since more passages are whole in a chunk
    then; the two that change the size change nothing else.

    >>> index = [Chunk("d", 0, 0, 24, "One two. Three and four.")]
    >>> [chunk.text for chunk in splitters_like(index)["smaller-chunks"]("d", index[0].text)]
    ['One two.', 'Three and', 'four.']
    """
    lengths = sorted(len(chunk.content) for chunk in chunks)
    if not lengths:
        raise ValueError("no chunks: give those of the index to be replaced")
    size = max(1, lengths[int(_USUAL_SHARE * (len(lengths) - 1))])

    def sentences(chunk_size: int, overlap: int = 0) -> Splitter:
        return lambda doc_id, text: split(
            text,
            chunk_size=chunk_size,
            overlap_sentences=overlap,
            length="characters",
            doc_id=doc_id,
        )

    def sections(doc_id: str, text: str) -> Iterable[Chunk]:
        return split(
            text,
            format="markdown",
            sections="merge",
            chunk_size=size,
            overlap_sentences=1,
            length="characters",
            doc_id=doc_id,
        )

    return {
        "sentence-aligned-splitter": sentences(size, overlap=1),
        "heading-path-splitter": sections,
        "smaller-chunks": sentences(max(1, size // 2)),
        "larger-chunks": sentences(2 * size),
    }
