"""What can be done with hits after retrieval."""

from ragtrace.postprocessing.merge import merge_adjacent
from ragtrace.postprocessing.merged_hit import MergedHit
from ragtrace.tracing.hit import Hit

__all__ = ["Hit", "MergedHit", "merge_adjacent"]
