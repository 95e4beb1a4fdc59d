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
from ragtrace.llama_index.validation import ValidateChunks

__all__ = [
    "DefinitionSplitter",
    "HeadingPathSplitter",
    "MergeAdjacentPostprocessor",
    "NearDuplicatePostprocessor",
    "SentenceAlignedSplitter",
    "TraceHandler",
    "TracedRetriever",
    "ValidateChunks",
    "trace_retrieval",
]
