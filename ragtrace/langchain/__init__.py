"""Splitters, traced retrievers and compressors for LangChain."""

from ragtrace.langchain.handler import TraceCallbackHandler, trace_retrieval
from ragtrace.langchain.postprocessors import (
    MergeAdjacentCompressor,
    MergingRetriever,
    NearDuplicateCompressor,
)
from ragtrace.langchain.retriever import TracedRetriever
from ragtrace.langchain.splitters import (
    DefinitionSplitter,
    HeadingPathSplitter,
    SentenceAlignedSplitter,
)
from ragtrace.langchain.validation import ValidateChunks

__all__ = [
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
]
