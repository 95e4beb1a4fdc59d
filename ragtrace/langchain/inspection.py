"""What can be told about a runnable from outside: which one is meant, its name, its k."""

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypedDict

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from ragtrace.langchain.outer import OuterRetriever

COUNT_NAMES = ("k", "top_k", "similarity_top_k")
SESSION_KEYS = ("session_id", "conversation_id", "thread_id")
"""What LangSmith, and LangGraph's memory, call the conversation that a call belongs to."""


def choose(
    runnable: Runnable[Any, Any], config: RunnableConfig | None
) -> tuple[Runnable[Any, Any], RunnableConfig | None]:
    """Return the runnable that a configurable one stands for under `config`.

    A configuration that names none is left to fail where the user's call does.
    """
    if not isinstance(runnable, DynamicRunnable):
        return runnable, config
    try:
        return runnable.prepare(config)
    except Exception:
        return runnable, config


def emits_events(runnable: Runnable[Any, Any]) -> bool:
    """Say whether a runnable reports its own retriever run, so that nobody else need do it."""
    if isinstance(runnable, RunnableBindingBase):
        return emits_events(runnable.bound)
    if isinstance(runnable, DynamicRunnable):
        return emits_events(runnable.default)
    return isinstance(runnable, BaseRetriever)


def name_of(runnable: Runnable[Any, Any]) -> str | None:
    """Return the name under which LangChain reports a runnable."""
    try:
        return runnable.get_name()
    except Exception:
        return None


def top_k_of(runnable: Runnable[Any, Any], kwargs: Mapping[str, Any]) -> int | None:
    """Return how many documents are asked for, or `None` where that cannot be told."""
    try:
        return _top_k(runnable, kwargs)
    except Exception:
        return None


def _top_k(runnable: Any, kwargs: Mapping[str, Any]) -> int | None:
    if isinstance(runnable, RunnableBindingBase):
        return _top_k(runnable.bound, {**runnable.kwargs, **kwargs})
    if isinstance(runnable, DynamicRunnable):
        return _top_k(runnable.default, kwargs)
    if isinstance(runnable, OuterRetriever):
        return _top_k(runnable.base_retriever, kwargs)
    # LangChain hands keywords on only to retrievers whose search takes some.
    settings = dict(kwargs) if getattr(runnable, "_expects_other_args", True) else {}
    if isinstance(runnable, VectorStoreRetriever):
        default = _default_k(type(runnable.vectorstore))
        settings = {"k": default, **runnable.search_kwargs, **settings}
    else:
        settings = {**getattr(runnable, "__dict__", {}), **settings}
    for name in COUNT_NAMES:
        count = settings.get(name)
        if isinstance(count, int) and not isinstance(count, bool):
            return int(count)
    return None


@lru_cache(maxsize=64)
def _default_k(store: type[VectorStore]) -> int | None:
    parameter = inspect.signature(store.similarity_search).parameters.get("k")
    return parameter.default if parameter and isinstance(parameter.default, int) else None


class Labels(TypedDict):
    """Hold what a trace keeps of a call's metadata."""

    question_id: str | None
    session_id: str | None


def labels_of(metadata: Mapping[str, Any]) -> Labels:
    """Return what a trace keeps of a call's metadata: which question it asks, in which session."""
    if not metadata:
        return {"question_id": None, "session_id": None}
    session = (metadata.get(key) for key in SESSION_KEYS)
    question = metadata.get("question_id")
    return {
        "question_id": None if question is None else str(question),
        "session_id": next((str(value) for value in session if value is not None), None),
    }
