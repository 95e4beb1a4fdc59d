"""Cut documents into chunks that never cut what belongs together."""

from ragtrace.chunking.chunk import Chunk, parse_chunk_id, strip_decoration
from ragtrace.chunking.html import split_html
from ragtrace.chunking.lengths import length_function
from ragtrace.chunking.outline import Block, Outline, Parser
from ragtrace.chunking.segmenters import NltkSegmenter, PysbdSegmenter, SpacySegmenter
from ragtrace.chunking.sentences import RuleSegmenter, Segmenter
from ragtrace.chunking.split import split

__all__ = [
    "Block",
    "Chunk",
    "NltkSegmenter",
    "Outline",
    "Parser",
    "PysbdSegmenter",
    "RuleSegmenter",
    "Segmenter",
    "SpacySegmenter",
    "length_function",
    "parse_chunk_id",
    "split",
    "split_html",
    "strip_decoration",
]
