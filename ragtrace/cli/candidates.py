"""Splitters by name, to try on somebody's documents."""

from collections.abc import Callable, Iterable

from ragtrace.chunking import Chunk, split

Splitter = Callable[[str, str], Iterable[Chunk]]
"""Cuts a document, given its id and its text."""

SPLITTERS = ("sentence-aligned", "heading-path", "recursive")


def candidate(name: str, *, chunk_size: int, length: str, overlap_sentences: int = 0) -> Splitter:
    """Return the splitter of this name at this size.

    `recursive` is LangChain's, for comparison; where an overlap is asked for it repeats a tenth of
    the size for each sentence. Raises `ValueError` for another name, `ImportError` where LangChain
    is not installed.
    """
    if name not in SPLITTERS:
        raise ValueError(f"splitter {name!r}: choose {', '.join(SPLITTERS)}")
    if name == "recursive":
        return _recursive(chunk_size, length, overlap_sentences * chunk_size // 10)
    markdown = name == "heading-path"

    def cut(doc_id: str, text: str) -> list[Chunk]:
        return split(
            text,
            format="markdown" if markdown else "prose",
            sections="merge" if markdown else "separate",
            chunk_size=chunk_size,
            length=length,
            overlap_sentences=overlap_sentences,
            doc_id=doc_id,
        )

    cut("", "")  # wrong settings are told before the work begins
    return cut


def _recursive(chunk_size: int, length: str, overlap: int) -> Splitter:
    try:
        from ragtrace.langchain.recursive import split_recursively
    except ImportError:
        raise ImportError(
            "the splitter recursive needs LangChain: pip install 'ragtrace-kit[langchain]'"
        ) from None
    return lambda doc_id, text: split_recursively(
        doc_id, text, chunk_size=chunk_size, length=length, overlap=overlap
    )
