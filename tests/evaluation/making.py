"""Small parts that the tests of evaluation are made of."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, GoldSpan, Question
from ragtrace.tracing import Trace, TraceHit

GUIDE = (
    "Requests time out after five seconds. The limit can be set per client. "
    "A retry waits twice as long as the one before. After four retries the client gives up "
    "and raises an error that names the host."
)


def cut(text: str, *borders: int, doc_id: str = "guide") -> list[Chunk]:
    """Cut a text at these places; white space around a cut belongs to no chunk."""
    chunks = []
    edges = [0, *borders, len(text)]
    for index, (start, end) in enumerate(pairwise(edges)):
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        piece = piece.strip()
        chunks.append(Chunk(doc_id, index, start, start + len(piece), piece))
    return chunks


def ask(*quotes: str, text: str = GUIDE, doc_id: str = "guide", name: str = "q") -> EvalSet:
    """Make one question whose labels are these quotes."""
    gold = tuple(
        GoldSpan(
            doc_id=doc_id,
            start=text.index(quote),
            end=text.index(quote) + len(quote),
            quote=quote,
        )
        for quote in quotes
    )
    return EvalSet(questions=(Question(question_id=name, query=f"question {name}", gold=gold),))


def trace(
    hits: Iterable[Chunk | str | TraceHit],
    *,
    name: str = "q",
    query: str | None = None,
    ts: float = 0.0,
    scores: Sequence[float] | None = None,
    **fields: object,
) -> Trace:
    """Make the trace of one question; a string is a hit of which only the id is known."""
    made = []
    for rank, hit in enumerate(hits, 1):
        score = scores[rank - 1] if scores is not None else 1 / rank
        if isinstance(hit, TraceHit):
            made.append(hit)
        elif isinstance(hit, str):
            made.append(TraceHit(rank=rank, chunk_id=hit, doc_id=None, score=score, snippet=""))
        else:
            made.append(
                TraceHit(
                    rank=rank,
                    chunk_id=hit.chunk_id,
                    doc_id=hit.doc_id,
                    score=score,
                    snippet=hit.text[:200],
                    length=len(hit.text),
                    chunk_index=hit.index,
                    start=hit.start,
                    end=hit.end,
                )
            )
    return Trace(
        id=f"trace {name} {ts}",
        ts=ts,
        query=query if query is not None else f"question {name}",
        top_k=fields.pop("top_k", 8),  # type: ignore[arg-type]
        hits=tuple(made),
        latency_ms=fields.pop("latency_ms", 1.0),  # type: ignore[arg-type]
        question_id=fields.pop("question_id", name),  # type: ignore[arg-type]
        **fields,  # type: ignore[arg-type]
    )
