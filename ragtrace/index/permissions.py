"""Who may read what: labels in the metadata of every chunk, and the filter that enforces them.

A label becomes a key of its own (`allow_staff`: 1), which every store can filter by, also those
that keep no lists or no booleans. A chunk without labels is shown to nobody once a filter is on:
label what everyone may read with `everyone`.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, Literal

from ragtrace.index.manifest import Manifest

EVERYONE = "everyone"

StoreKind = Literal["chroma", "pgvector", "qdrant", "lancedb", "callable"]


def permission_key(label: str) -> str:
    """Return the metadata key of a label; one with other than word characters is hashed.

    >>> permission_key("staff"), permission_key("team a")
    ('allow_staff', 'allow_label_4a972146')
    """
    if label.isascii() and label.isidentifier():
        return f"allow_{label}"
    return (
        f"allow_label_{blake2b(label.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}"
    )


def permission_metadata(labels: Iterable[str]) -> dict[str, int]:
    """Return what a chunk's metadata says of its labels.

    >>> permission_metadata(["staff"])
    {'allow_staff': 1}
    """
    return {permission_key(label): 1 for label in labels}


def permission_keys(groups: Iterable[str]) -> list[str]:
    """Return the keys any of which opens a chunk to a member of these groups.

    Raises `ValueError` for a string, whose letters would be taken for groups.
    """
    if isinstance(groups, str):
        raise ValueError(f"groups must be a list of names, not the string {groups!r}")
    return [permission_key(label) for label in sorted({*groups, EVERYONE})]


def allows(metadata: Mapping[str, Any], groups: Iterable[str]) -> bool:
    """Say whether a chunk with this metadata may be shown to a member of these groups.

    >>> allows({"allow_staff": 1}, ["staff"]), allows({}, ["staff"])
    (True, False)
    """
    return opens(metadata, permission_keys(groups))


def opens(metadata: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """Say whether one of the keys is set."""
    return any(metadata.get(key) == 1 for key in keys)


def permission_filter(groups: Iterable[str] | None, store: StoreKind) -> Any:
    """Return the filter that lets a store return only what these groups may read.

    `chroma` and `pgvector` give the mapping that `filter=` of LangChain's classes takes, `qdrant` a
    `models.Filter` over LangChain's payload, `lancedb` an SQL condition, `callable` a function of a
    metadata mapping or of anything with `.metadata` (FAISS, in-memory stores).

    Raises `ValueError` without groups: a search that nobody is named for is not to run unfiltered.
    """
    if groups is None:
        raise ValueError("no groups given: pass the user's groups, [] for a stranger")
    keys = permission_keys(groups)
    return _FILTERS[store](keys)


def require_filter(manifest: Manifest, search_filter: Any) -> None:
    """Raise `ValueError` where an index has permission labels and a search has no filter."""
    if search_filter is None and any(chunk.permissions for chunk in manifest.chunks):
        raise ValueError(
            "the index holds permission labels and the search has no filter: "
            "build one with permission_filter(groups, store)"
        )


def _any_equals(keys: list[str]) -> dict[str, Any]:
    conditions = [{key: {"$eq": 1}} for key in keys]
    return conditions[0] if len(conditions) == 1 else {"$or": conditions}


def _qdrant(keys: list[str]) -> Any:
    from qdrant_client import models

    return models.Filter(
        should=[
            models.FieldCondition(key=f"metadata.{key}", match=models.MatchValue(value=1))
            for key in keys
        ]
    )


def _sql(keys: list[str]) -> str:
    return " OR ".join(f"metadata.{key} = 1" for key in keys)


def _callable(keys: list[str]) -> Callable[[Any], bool]:
    def may_read(item: Any) -> bool:
        return opens(getattr(item, "metadata", item), keys)

    return may_read


_FILTERS: Mapping[StoreKind, Callable[[list[str]], Any]] = {
    "chroma": _any_equals,
    "pgvector": _any_equals,
    "qdrant": _qdrant,
    "lancedb": _sql,
    "callable": _callable,
}
