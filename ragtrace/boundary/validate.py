"""Validate chunks, whoever made them: one pass, one report."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ragtrace.boundary.budget import Budget
from ragtrace.boundary.duplicates import NearTexts, SeenTexts, find_duplicates
from ragtrace.boundary.exact import Segmenter, check_document
from ragtrace.boundary.heuristics import check_alone
from ragtrace.boundary.issue import Issue
from ragtrace.boundary.piece import DEFAULT_DOCUMENT, Piece, read_pieces
from ragtrace.boundary.report import BoundaryReport, Tally

Checked = tuple[Piece, list[Issue]]


def validate(
    chunks: Iterable[Any] | Mapping[str, Iterable[Any]],
    *,
    documents: Mapping[str, str] | None = None,
    chunk_size: int | None = None,
    length: str | Callable[[str], int] | None = None,
    format: Any = None,  # noqa: A002  # the word that `split` uses for the same thing
    segmenter: Segmenter | None = None,
    near_duplicates: float | None = None,
    keep: int | None = 10_000,
    on_issue: Callable[[Issue, Piece], None] | None = None,
) -> BoundaryReport:
    """Check chunks for what their boundaries cut, lose or misplace.

    `chunks` are `Chunk`s, strings, mappings, LangChain Documents or LlamaIndex nodes, in reading
    order, or a mapping from document ids to them. Decoration (a heading path, a repeated table
    header) is stripped first. `documents` maps document ids to their texts: chunks of these are
    checked exactly, all others by what their text and their neighbours show. Without documents
    memory stays flat; with them the chunks are held until all are read.

    `chunk_size` in units of `length` (as in `split`; an embedder's limit with its tokenizer is a
    budget too) turns on over-budget and lets a list too long for one chunk be cut between items.
    `format` says how documents are read: "prose", "markdown", "html" (converted to Markdown, as
    the manifest keeps it), "code", or a parser as for `split`; without it each is looked at.
    `near_duplicates` is a similarity from 0 to 1 and needs the extra `dedup`. `keep` limits the
    issues that the report lists; all are counted, and given to `on_issue`.

    Raises `ValueError` for a chunk of unknown shape and a chunk size below 1.

    >>> report = validate(["The lease ends in", "September. It is renewed."])
    >>> [issue.kind for issue in report.issues], report.issue_rate
    (['no-sentence-end', 'no-sentence-start'], 1.0)
    """
    budget = Budget(chunk_size, length)
    tally = Tally(keep)
    seen = SeenTexts()
    near = NearTexts(near_duplicates) if near_duplicates is not None else None
    exact = _Exact(documents or {}, markup=format, segmenter=segmenter, budget=budget)

    def count(checked: Iterable[Checked]) -> None:
        for piece, issues in checked:
            issues += budget.find_issues(piece)
            issues += find_duplicates(piece, seen, near)
            tally.add(piece, issues)
            if on_issue is not None:
                for issue in issues:
                    on_issue(issue, piece)

    count(check_alone(exact.take(_named(chunks)), budget.characters))
    count(exact.check())
    for issue in exact.find_missing():
        tally.add_finding(issue)
    return tally.report(
        checked_exactly=exact.checked,
        located=exact.located,
        chunk_size=chunk_size,
        length=budget.name,
    )


def _named(chunks: Iterable[Any] | Mapping[str, Iterable[Any]]) -> Iterator[Piece]:
    if not isinstance(chunks, Mapping):
        yield from read_pieces(chunks)
        return
    for doc_id, of_document in chunks.items():
        yield from read_pieces(of_document, doc_id=str(doc_id))


class _Exact:
    """Hold the chunks whose documents are at hand until all are read, then check them."""

    def __init__(
        self,
        documents: Mapping[str, str],
        *,
        markup: Any,
        segmenter: Segmenter | None,
        budget: Budget,
    ) -> None:
        self._documents = documents
        self._markup = markup
        self._segmenter = segmenter
        self._budget = budget
        self._held: dict[str, list[Piece]] = {}
        # Chunks that name no document belong to the only one there is.
        self._only = next(iter(documents)) if len(documents) == 1 else None
        self.checked = 0
        self.located = 0

    def take(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Hold what can be checked exactly, and pass the rest on."""
        for piece in pieces:
            doc_id = piece.doc_id
            if doc_id == DEFAULT_DOCUMENT and self._only is not None:
                doc_id = self._only
            if doc_id in self._documents:
                self._held.setdefault(doc_id, []).append(piece)
            else:
                yield piece

    def check(self) -> Iterator[Checked]:
        """Check the held chunks, document by document."""
        for doc_id, pieces in self._held.items():
            checked = check_document(
                doc_id,
                self._documents[doc_id],
                pieces,
                markup=self._markup,
                segmenter=self._segmenter,
                budget=self._budget,
            )
            self.checked += len(pieces)
            self.located += checked.located
            yield from checked.pieces

    def find_missing(self) -> Iterator[Issue]:
        """Yield the documents that have text but no chunk."""
        for doc_id, text in self._documents.items():
            if doc_id not in self._held and text.strip():
                length = len(text)
                message = f"no chunk of this document was given ({length} characters)"
                yield Issue("gap", "", doc_id, 0, length, length, message, text[:120], exact=True)
