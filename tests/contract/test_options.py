"""What one framework's classes can be told, the other's can be told by the same name."""

import inspect
from typing import Any

import pytest

import ragtrace.langchain as langchain
import ragtrace.llama_index as llama_index

# Of each pair, what only the one framework's has: words and habits of that framework.
SPLITTER = {"length_function", "keep_separator", "add_start_index", "strip_whitespace"}
PARSER = {"length", "include_metadata", "include_prev_next_rel", "callback_manager", "id_func"}
POSTPROCESSOR = {"trace_path", "callback_manager"}
PAIRS = (
    ("SentenceAlignedSplitter", SPLITTER, "SentenceAlignedSplitter", PARSER),
    ("HeadingPathSplitter", SPLITTER, "HeadingPathSplitter", PARSER),
    # LangChain's takes these two as well, among `options`; they say nothing about code.
    (
        "DefinitionSplitter",
        SPLITTER,
        "DefinitionSplitter",
        {*PARSER, "overlap_sentences", "segmenter"},
    ),
    ("TracedRetriever", {"tracer"}, "TracedRetriever", set()),
    ("TraceCallbackHandler", set(), "TraceHandler", set()),
    ("trace_retrieval", set(), "trace_retrieval", set()),
    (
        "MergeAdjacentCompressor",
        {"tracer"},
        "MergeAdjacentPostprocessor",
        {*POSTPROCESSOR, "docstore"},
    ),
    ("NearDuplicateCompressor", {"tracer"}, "NearDuplicatePostprocessor", POSTPROCESSOR),
    ("ValidateChunks", set(), "ValidateChunks", set()),
)


def options_of(thing: Any) -> set[str]:
    """Return the names that a call takes, with those that `**options` hand on to a base class."""
    if (
        inspect.isclass(thing)
        and "__init__" not in thing.__dict__
        and hasattr(thing, "model_fields")
    ):
        return set(thing.model_fields)
    names: set[str] = set()
    for one in thing.__mro__ if inspect.isclass(thing) else (thing,):
        call = one.__dict__.get("__init__") if inspect.isclass(one) else one
        if call is None or not one.__module__.startswith("ragtrace"):
            continue
        parameters = inspect.signature(call).parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        names |= {parameter.name for parameter in parameters if parameter.kind in kinds}
    return names - {"self"}


@pytest.mark.parametrize(("first", "only_first", "second", "only_second"), PAIRS)
def test_options_have_the_same_names(
    first: str, only_first: set[str], second: str, only_second: set[str]
) -> None:
    ours = options_of(getattr(langchain, first))
    theirs = options_of(getattr(llama_index, second))
    assert ours - theirs == only_first
    assert theirs - ours == only_second
    assert ours & theirs
