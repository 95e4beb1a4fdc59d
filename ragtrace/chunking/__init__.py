"""Cut documents into chunks that never cut what belongs together."""

from ragtrace.chunking.chunk import Chunk, parse_chunk_id, strip_decoration
from ragtrace.chunking.segmenters import NltkSegmenter, PysbdSegmenter, SpacySegmenter
from ragtrace.chunking.sentences import RuleSegmenter, Segmenter

__all__ = [
    "Chunk",
    "NltkSegmenter",
    "PysbdSegmenter",
    "RuleSegmenter",
    "Segmenter",
    "SpacySegmenter",
    "parse_chunk_id",
    "strip_decoration",
]
