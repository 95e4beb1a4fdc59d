"""Anchor labels: turn quotes and chunk ids into spans of today's documents, or say why not."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.evaluation.eval_set import EvalSet, GoldSpan
from ragtrace.evaluation.lookup import ChunkLookup
from ragtrace.evaluation.spans import Span

ProblemKind = Literal["missing", "ambiguous", "edited", "unknown-document", "unknown-chunk"]

_ELLIPSIS = re.compile(r"\s*(?:…|\.\.\.|\[…\]|\[\.\.\.\])\s*")
_EDGE_WORDS = 5
_LONGEST_PASSAGE = 20_000


class LabelProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Hold a label that could not be anchored, or (`edited`) only by its first and last words."""

    question_id: str
    kind: ProblemKind
    label: GoldSpan
    message: str

    @property
    def is_stale(self) -> bool:
        """Tell whether the label cannot be used until somebody repairs it."""
        return self.kind != "edited"


class Anchored(msgspec.Struct, frozen=True, kw_only=True):
    """Hold an eval set with spans wherever they could be found, and what could not."""

    eval_set: EvalSet
    problems: tuple[LabelProblem, ...] = ()


def find_quote(text: str, quote: str) -> tuple[list[Span], bool]:
    r"""Find every place of a quote: exactly, then whatever its white space, then by its edges.

    The edges are the words around an ellipsis, or the first and last five words of a longer quote.
    The second value tells that only the edges were compared although the whole quote was given.

    >>> find_quote("One  two\nthree four.", "two three")
    ([(5, 14)], False)
    >>> find_quote("First of all, many words, and the end.", "First of … the end.")
    ([(0, 38)], False)
    """
    quote = quote.strip()
    found = [match.span() for match in re.finditer(re.escape(quote), text)]
    if not found:
        found = _find_words(text, quote)
    if found:
        return found, False
    parts = _ELLIPSIS.split(quote)
    if len(parts) == 2 and all(parts):
        return _find_between(text, parts[0], parts[1], _LONGEST_PASSAGE), False
    words = quote.split()
    if len(words) < 2 * _EDGE_WORDS + 2:
        return [], False
    first, last = " ".join(words[:_EDGE_WORDS]), " ".join(words[-_EDGE_WORDS:])
    length = len(" ".join(words))
    near = [
        span
        for span in _find_between(text, first, last, round(length * 1.25))
        if span[1] - span[0] >= length * 0.8
    ]
    return near, True


def _find_words(text: str, quote: str) -> list[Span]:
    words = quote.split()
    # Most texts are not the one: looking for one word is a hundred times faster than a pattern.
    if not words or max(words, key=len) not in text:
        return []
    pattern = r"\s+".join(map(re.escape, words))
    return [match.span() for match in re.finditer(pattern, text)]


def _find_between(text: str, first: str, last: str, longest: int) -> list[Span]:
    found: list[Span] = []
    ends = [end for _, end in _find_words(text, last)]
    for start, first_end in _find_words(text, first):
        end = next((end for end in ends if end >= first_end + len(last)), None)
        if end is not None and end - start <= longest:
            found.append((start, end))
    return found


def anchor(
    eval_set: EvalSet,
    *,
    documents: Mapping[str, str] | None = None,
    chunks: Iterable[Chunk] | ChunkLookup | None = None,
    ids: bool = True,
) -> Anchored:
    """Give every label its span, from the documents and from the manifest its ids were made for.

    `ids=False` leaves chunk ids alone, for use with the very index they name.

    Labels that need nothing, or for which nothing was given to look in, stay as they are. A label
    that is gone, is found twice, or names an unknown document or chunk is kept and reported.
    """
    lookup = as_lookup(chunks)
    problems: list[LabelProblem] = []
    questions = []
    for question in eval_set:
        labels: dict[GoldSpan, None] = {}
        for label in question.gold:
            anchored = _anchor(label, documents, lookup, ids)
            if isinstance(anchored, GoldSpan):
                labels[anchored] = None
                continue
            kind, message, kept = anchored
            labels[kept] = None
            problems.append(
                LabelProblem(
                    question_id=question.question_id, kind=kind, label=kept, message=message
                )
            )
        questions.append(msgspec.structs.replace(question, gold=tuple(labels)))
    return Anchored(
        eval_set=msgspec.structs.replace(eval_set, questions=tuple(questions)),
        problems=tuple(problems),
    )


def as_lookup(chunks: Iterable[Chunk] | ChunkLookup | None) -> ChunkLookup | None:
    """Take chunks as a lookup, a manifest (anything with `.chunks`), or an iterable of chunks."""
    if chunks is None or isinstance(chunks, ChunkLookup):
        return chunks
    return ChunkLookup(getattr(chunks, "chunks", chunks))


_Problem = tuple[ProblemKind, str, GoldSpan]


def _anchor(
    label: GoldSpan,
    documents: Mapping[str, str] | None,
    lookup: ChunkLookup | None,
    ids: bool,
) -> GoldSpan | _Problem:
    if label.has_span:
        return _check_span(label, documents)
    if label.quote is not None:
        return _place_quote(label, documents, lookup)
    if label.chunk_id is None or lookup is None or not ids:
        return label
    chunk = lookup.get(label.chunk_id)
    if chunk is None:
        return "unknown-chunk", f"the manifest has no chunk {label.chunk_id!r}", label
    return msgspec.structs.replace(
        label, doc_id=chunk.doc_id, start=chunk.start, end=chunk.end, quote=chunk.text
    )


def _check_span(label: GoldSpan, documents: Mapping[str, str] | None) -> GoldSpan | _Problem:
    if documents is None:
        return label
    assert label.doc_id is not None
    text = documents.get(label.doc_id)
    if text is None:
        return "unknown-document", f"there is no document {label.doc_id!r}", label
    held = text[label.start : label.end]
    if label.quote is None:
        if held.strip():
            return msgspec.structs.replace(label, quote=held)
        message = f"{label.doc_id!r} has no text at {label.start}-{label.end}"
        return "missing", message, label
    if held == label.quote:
        return label
    return _place_quote(label, documents, None)


def _place_quote(
    label: GoldSpan, documents: Mapping[str, str] | None, lookup: ChunkLookup | None
) -> GoldSpan | _Problem:
    assert label.quote is not None
    if documents is None and lookup is None:
        return label
    if label.doc_id is not None:
        names: Iterable[str] = (label.doc_id,)
    elif documents is not None:
        names = documents
    else:
        assert lookup is not None
        names = lookup.document_ids
    found: list[tuple[str, Span, bool]] = []
    for name in names:
        if documents is not None:
            text = documents.get(name)
        else:
            assert lookup is not None
            text = lookup.document(name) if name in lookup else None
        if text is None:
            return "unknown-document", f"there is no document {name!r}", label
        spans, by_edges = find_quote(text, label.quote)
        found += [(name, span, by_edges) for span in spans]
    found = [place for place in found if not place[2]] or found
    shown = label.quote if len(label.quote) <= 60 else label.quote[:57] + "..."
    where = label.doc_id or "any document"
    if not found:
        gone = "no longer holds" if label.doc_id else "holds"
        return "missing", f"{label.doc_id or 'no document'} {gone} {shown!r}", label
    counts = Counter(name for name, _, _ in found)
    if max(counts.values()) > 1:
        return "ambiguous", f"{where} holds {shown!r} {len(found)} times: quote more of it", label
    name, (start, end), by_edges = found[0]
    anchored = msgspec.structs.replace(
        label,
        doc_id=name,
        start=start,
        end=end,
        # A quote of no document in particular: each that holds it once answers as well.
        alternatives=tuple(
            GoldSpan(doc_id=other, start=span[0], end=span[1], quote=label.quote)
            for other, span, _ in found[1:]
        ),
    )
    if by_edges:
        message = f"{name} holds the first and last words of {shown!r}, the middle has changed"
        return "edited", message, anchored
    return anchored
