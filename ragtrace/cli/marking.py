"""Passages to label: searched in a corpus, shown with line numbers, marked by lines or words."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from ragtrace.chunking import Chunk
from ragtrace.cli.inputs import find_files
from ragtrace.cli.splitting import cut_file
from ragtrace.evaluation import GoldSpan
from ragtrace.evaluation.anchors import find_quote
from ragtrace.evaluation.lookup import ChunkLookup
from ragtrace.evaluation.spans import Span, touches
from ragtrace.index import Bm25Retriever

_SETTINGS = {"format": "auto", "chunk_size": 120, "length": "words"}
_HEADINGS = re.compile(r"(?:#{1,6}[ \t][^\n]*\n\s*)+")
_LINES = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


class Passage(NamedTuple):
    """A chunk and the document it is in."""

    chunk: Chunk
    document: str

    @property
    def title(self) -> str:
        """Return where the passage is: its document and its headings."""
        return "  ".join(filter(None, (self.chunk.doc_id, " > ".join(self.chunk.heading_path))))

    def numbered(self) -> str:
        """Return the text, each line after its number in the document."""
        start, end = _trimmed(self.document, self.chunk.start, self.chunk.end)
        first = self.document.count("\n", 0, start) + 1
        lines = self.document[start:end].split("\n")
        width = len(str(first + len(lines) - 1))
        return "\n".join(
            f"  {number:>{width}}  {line.rstrip()}" for number, line in enumerate(lines, first)
        )

    def label(self, place: str) -> GoldSpan:
        r"""Return the label for a place: nothing for all of it, lines (`14-16`), or words.

        Words may be the whole quote or its first and last ones around an ellipsis. Raises
        `ValueError` where the document has no such place, or several.

        >>> text = "Keys rotate.\nLogs are kept\nfor a year."
        >>> passage = Passage(Chunk("guide", 0, 0, 12, "Keys rotate."), text)
        >>> passage.label("2-3").quote, passage.label("Logs … kept").quote
        ('Logs are kept\nfor a year.', 'Logs are kept')
        """
        if not place:
            span = self._below_headings()
        elif lines := _LINES.fullmatch(place):
            span = self._lines(int(lines[1]), int(lines[2] or lines[1]))
        else:
            span = self._words(place)
        start, end = _trimmed(self.document, *span)
        quote = self.document[start:end]
        return GoldSpan(doc_id=self.chunk.doc_id, start=start, end=end, quote=quote)

    def _below_headings(self) -> Span:
        # A label with its heading would count as cut wherever the heading is a chunk's prefix.
        start, end = _trimmed(self.document, self.chunk.start, self.chunk.end)
        headings = _HEADINGS.match(self.document, start, end)
        return (headings.end() if headings and headings.end() < end else start), end

    def _lines(self, first: int, last: int) -> Span:
        lines = self.document.split("\n")
        if not 1 <= first <= last <= len(lines) or not "".join(lines[first - 1 : last]).strip():
            raise ValueError(f"{self.chunk.doc_id} has no text in lines {first} to {last}")
        start = len("\n".join(lines[: first - 1])) + (first > 1)
        return start, start + len("\n".join(lines[first - 1 : last]))

    def _words(self, words: str) -> Span:
        found, by_edges = find_quote(self.document, words)
        here = [span for span in found if touches(span, (self.chunk.start, self.chunk.end))]
        places = here or found
        if by_edges or not places:
            raise ValueError(f"{self.chunk.doc_id} does not hold these words: {words}")
        if len(places) > 1:
            raise ValueError(f"{self.chunk.doc_id} holds these words {len(places)} times: add some")
        return places[0]


class Corpus:
    """Chunks that can be searched, and the documents they were cut from."""

    def __init__(self, chunks: Iterable[Chunk], text_of: Callable[[str], str]) -> None:
        self._retriever = Bm25Retriever(chunks)
        self._lookup = ChunkLookup(self._retriever.chunks)
        self._text_of = text_of

    def search(self, query: str, most: int) -> list[Passage]:
        """Return the passages that share most with a query, best first."""
        found = (self._lookup.get(hit.chunk_id) for hit in self._retriever.search(query, most))
        return [Passage(chunk, self._text_of(chunk.doc_id)) for chunk in found if chunk is not None]


def read_corpus(manifest: Path | None, documents: Iterable[str]) -> Corpus:
    """Read the chunks of a manifest, or split documents into passages here.

    A document that cannot be read is named on standard error and left out. Raises `ValueError`
    where neither or both are given, and where nothing is left.
    """
    documents = list(documents)
    if (manifest is None) == (not documents):
        raise ValueError("give one of --chunks chunks.jsonl and --documents folder")
    chunks, text_of = _read(manifest) if manifest is not None else _split(documents)
    if not chunks:
        raise ValueError(f"{manifest or ', '.join(documents)}: no text to search")
    return Corpus(chunks, text_of)


def _read(path: Path) -> tuple[Sequence[Chunk], Callable[[str], str]]:
    from ragtrace.index import read_manifest

    manifest = read_manifest(path)
    lookup = ChunkLookup(manifest.chunks)
    return manifest.chunks, lambda doc_id: manifest.text_of(doc_id) or lookup.document(doc_id)


def _split(documents: Iterable[str]) -> tuple[Sequence[Chunk], Callable[[str], str]]:
    chunks: list[Chunk] = []
    texts: dict[str, str] = {}
    for path, doc_id in find_files(documents):
        if doc_id in texts:
            raise ValueError(f"two documents are called {doc_id!r}: name the folder above both")
        try:
            cut = cut_file(path, doc_id, _SETTINGS)
        except (ValueError, OSError) as error:
            typer.echo(f"ragtrace: left out: {error}", err=True)
            continue
        texts[doc_id] = cut.text
        chunks += cut.chunks
    return chunks, texts.__getitem__


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())
