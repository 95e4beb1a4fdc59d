"""Read hits from results of any shape: mappings, objects, pairs with a score, plain texts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ragtrace.tracing.hit import FoundHits, Hit
from ragtrace.tracing.json_values import to_number
from ragtrace.tracing.schema import ScoreKind
from ragtrace.tracing.stored import read_stored

TEXT_KEYS = ("text", "page_content", "content", "document", "chunk", "body")
_ID_KEYS = ("chunk_id", "id", "_id", "node_id", "id_", "uuid")
_METADATA_KEYS = ("metadata", "meta", "payload", "properties")
_SCORE_KEYS: tuple[tuple[str, ScoreKind], ...] = (
    ("score", "unknown"),
    ("_score", "unknown"),
    ("distance", "distance"),
    ("_distance", "distance"),
    ("similarity", "similarity"),
    ("relevance_score", "relevance"),
    ("_relevance_score", "relevance"),
)
# What a result may say itself of its place, and the metadata key that means the same.
_PLACE_KEYS = {
    "doc_id": "doc_id",
    "ref_doc_id": "doc_id",
    "source": "source",
    "chunk_index": "chunk_index",
    "start": "start_index",
    "start_index": "start_index",
    "start_char_idx": "start_index",
    "end": "end_index",
    "end_index": "end_index",
    "end_char_idx": "end_index",
    "heading_path": "heading_path",
    "doc_version": "doc_version",
    "merged_ids": "merged_ids",
}


def read_hits(results: Any) -> FoundHits:
    """Read hits from an iterable of results, best first.

    A result is a `Hit`, a mapping or an object with an id, a text, a score and metadata under
    their usual names, a pair of one of these with its score, or a text. What the metadata says of
    a chunk's place is believed. Raises `TypeError` where the results can be read only once, since
    they belong to whoever asked, or where one of them cannot be read.

    >>> read_hits([{"id": "a#c0", "text": "Hello", "distance": 0.25}]).score_kind
    'distance'
    """
    if isinstance(results, Iterator) or not isinstance(results, Iterable):
        raise TypeError(f"cannot read hits from {type(results).__name__}: return a list")
    if isinstance(results, str | bytes | Mapping):
        raise TypeError(f"cannot read hits from one {type(results).__name__}: return a list")
    hits: list[Hit] = []
    kinds: set[ScoreKind] = set()
    for rank, result in enumerate(results, 1):
        hit, kind = _read(result, rank)
        hits.append(hit)
        if hit.score is not None:
            kinds.add(kind)
    return FoundHits(hits, kinds.pop() if len(kinds) == 1 else "unknown")


def get(item: Any, name: str, default: Any = None) -> Any:
    """Return an entry of a mapping, or of an object that answers like one, or an attribute."""
    if isinstance(item, Mapping):
        return item.get(name, default)
    found = getattr(item, name, None)
    if found is not None or not hasattr(item, "__getitem__"):
        return default if found is None else found
    try:
        return item[name]
    except (KeyError, TypeError, IndexError):
        return default


def first_of(item: Any, names: Iterable[str]) -> Any:
    """Return the first of several entries that is there."""
    for name in names:
        value = get(item, name)
        if value is not None:
            return value
    return None


def make_hit(
    rank: int,
    *,
    own_id: Any,
    text: Any,
    score: Any = None,
    metadata: Mapping[str, Any] | None = None,
) -> Hit:
    """Make a hit of the parts that a client returned."""
    return read_stored(
        text if isinstance(text, str) else "",
        metadata if metadata is not None else {},
        rank=rank,
        score=to_number(score),
        own_id=None if own_id is None else str(own_id),
    )


def _read(result: Any, rank: int) -> tuple[Hit, ScoreKind]:
    if isinstance(result, Hit):
        return (result if result.rank else msgspec.structs.replace(result, rank=rank)), "unknown"
    if isinstance(result, str):
        return make_hit(rank, own_id=None, text=result), "unknown"
    if isinstance(result, tuple | list):
        return _read_pair(result, rank)
    node = get(result, "node")
    if node is not None:
        hit, _ = _read(node, rank)
        return msgspec.structs.replace(hit, score=to_number(get(result, "score"))), "unknown"
    return _read_object(result, rank)


def _read_pair(pair: tuple[Any, ...] | list[Any], rank: int) -> tuple[Hit, ScoreKind]:
    if len(pair) != 2 or isinstance(pair[0], tuple | list):
        raise TypeError(
            f"result {rank} is a {type(pair).__name__} of {len(pair)}: expected a pair of a "
            "result and its score; for another shape pass to_hits="
        )
    item, score = pair
    if not isinstance(item, str) and to_number(item) is not None:
        item, score = score, item  # (score, result) is as common
    hit, _ = _read(item, rank)
    return msgspec.structs.replace(hit, score=to_number(score)), "unknown"


def _read_object(result: Any, rank: int) -> tuple[Hit, ScoreKind]:
    own_id = first_of(result, _ID_KEYS)
    text = first_of(result, TEXT_KEYS)
    own_metadata = first_of(result, _METADATA_KEYS)
    metadata = dict(own_metadata) if isinstance(own_metadata, Mapping) else {}
    if text is None:
        text = first_of(metadata, TEXT_KEYS)
    if own_id is None and text is None:
        raise TypeError(
            f"result {rank}, a {type(result).__name__}, has neither an id nor a text under a "
            "usual name: pass to_hits="
        )
    for name, key in _PLACE_KEYS.items():
        value = get(result, name)
        if value is not None and not callable(value):
            metadata.setdefault(key, value)
    score, kind = None, None
    for name, kind_of_name in _SCORE_KEYS:
        score = to_number(get(result, name))
        if score is not None:
            kind = kind_of_name
            break
    hit = make_hit(rank, own_id=own_id, text=text, score=score, metadata=metadata)
    return hit, kind or "unknown"
