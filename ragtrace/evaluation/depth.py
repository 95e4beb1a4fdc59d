"""Tell a retriever how many hits to return, whatever its framework, and put it back afterwards."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Ask = Callable[[str], Any]

_NUMBERS = ("similarity_top_k", "top_k", "k", "_similarity_top_k", "_top_k")
"""Attributes in which LlamaIndex's and LangChain's retrievers keep the number of hits."""
_INNER = ("base_retriever", "retriever", "_retriever", "_vector_retriever", "retrievers")
_INNER_LISTS = ("retrievers", "_retrievers", "steps")
_KEYWORDS = ("top_k", "k")


@contextmanager
def asking_for(retriever: Any, top_k: int) -> Iterator[Ask]:
    """Give a function that asks the retriever for `top_k` hits.

    A retriever is a callable `(query, top_k)`, an object with `search(query, top_k)` or
    `retrieve(query, top_k)`, or one of LangChain (`invoke`) or LlamaIndex (`retrieve`), whose own
    setting is changed for the while. Raises `ValueError` where it cannot be told.
    """
    for name in ("search", "retrieve", "invoke", "__call__"):
        method = retriever if name == "__call__" else getattr(retriever, name, None)
        if not callable(method):
            continue
        keyword = _keyword(method)
        if keyword is not None:
            yield _with_keyword(method, keyword, top_k)
            return
        if name in ("retrieve", "invoke"):
            changed: list[tuple[Any, str, Any]] = []
            try:
                if not _set(retriever, top_k, changed, depth=0):
                    raise ValueError(_cannot_be_told(retriever))
                yield method
            finally:
                for holder, attribute, value in reversed(changed):
                    setattr(holder, attribute, value)
            return
    raise ValueError(_cannot_be_told(retriever))


def _with_keyword(method: Callable[..., Any], keyword: str, top_k: int) -> Ask:
    if keyword:
        return lambda query: method(query, **{keyword: top_k})
    return lambda query: method(query, top_k)


def _keyword(method: Callable[..., Any]) -> str | None:
    """Return how the number of hits is passed: a keyword, "" for by position, `None` for not."""
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        return None
    for keyword in _KEYWORDS:
        if any(
            one.name == keyword and one.kind is not inspect.Parameter.POSITIONAL_ONLY
            for one in parameters
        ):
            return keyword
    positional = [
        one
        for one in parameters
        if one.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ]
    # LangChain's second parameter is its config, which is optional; a number of hits is not.
    required = [one for one in positional if one.default is inspect.Parameter.empty]
    return "" if len(required) == 2 else None


def _set(retriever: Any, top_k: int, changed: list[tuple[Any, str, Any]], *, depth: int) -> bool:
    """Set the number of hits of a retriever and of those it is made of, if any has one."""
    if depth > 5 or retriever is None:
        return False
    told = _set_own(retriever, top_k, changed)
    for name in _INNER_LISTS:
        inner = getattr(retriever, name, None)
        if isinstance(inner, Sequence) and not isinstance(inner, str) and inner:
            results = [_set(one, top_k, changed, depth=depth + 1) for one in inner]
            told = any(results) if name == "steps" else told or all(results)
    if told:
        return True
    return any(
        _set(getattr(retriever, name, None), top_k, changed, depth=depth + 1) for name in _INNER
    )


def _set_own(retriever: Any, top_k: int, changed: list[tuple[Any, str, Any]]) -> bool:
    kwargs = getattr(retriever, "search_kwargs", None)
    if isinstance(kwargs, dict):
        return _change(retriever, "search_kwargs", {**kwargs, "k": top_k}, changed)
    for name in _NUMBERS:
        value = getattr(retriever, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return _change(retriever, name, top_k, changed)
    return False


def _change(holder: Any, name: str, value: Any, changed: list[tuple[Any, str, Any]]) -> bool:
    before = getattr(holder, name)
    try:
        setattr(holder, name, value)
    except (AttributeError, TypeError, ValueError):  # frozen, or a property without a setter
        return False
    changed.append((holder, name, before))
    return bool(getattr(holder, name) == value)


def _cannot_be_told(retriever: Any) -> str:
    return (
        f"{type(retriever).__name__} cannot be told how many hits to return: pass a function "
        "(query, top_k), or a retriever with search_kwargs, k or similarity_top_k"
    )
