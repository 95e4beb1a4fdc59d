"""Ready-made `redact` hooks: what a trace should not keep is taken out before it is encoded."""

from hashlib import blake2b

import msgspec

from ragtrace.tracing.schema import Trace


def hash_query(trace: Trace) -> Trace:
    """Replace the query by its hash: equal queries stay equal, what was asked is not kept.

    A hash does not hide a query that can be guessed.
    """
    digest = blake2b(trace.query.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return msgspec.structs.replace(trace, query=f"blake2b:{digest}")


def drop_snippets(trace: Trace) -> Trace:
    """Empty the snippets and leave out the texts and metadata: ids, scores and offsets remain."""
    hits = tuple(
        msgspec.structs.replace(hit, snippet="", text=None, metadata=None) for hit in trace.hits
    )
    return msgspec.structs.replace(trace, hits=hits)
