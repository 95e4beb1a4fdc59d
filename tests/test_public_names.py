"""What the packages promise: names that stay, and a word about each."""

import importlib
import inspect

import pytest

PROMISED = {
    "ragtrace.chunking": ["Chunk", "parse_chunk_id", "split"],
    "ragtrace.boundary": ["BoundaryReport", "validate"],
    "ragtrace.postprocessing": ["Hit", "MergedHit", "merge_adjacent"],
    "ragtrace.tracing": ["TraceReader", "TraceWriter", "TracedRetriever", "read_traces"],
    "ragtrace.evaluation": [
        "Analysis",
        "Comparison",
        "EvalSet",
        "RunSummary",
        "analyze",
        "compare",
    ],
    "ragtrace.langchain": [
        "DefinitionSplitter",
        "HeadingPathSplitter",
        "MergeAdjacentCompressor",
        "MergingRetriever",
        "NearDuplicateCompressor",
        "SentenceAlignedSplitter",
        "TraceCallbackHandler",
        "TracedRetriever",
        "ValidateChunks",
        "trace_retrieval",
    ],
    "ragtrace.llama_index": [
        "DefinitionSplitter",
        "HeadingPathSplitter",
        "MergeAdjacentPostprocessor",
        "NearDuplicatePostprocessor",
        "SentenceAlignedSplitter",
        "TraceHandler",
        "TracedRetriever",
        "ValidateChunks",
        "trace_retrieval",
    ],
}
PACKAGES = [*PROMISED, "ragtrace.index", "ragtrace.demo"]


@pytest.mark.parametrize("name", PROMISED)
def test_promised_names_are_there(name: str) -> None:
    package = importlib.import_module(name)
    missing = [one for one in PROMISED[name] if one not in package.__all__]
    assert not missing


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_exact(name: str) -> None:
    package = importlib.import_module(name)
    assert len(set(package.__all__)) == len(package.__all__)
    assert all(hasattr(package, one) for one in package.__all__)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_says_what_it_is(name: str) -> None:
    package = importlib.import_module(name)
    silent = [
        one
        for one in package.__all__
        if inspect.isroutine(getattr(package, one)) or inspect.isclass(getattr(package, one))
        if not getattr(package, one).__doc__
    ]
    assert not silent
