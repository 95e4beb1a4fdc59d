"""What can be done with hits after retrieval: join, drop, explain, trim."""

from ragtrace.postprocessing.budget import fit_budget
from ragtrace.postprocessing.heading_context import add_heading_context
from ragtrace.postprocessing.merge import merge_adjacent
from ragtrace.postprocessing.merged_hit import MergedHit
from ragtrace.postprocessing.near_duplicates import drop_near_duplicates
from ragtrace.tracing.hit import Hit

__all__ = [
    "Hit",
    "MergedHit",
    "add_heading_context",
    "drop_near_duplicates",
    "fit_budget",
    "merge_adjacent",
]
