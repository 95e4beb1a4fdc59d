"""LangChain's recursive splitter, read as chunks: what other splitters are compared with."""

from langchain_text_splitters import RecursiveCharacterTextSplitter

from ragtrace.chunking import Chunk
from ragtrace.chunking.lengths import length_function


def split_recursively(
    doc_id: str, text: str, *, chunk_size: int, length: str = "cl100k_base", overlap: int = 0
) -> list[Chunk]:
    """Split a document as most people do; `chunk_size` and `overlap` are in units of `length`.

    >>> chunks = split_recursively("d", "One two. Three.", chunk_size=9, length="characters")
    >>> [chunk.text for chunk in chunks]
    ['One two.', 'Three.']
    """
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=chunk_size, chunk_overlap=overlap, length_function=length_function(length)
    )
    chunks: list[Chunk] = []
    for index, content in enumerate(splitter.split_text(text)):
        # Its own start_index takes the overlap for characters, whatever the length function.
        start = text.find(content, chunks[-1].start + 1 if chunks else 0)
        chunks.append(Chunk(doc_id, index, start, start + len(content), content))
    return chunks
