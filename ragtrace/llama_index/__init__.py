"""Splitters, traced retrievers and postprocessors for LlamaIndex."""

from ragtrace.llama_index.handler import TraceHandler, trace_retrieval
from ragtrace.llama_index.postprocessors import (
    MergeAdjacentPostprocessor,
    NearDuplicatePostprocessor,
)
from ragtrace.llama_index.retriever import TracedRetriever
from ragtrace.llama_index.splitters import (
    DefinitionSplitter,
    HeadingPathSplitter,
    SentenceAlignedSplitter,
)

__all__ = [
    "DefinitionSplitter",
    "HeadingPathSplitter",
    "MergeAdjacentPostprocessor",
    "NearDuplicatePostprocessor",
    "SentenceAlignedSplitter",
    "TraceHandler",
    "TracedRetriever",
    "trace_retrieval",
]
