"""Read hits from the raw responses of vector stores' clients; none of them is imported.

Each function takes what the client returned, dicts or objects, and gives hits, best first, with
the kind of score that the store returns. Scores stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragtrace.tracing.hit import FoundHits, Hit
from ragtrace.tracing.reading import TEXT_KEYS, first_of, get, make_hit
from ragtrace.tracing.schema import ScoreKind

_DISTANCES = frozenset({"euclidean", "euclid", "manhattan", "l2", "squared-l2"})
_SIMILARITIES = frozenset({"cosine", "dot", "dotproduct", "ip"})


def hits_from_pinecone(
    response: Any, *, metric: str = "cosine", text_key: str | None = None
) -> FoundHits:
    """Read a query response; `metric` is the index's: "cosine", "dotproduct" or "euclidean".

    >>> match = {"id": "a#c0", "score": 0.9, "metadata": {"text": "Hello"}}
    >>> hits_from_pinecone({"matches": [match]}).hits[0].text
    'Hello'
    """
    hits = [
        _payload_hit(rank, get(match, "id"), get(match, "score"), get(match, "metadata"), text_key)
        for rank, match in enumerate(get(response, "matches", ()), 1)
    ]
    return FoundHits(hits, _kind(metric))


def hits_from_qdrant(
    response: Any, *, metric: str = "cosine", text_key: str | None = None
) -> FoundHits:
    """Read what `query_points` or `search` returned.

    `metric` is the collection's: "cosine", "dot", "euclid" or "manhattan".
    """
    points = response if isinstance(response, list | tuple) else get(response, "points", ())
    hits = [
        _payload_hit(rank, get(point, "id"), get(point, "score"), get(point, "payload"), text_key)
        for rank, point in enumerate(points, 1)
    ]
    return FoundHits(hits, _kind(metric))


def hits_from_chroma(response: Any, *, query: int = 0) -> FoundHits:
    """Read what `collection.query` returned for one of its queries; scores are distances."""
    ids = get(response, "ids")[query]
    columns = [_column(response, name, query, len(ids)) for name in ("documents", "metadatas")]
    distances = _column(response, "distances", query, len(ids))
    hits = [
        make_hit(rank, own_id=own_id, text=text, score=distance, metadata=metadata)
        for rank, (own_id, text, metadata, distance) in enumerate(
            zip(ids, *columns, distances, strict=True), 1
        )
    ]
    return FoundHits(hits, "distance")


def hits_from_pgvector(
    rows: Sequence[Any],
    *,
    columns: Sequence[str] = ("id", "text", "metadata", "distance"),
    score_column: str = "distance",
    score_kind: ScoreKind = "distance",
) -> FoundHits:
    """Read the rows of a query, tuples in the order of `columns`, or mappings.

    All four operators (`<=>`, `<->`, `<#>`, `<+>`) give distances; name the kind where the query
    computed something else. Columns that are neither id, text, metadata nor score are metadata.
    """
    hits = []
    for rank, row in enumerate(rows, 1):
        if isinstance(row, Mapping):
            values = dict(row)
        elif len(row) == len(columns):
            values = dict(zip(columns, row, strict=True))
        else:
            raise ValueError(
                f"row {rank} has {len(row)} values for the columns {', '.join(columns)}: "
                "name the columns of your query in columns="
            )
        score = values.pop(score_column, None)
        metadata = values.pop("metadata", None)
        hits.append(_payload_hit(rank, values.pop("id", None), score, values | (metadata or {})))
    return FoundHits(hits, score_kind)


def hits_from_weaviate(response: Any, *, text_key: str | None = None) -> FoundHits:
    """Read a response of the client (`objects`) or of GraphQL (`data.Get`).

    The kind follows what was asked for: a distance, a certainty (similarity), or the fused score
    of a hybrid or keyword search (relevance), which says nothing from one query to another.
    """
    hits: list[Hit] = []
    kind: ScoreKind = "unknown"
    for rank, found in enumerate(_weaviate_objects(response), 1):
        about = get(found, "_additional") or get(found, "metadata")
        values = get(found, "properties")
        if values is None:
            values = {key: value for key, value in found.items() if key != "_additional"}
        score = None
        for name, kind_of_name in _WEAVIATE_SCORES:
            score = get(about, name)
            if score is not None:
                kind = kind_of_name
                break
        own_id = first_of(found, ("uuid",)) or get(about, "id")
        hits.append(_payload_hit(rank, own_id, score, values, text_key))
    return FoundHits(hits, kind)


_WEAVIATE_SCORES: tuple[tuple[str, ScoreKind], ...] = (
    ("distance", "distance"),
    ("certainty", "similarity"),
    ("score", "relevance"),
)


def hits_from_faiss(
    scores: Any,
    indices: Any,
    lookup: Mapping[Any, Any] | Sequence[Any] | Callable[[int], Any] | None = None,
    *,
    metric: str = "l2",
    query: int = 0,
) -> FoundHits:
    """Read the two arrays that `index.search` returned, for one of its queries.

    `lookup` gives for a number the chunk: a text, or a mapping with `id`, `text` and `metadata`.
    `metric` is "l2" (FAISS returns squared distances) or "ip". The -1 that FAISS fills up short
    results with is left out.

    >>> hits_from_faiss([[0.1, 3.4e38]], [[1, -1]], ["Hello", "World"]).hits[0].text
    'World'
    """
    find = lookup if callable(lookup) else lookup.__getitem__ if lookup is not None else None
    hits: list[Hit] = []
    for score, index in zip(scores[query], indices[query], strict=True):
        number = int(index)
        if number < 0:
            continue
        chunk = find(number) if find is not None else {}
        if isinstance(chunk, str):
            chunk = {"text": chunk}
        own_id = first_of(chunk, ("chunk_id", "id"))
        hits.append(
            make_hit(
                len(hits) + 1,
                own_id=number if own_id is None else own_id,
                text=first_of(chunk, TEXT_KEYS),
                score=score,
                metadata=get(chunk, "metadata"),
            )
        )
    return FoundHits(hits, _kind(metric))


def hits_from_elasticsearch(response: Any, *, text_key: str | None = None) -> FoundHits:
    """Read a search response; `_score` is a relevance, whatever query gave it."""
    hits = [
        _payload_hit(rank, get(hit, "_id"), get(hit, "_score"), get(hit, "_source"), text_key)
        for rank, hit in enumerate(get(get(response, "hits"), "hits", ()), 1)
    ]
    return FoundHits(hits, "relevance")


def _payload_hit(
    rank: int, own_id: Any, score: Any, payload: Any, text_key: str | None = None
) -> Hit:
    """Make a hit of a payload that holds the text among the metadata."""
    values = dict(payload) if payload else {}
    names = TEXT_KEYS if text_key is None else (text_key,)
    name = next((name for name in names if isinstance(values.get(name), str)), None)
    text = values.pop(name) if name is not None else None
    nested = values.pop("metadata", None)  # LangChain keeps a mapping of its own in the payload
    if isinstance(nested, Mapping):
        values |= nested
    elif nested is not None:
        values["metadata"] = nested
    return make_hit(rank, own_id=own_id, text=text, score=score, metadata=values)


def _kind(metric: str) -> ScoreKind:
    name = metric.lower()
    if name in _DISTANCES:
        return "distance"
    if name in _SIMILARITIES:
        return "similarity"
    raise ValueError(
        f"unknown metric {metric!r}: give one of {', '.join(sorted(_DISTANCES | _SIMILARITIES))}"
    )


def _column(response: Any, name: str, query: int, length: int) -> Sequence[Any]:
    column = get(response, name)
    return column[query] if column is not None else [None] * length


def _weaviate_objects(response: Any) -> Sequence[Any]:
    objects = get(response, "objects")
    if objects is not None:
        return objects  # type: ignore[no-any-return]  # whatever the client returned
    classes = get(get(response, "data"), "Get")
    if not isinstance(classes, Mapping) or len(classes) != 1:
        raise ValueError("not a Weaviate response: neither `objects` nor one class in `data.Get`")
    return next(iter(classes.values())) or ()
