"""Tell old versions from new ones, by what hits, ids and texts say."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from ragtrace.evaluation.hits import Retrieved

SAME_PASSAGE = 0.5
"""Share of a passage's runs of three words that another text must hold to be a version of it."""

_VERSION = re.compile(
    r"[-_. @]?\(?(?:v(?:ersion)?[-_. ]?)?\d+(?:[-._]\d+)*\)?"
    r"|[-_. ](?:old|new|latest|copy|final|draft|backup|bak|archived?|deprecated)(?![a-z])",
    re.IGNORECASE,
)
_OLD = re.compile(
    r"[-_. ](?:old|copy|draft|backup|bak|archived?|deprecated)(?![a-z])", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+|\D+")

VersionKey = tuple[tuple[int, str], ...]


def version_key(version: str) -> VersionKey:
    """Order versions as people write them: dates, numbers and dotted numbers.

    >>> version_key("v1.10") > version_key("v1.9")
    True
    """
    return tuple(
        (int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.findall(version)
    )


def document_stem(doc_id: str) -> str:
    """Return a document id without its version.

    >>> document_stem("policy-2023.md") == document_stem("policy-2024.md")
    True
    """
    return _VERSION.sub("", doc_id)


def is_older(doc_id: str, other: str) -> bool:
    """Tell whether two ids name versions of one document and the first is the older.

    >>> is_older("policy-2023.md", "policy-2024.md"), is_older("a.md", "policy-2024.md")
    (True, False)
    """
    if doc_id == other or document_stem(doc_id) != document_stem(other):
        return False
    old, other_old = bool(_OLD.search(doc_id)), bool(_OLD.search(other))
    return old if old != other_old else version_key(doc_id) < version_key(other)


def says_the_same(passage: str, text: str) -> bool:
    """Tell whether a text holds a version of a passage: half of its runs of three words."""
    wanted = _runs(passage)
    return bool(wanted) and len(wanted & _runs(text)) >= SAME_PASSAGE * len(wanted)


def mark_old_versions(
    hits: Sequence[Retrieved], newest: dict[str, str], gold: Iterable[tuple[str, str]]
) -> list[Retrieved]:
    """Mark hits of an old version as outdated, so that their spans count for nothing.

    `newest` gives the newest version seen of each document, `gold` the documents and passages of
    the labels: another document counts as an old version of one of these only if its id says so
    and it holds a version of the passage.
    """
    passages = list(gold)
    return [_mark(hit, newest, passages) for hit in hits]


def _mark(hit: Retrieved, newest: dict[str, str], gold: Sequence[tuple[str, str]]) -> Retrieved:
    if hit.outdated is not None or hit.doc_id is None:
        return hit
    current = newest.get(hit.doc_id)
    if (
        hit.doc_version is not None
        and current is not None
        and version_key(hit.doc_version) < version_key(current)
    ):
        reason = f"version {hit.doc_version} of {hit.doc_id!r}, {current} is in the index too"
        return msgspec.structs.replace(hit, span=None, outdated=reason)
    for doc_id, passage in gold:
        if is_older(hit.doc_id, doc_id) and says_the_same(passage, hit.text):
            reason = f"{hit.doc_id!r} is an older version of {doc_id!r}"
            return msgspec.structs.replace(hit, outdated=reason)
    return hit


def newest_versions(hits: Iterable[Retrieved]) -> dict[str, str]:
    """Return the newest version seen of each document."""
    newest: dict[str, str] = {}
    for hit in hits:
        if hit.doc_id is None or hit.doc_version is None:
            continue
        seen = newest.get(hit.doc_id)
        if seen is None or version_key(seen) < version_key(hit.doc_version):
            newest[hit.doc_id] = hit.doc_version
    return newest


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    if len(words) < 3:
        return frozenset({tuple(words)} if words else ())
    return frozenset(zip(words, words[1:], words[2:], strict=False))
