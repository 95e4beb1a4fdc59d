"""Write eval sets and traces in the formats other tools read."""

import csv
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from ragtrace.evaluation.eval_set import EvalSet, GoldSpan
from ragtrace.tracing.schema import Trace

Format = Literal["json", "jsonl", "csv", "beir", "trec", "llama-index", "ragas", "langsmith"]

_COLUMNS = (
    "question_id",
    "query",
    "doc_id",
    "start",
    "end",
    "quote",
    "chunk_id",
    "grade",
    "answer",
    "must_pass",
    "alternatives",
)


def write_eval_set(
    eval_set: EvalSet,
    path: str | os.PathLike[str],
    *,
    format: Format,  # noqa: A002 - the word everybody uses for it
) -> None:
    """Write an eval set; `beir` makes a folder, everything else one file.

    `trec`, `beir` and `llama-index` hold chunk ids only, `ragas` and `langsmith` quotes only: a
    label that the format cannot hold, or its alternatives, raises `ValueError`, so that nothing is
    lost unseen. In CSV alternatives are a column of JSON.
    """
    target = Path(path)
    if format == "json":
        _write(target, msgspec.json.format(msgspec.json.encode(eval_set.questions)).decode() + "\n")
    elif format == "jsonl":
        _write(target, _lines(eval_set.questions))
    elif format == "csv":
        _write_csv(eval_set, target)
    elif format == "beir":
        (target / "qrels").mkdir(parents=True, exist_ok=True)
        rows = [{"_id": question.question_id, "text": question.query} for question in eval_set]
        _write(target / "queries.jsonl", _lines(rows))
        judgements = "".join(
            f"{question_id}\t{chunk_id}\t{grade}\n"
            for question_id, chunk_id, grade in _judgements(eval_set)
        )
        _write(target / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\n" + judgements)
    elif format == "trec":
        _write(target, qrels_text(eval_set))
    elif format == "llama-index":
        _write(target, _dumped(_llama_index(eval_set)))
    elif format in ("ragas", "langsmith"):
        _write(target, _lines(_quoted_rows(eval_set, format)))
    else:
        raise ValueError(f"unknown format {format!r}: choose from {', '.join(get_args(Format))}")


def qrels_text(eval_set: EvalSet) -> str:
    """Write the labels as TREC judgements: `question 0 chunk grade`."""
    return "".join(
        f"{_column(question_id)} 0 {_column(chunk_id)} {grade}\n"
        for question_id, chunk_id, grade in _judgements(eval_set)
    )


def run_text(traces: Iterable[Trace], *, tag: str = "ragtrace") -> str:
    """Write traces as a TREC run.

    TREC orders by score, and equal scores by id; a retriever's own order is kept by writing minus
    the rank as the score.
    """
    lines = []
    for trace in traces:
        question_id = _column(trace.question_id or trace.id)
        for chunk_id, rank in _first_ranks(trace).items():
            lines.append(f"{question_id} Q0 {_column(chunk_id)} {rank} {-rank} {tag}\n")
    return "".join(lines)


def _first_ranks(trace: Trace) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for hit in trace.hits:
        ranks.setdefault(hit.chunk_id, len(ranks) + 1)
    return ranks


def _judgements(eval_set: EvalSet) -> Iterable[tuple[str, str, int]]:
    for question in eval_set:
        for label in question.gold:
            if label.alternatives:
                raise _no_alternatives(question.question_id)
            if label.chunk_id is None:
                raise ValueError(
                    f"question {question.question_id!r} is labelled by a span; this format holds "
                    "chunk ids only: write json or csv"
                )
            yield question.question_id, label.chunk_id, label.grade


def _llama_index(eval_set: EvalSet) -> dict[str, Any]:
    relevant: dict[str, list[str]] = {question.question_id: [] for question in eval_set}
    for question_id, chunk_id, _ in _judgements(eval_set):
        relevant[question_id].append(chunk_id)
    return {
        "queries": {question.question_id: question.query for question in eval_set},
        "corpus": {},
        "relevant_docs": relevant,
        "mode": "text",
    }


def _quoted_rows(eval_set: EvalSet, target: Format) -> Iterable[dict[str, Any]]:
    for question in eval_set:
        quotes = [_quote(label, question.question_id) for label in question.gold]
        if target == "ragas":
            yield {
                "user_input": question.query,
                "reference_contexts": quotes,
                "reference": question.answer,
            }
        else:
            yield {
                "id": question.question_id,
                "inputs": {"question": question.query},
                "outputs": {"answer": question.answer, "reference_contexts": quotes},
            }


def _quote(label: GoldSpan, question_id: str) -> str:
    if label.quote is None:
        raise ValueError(
            f"question {question_id!r} has a label without its quote; this format holds quotes "
            "only: anchor the eval set in its documents first, or write json"
        )
    if any(other.quote != label.quote for other in label.alternatives):
        raise _no_alternatives(question_id)
    return label.quote


def _no_alternatives(question_id: str) -> ValueError:
    return ValueError(
        f"question {question_id!r} has a label with alternatives, which this format cannot tell "
        "from further labels: write json, jsonl or csv"
    )


def _write_csv(eval_set: EvalSet, target: Path) -> None:
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for question in eval_set:
            for label in question.gold or (GoldSpan(),):
                writer.writerow(
                    (
                        question.question_id,
                        question.query,
                        label.doc_id,
                        label.start,
                        label.end,
                        label.quote,
                        label.chunk_id,
                        label.grade if question.gold else None,
                        question.answer,
                        "true" if question.must_pass else None,
                        _dumped(label.alternatives).strip() if label.alternatives else None,
                    )
                )


def _column(text: str) -> str:
    if not text or any(character.isspace() for character in text):
        raise ValueError(f"id {text!r} has white space, which a TREC file cannot hold")
    return text


def _lines(rows: Iterable[Any]) -> str:
    return "".join(_dumped(row) for row in rows)


def _dumped(row: Any) -> str:
    return json.dumps(msgspec.to_builtins(row), ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
