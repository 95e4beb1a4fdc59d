"""Run the same questions over two indexes of the same documents, and compare."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import msgspec

from ragtrace.chunking import Chunk
from ragtrace.chunking.lengths import length_function
from ragtrace.demo.corpus import load_documents, load_questions
from ragtrace.evaluation import (
    Analysis,
    Comparison,
    EvalSet,
    WhatIf,
    analyze,
    compare,
    run_eval,
    what_if,
)
from ragtrace.index import write_manifest

FRAMEWORKS = {"langchain": "ragtrace.langchain.demo", "llama-index": "ragtrace.llama_index.demo"}
CHUNK_SIZE = 200
MOST = 3
"""Telling questions to show."""

TOP_K = 20
"""Hits traced per question: the first five count, the rest show what ranked just outside."""


class IndexReport(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one index: its size, what its traces say, and which repairs would win what."""

    splitter: str
    chunks: int
    tokens: int
    trace_path: str
    analysis: Analysis
    repairs: WhatIf


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Hold one question that the two indexes answer differently, and the chunks that say why."""

    query: str
    verdict_before: str
    verdict_after: str
    gold: str
    chunk_before: Chunk | None
    chunk_after: Chunk | None


class DemoReport(msgspec.Struct, frozen=True, kw_only=True):
    """Hold the two indexes, the framework's own splitter first, and the most telling questions."""

    framework: str
    documents: int
    characters: int
    questions: int
    stale: int
    before: IndexReport
    after: IndexReport
    comparison: Comparison
    changes: tuple[Change, ...]


def run_demo(
    folder: Path,
    *,
    framework: str = "langchain",
    chunk_size: int = CHUNK_SIZE,
    on_step: Callable[[str], None] = lambda step: None,
) -> DemoReport:
    """Chunk, index, ask and compare; traces and manifests stay in `folder`.

    Raises `ValueError` for a framework there is no adapter for, `ImportError` for one that is not
    installed.
    """
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework {framework!r}: expected {' or '.join(FRAMEWORKS)}")
    try:
        side = importlib.import_module(FRAMEWORKS[framework])
    except ImportError as error:
        raise ImportError(f"{error}; pip install 'ragtrace-kit[demo]'") from error
    documents, questions = load_documents(), load_questions()
    reports = []
    chunks_of = []
    for name, splitter in side.make_splitters(chunk_size).items():
        on_step(name)
        chunks = side.split_documents(splitter, documents)
        chunks_of.append(chunks)
        reports.append(_report(side, name, chunks, documents, questions, folder))
    before, after = reports
    return DemoReport(
        framework=framework,
        documents=len(documents),
        characters=sum(map(len, documents.values())),
        questions=len(questions),
        stale=len(before.analysis.stale),
        before=before,
        after=after,
        comparison=compare(before.analysis, after.analysis),
        changes=tuple(_changes(before, after, chunks_of, documents)),
    )


def _report(
    side: ModuleType,
    name: str,
    chunks: list[Chunk],
    documents: Mapping[str, str],
    questions: EvalSet,
    folder: Path,
) -> IndexReport:
    trace_path = folder / f"{name}.traces.jsonl"
    write_manifest(chunks, folder / f"{name}.chunks.jsonl", documents=documents)
    retriever = side.make_retriever(chunks, str(trace_path))
    run_eval(retriever, questions, top_k=TOP_K, trace_path=trace_path, run=name)
    analysis = analyze(trace_path, questions, chunks=chunks, documents=documents)
    repairs = what_if(trace_path, questions, chunks=chunks, documents=documents)
    count = length_function("cl100k_base")
    return IndexReport(
        splitter=name,
        chunks=len(chunks),
        tokens=sum(count(chunk.content) for chunk in chunks),
        trace_path=str(trace_path),
        analysis=analysis,
        repairs=repairs,
    )


def _changes(
    before: IndexReport,
    after: IndexReport,
    chunks_of: list[list[Chunk]],
    documents: Mapping[str, str],
) -> list[Change]:
    """Choose the questions that only the second index answers, those that were cut first."""
    won = []
    for question in before.analysis.questions:
        other = after.analysis.question(question.question_id)
        for first, second in zip(question.spans, other.spans, strict=True):
            if first.finding.verdict != "whole" and second.finding.verdict == "whole":
                won.append((not first.finding.cut, question.query, first, second))
    won.sort(key=lambda one: one[0])
    changes = []
    for _, query, first, second in won[:MOST]:
        label = second.label
        changes.append(
            Change(
                query=query,
                verdict_before=first.finding.verdict,
                verdict_after=second.finding.verdict,
                gold=documents[label.doc_id or ""][label.start : label.end],
                chunk_before=_holding(label.doc_id, label.start, chunks_of[0]),
                chunk_after=_holding(label.doc_id, label.start, chunks_of[1]),
            )
        )
    return changes


def _holding(doc_id: str | None, start: int | None, chunks: list[Chunk]) -> Chunk | None:
    return next(
        (
            c
            for c in chunks
            if start is not None and c.doc_id == doc_id and c.start <= start < c.end
        ),
        None,
    )
