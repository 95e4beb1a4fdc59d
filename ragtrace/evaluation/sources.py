"""Gather what is known beside the traces, and what of it can be trusted."""

from collections.abc import Iterable, Mapping

from ragtrace.chunking import Chunk
from ragtrace.evaluation.anchors import as_lookup
from ragtrace.evaluation.eval_set import EvalSet
from ragtrace.evaluation.hits import Retrieved, Sources, differs, resolve
from ragtrace.evaluation.lookup import ChunkLookup
from ragtrace.evaluation.versions import mark_old_versions, newest_versions
from ragtrace.tracing.schema import Trace

_MOST = 0.5


def find_sources(
    traces: Iterable[Trace],
    chunks: Iterable[Chunk] | ChunkLookup | None,
    documents: Mapping[str, str] | None,
) -> tuple[Sources, list[str]]:
    """Gather what is known beside the traces, and say what of it cannot be trusted."""
    lookup = as_lookup(chunks)
    if lookup is None:
        return Sources(documents=documents), []
    notes: list[str] = []
    stale: dict[str, Chunk] = {}
    if documents is not None:
        stale = {chunk.chunk_id: chunk for chunk in lookup if _is_stale(chunk, documents)}
        if len(stale) > _MOST * len(lookup):
            notes.append(
                f"{len(stale)} of {len(lookup)} chunks are not in the documents: these are not the "
                "texts the chunks were cut from, so old versions were not looked for"
            )
            stale = {}
        elif stale:
            lookup = ChunkLookup(chunk for chunk in lookup if chunk.chunk_id not in stale)
    hits = [hit for trace in traces for hit in trace.hits if hit.snippet]
    different = sum(differs(hit, lookup) for hit in hits)
    trusted = different <= _MOST * len(hits)
    if not trusted:
        notes.append(
            f"{different} of {len(hits)} snippets differ from the manifest (redacted, or it is "
            "that of another index): chunks were found by their ids alone"
        )
    sources = Sources(lookup=lookup, documents=documents, stale=stale, trusts_snippets=trusted)
    return sources, notes


def resolve_all(
    traces: Mapping[str, Trace], eval_set: EvalSet, sources: Sources
) -> dict[str, list[Retrieved]]:
    """Resolve the hits of every question's trace and mark those of old versions."""
    resolved = {name: resolve(trace, sources) for name, trace in traces.items()}
    newest = newest_versions(hit for hits in resolved.values() for hit in hits)
    gold = {
        question.question_id: [
            (label.doc_id, label.quote) for label in question.gold if label.doc_id and label.quote
        ]
        for question in eval_set
    }
    return {
        name: mark_old_versions(hits, newest, gold.get(name, ())) for name, hits in resolved.items()
    }


def _is_stale(chunk: Chunk, documents: Mapping[str, str]) -> bool:
    text = documents.get(chunk.doc_id)
    if text is None:
        return True
    if text[chunk.start : chunk.end] == chunk.text:
        return False
    return " ".join(chunk.text.split()) not in " ".join(text.split())
