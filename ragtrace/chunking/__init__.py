"""Cut documents into chunks that never cut what belongs together."""

from ragtrace.chunking.chunk import Chunk, parse_chunk_id, strip_decoration

__all__ = ["Chunk", "parse_chunk_id", "strip_decoration"]
