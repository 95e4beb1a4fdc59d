"""Read TREC judgements and runs, and BEIR folders, which are made of them."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragtrace.evaluation.eval_set import (
    EvalSet,
    GoldSpan,
    Question,
    collect_questions,
    read_item,
)
from ragtrace.evaluation.text_files import read_text
from ragtrace.tracing.schema import Trace, TraceHit


def read_beir(folder: Path) -> Iterator[tuple[Question, str]]:
    """Read a BEIR folder; of several files of judgements the test split's."""
    queries_file = folder / "queries.jsonl"
    if not queries_file.exists():
        raise ValueError(f"{folder}: a BEIR folder needs queries.jsonl and qrels/*.tsv")
    files = sorted((folder / "qrels").glob("*.tsv")) or sorted(folder.glob("*.tsv"))
    if not files:
        raise ValueError(f"{folder}: no qrels/*.tsv beside queries.jsonl")
    chosen = next((file for file in files if file.stem == "test"), None)
    labels: dict[str, list[GoldSpan]] = defaultdict(list)
    for file in [chosen] if chosen else files:
        for question_id, label in read_qrels(str(file)):
            labels[question_id].append(label)
    for number, line in enumerate(read_text(str(queries_file)).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{queries_file}, line {number}"
        try:
            row = json.loads(line)
            question_id, query = str(row["_id"]), row["text"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(
                f"{place}: expected an object with '_id' and 'text' ({error})"
            ) from None
        if question_id in labels:
            yield read_item(
                {"question_id": question_id, "query": query, "gold": labels[question_id]}, place
            )


def read_qrels(path: str | os.PathLike[str]) -> Iterator[tuple[str, GoldSpan]]:
    """Read judgements as (question id, label): TREC's four columns, or BEIR's three.

    Judgements of grade 0 or less say "not relevant" and are left out.
    """
    name = os.fspath(path)
    for number, line in enumerate(read_text(name).splitlines(), 1):
        fields = line.split("\t") if "\t" in line else line.split()
        if not fields or (number == 1 and not fields[-1].lstrip("-").isdecimal()):
            continue  # BEIR's header
        try:
            question_id, chunk_id, grade = fields[0], fields[-2], int(fields[-1])
            if len(fields) not in (3, 4):
                raise ValueError
        except (ValueError, IndexError):
            raise ValueError(
                f"{name}, line {number}: expected 'question 0 chunk grade', got {line[:60]!r}"
            ) from None
        if grade > 0:
            yield question_id, GoldSpan(chunk_id=chunk_id, grade=grade)


def load_qrels(
    path: str | os.PathLike[str], queries: str | os.PathLike[str] | Mapping[str, str]
) -> EvalSet:
    """Read TREC judgements with their queries: a mapping, or a file of `id<tab>text` lines."""
    if not isinstance(queries, Mapping):
        lines = [line.split("\t", 1) for line in read_text(os.fspath(queries)).splitlines() if line]
        if any(len(parts) != 2 for parts in lines):
            raise ValueError(f"{os.fspath(queries)}: expected 'id<tab>text' in every line")
        queries = dict(lines)
    labels: dict[str, list[GoldSpan]] = defaultdict(list)
    for question_id, label in read_qrels(path):
        labels[question_id].append(label)
    unknown = sorted(set(labels) - set(queries))
    if unknown:
        raise ValueError(f"{os.fspath(path)}: no query has the id {unknown[0]!r}")
    return collect_questions(
        (Question(question_id=key, query=queries[key], gold=tuple(gold)), os.fspath(path))
        for key, gold in labels.items()
    )


def read_run(path: str | os.PathLike[str], queries: dict[str, str]) -> list[Trace]:
    """Read a TREC run as traces; `queries` gives the text of each question id."""
    name = os.fspath(path)
    found: dict[str, list[tuple[float, str]]] = {}
    for number, line in enumerate(read_text(name).splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            question_id, _, chunk_id, _, score, _ = fields
            found.setdefault(question_id, []).append((float(score), chunk_id))
        except ValueError:
            raise ValueError(
                f"{name}, line {number}: expected 'question Q0 chunk rank score tag', "
                f"got {line[:60]!r}"
            ) from None
    traces: list[Trace] = []
    for question_id, scored in found.items():
        if question_id not in queries:
            raise ValueError(f"{name}: no query has the id {question_id!r}")
        hits = tuple(
            TraceHit(rank=rank, chunk_id=chunk_id, doc_id=None, score=score, snippet="")
            for rank, (score, chunk_id) in enumerate(sorted(scored, reverse=True), 1)
        )
        traces.append(
            Trace(
                id=f"{len(traces):032x}",
                ts=0.0,
                query=queries[question_id],
                top_k=None,
                hits=hits,
                latency_ms=0.0,
                question_id=question_id,
            )
        )
    return traces
