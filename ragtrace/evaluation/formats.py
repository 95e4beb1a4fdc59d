"""Read eval sets: our own JSON and JSONL, and the formats other tools write."""

import csv
import glob
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragtrace.evaluation.eval_set import (
    EvalSet,
    Question,
    collect_questions,
    read_item,
)
from ragtrace.evaluation.text_files import read_text
from ragtrace.evaluation.trec import read_beir

Entries = Iterator[tuple[Question, str]]


def load_eval_set(path: str | os.PathLike[str]) -> EvalSet:
    """Read an eval set; the format is told by what the file holds.

    Read are: a JSON list or JSONL of our questions, rows of LangSmith or Ragas, a LlamaIndex QA
    dataset (JSON), CSV, Chroma's `questions.csv`, a BEIR folder. `.gz`, a glob and `-` (standard
    input) work too. Raises `ValueError` naming the file, the line or item, and the field.
    """
    name = os.fspath(path)
    if name != "-" and Path(name).is_dir():
        return collect_questions(read_beir(Path(name)))
    if name != "-" and not Path(name).exists() and glob.has_magic(name):
        files = sorted(glob.glob(name))  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not files:
            raise ValueError(f"{name}: no file matches")
        return collect_questions(entry for file in files for entry in _read_file(file))
    return collect_questions(_read_file(name))


def _read_file(name: str) -> Entries:
    text = read_text(name)
    if not text.strip():
        raise ValueError(f"{name}: the file is empty; expected a JSON list of questions")
    if name.removesuffix(".gz").endswith((".csv", ".tsv")):
        return _read_csv(text, name, "\t" if ".tsv" in name[-7:] else ",")
    return _read_json(text, name)


def _read_json(text: str, name: str) -> Entries:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" or text.lstrip()[0] == "{":
            return _read_lines(text, name)
        raise ValueError(
            f"{name}, line {error.lineno}: not JSON ({error.msg}, column {error.colno})"
        ) from None
    if isinstance(value, list):
        return (read_row(row, f"{name}, item {number}") for number, row in enumerate(value, 1))
    if isinstance(value, Mapping):
        if "queries" in value and "relevant_docs" in value:
            return _read_llama_index(value, name)
        if isinstance(value.get("questions"), list):
            rows = value["questions"]
            return (read_row(row, f"{name}, item {number}") for number, row in enumerate(rows, 1))
        return iter([read_row(value, f"{name}, line 1")])
    raise ValueError(f"{name}: expected a JSON list of questions, got {type(value).__name__}")


def _read_lines(text: str, name: str) -> Entries:
    # Not splitlines: U+2028 and its kin are allowed inside JSON strings.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{place}: not JSON ({error.msg}, column {error.colno})") from None
        yield read_row(row, place)


def read_row(row: Any, place: str) -> tuple[Question, str]:
    """Read a row of ours, of Ragas (`user_input`), or of LangSmith (`inputs`, `outputs`)."""
    if not isinstance(row, Mapping) or "query" in row:
        return read_item(row, place)
    if "user_input" in row:
        return read_item(
            _dropped_none(
                query=row["user_input"],
                answer=row.get("reference"),
                gold=[{"quote": text} for text in row.get("reference_contexts") or ()],
            ),
            place,
        )
    if isinstance(row.get("inputs"), Mapping):
        outputs = row.get("outputs") or {}
        inputs = row["inputs"]
        query = next(
            (inputs[key] for key in ("query", "question", "input") if key in inputs),
            next((value for value in inputs.values() if isinstance(value, str)), None),
        )
        contexts = outputs.get("reference_contexts") or outputs.get("contexts") or ()
        return read_item(
            _dropped_none(
                query=query,
                question_id=row.get("id"),
                answer=outputs.get("answer", outputs.get("output")),
                gold=[{"quote": text} for text in contexts],
                expected_chunk_ids=outputs.get("expected_chunk_ids"),
            ),
            place,
        )
    if "question" in row:
        return read_item({"query": row["question"], **row}, place)
    return read_item(row, place)


def _dropped_none(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _read_llama_index(value: Mapping[str, Any], name: str) -> Entries:
    queries, relevant = value["queries"], value["relevant_docs"]
    if not isinstance(queries, Mapping) or not isinstance(relevant, Mapping):
        raise ValueError(f"{name}: 'queries' and 'relevant_docs' must be objects")
    for question_id, query in queries.items():
        item = {
            "question_id": question_id,
            "query": query,
            "expected_chunk_ids": relevant.get(question_id, []),
        }
        yield read_item(item, f"{name}, query {question_id!r}")


def _read_csv(text: str, name: str, delimiter: str) -> Entries:
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns = rows.fieldnames or []
    if "query" not in columns and "question" not in columns:
        raise ValueError(
            f"{name}, line 1: needs a column 'query' or 'question', has {', '.join(columns)}"
        )
    items: dict[str, tuple[dict[str, Any], str]] = {}
    for row in rows:
        place = f"{name}, line {rows.line_num}"
        if None in row:
            raise ValueError(f"{place}: more values than the header has columns")
        item = _chroma_item(row, place) if "references" in columns else _csv_item(row, place)
        # A table has a row per label: rows that give one question the same id belong together.
        key = f"{item['question_id']}\0{item['query']}" if "question_id" in item else place
        first, _ = items.setdefault(key, (item, place))
        if first is not item:
            for field in ("gold", "expected_chunk_ids"):
                if field in item:
                    first[field] = first.get(field, []) + item[field]
    return (read_item(item, place) for item, place in items.values())


def _chroma_item(row: Mapping[str, str], place: str) -> dict[str, Any]:
    try:
        references = json.loads(row["references"])
        gold = [
            {
                "doc_id": row.get("corpus_id"),
                "start": reference["start_index"],
                "end": reference["end_index"],
                "quote": reference["content"],
            }
            for reference in references
        ]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(
            f"{place}, field 'references': expected a JSON list of content, start_index and "
            f"end_index ({type(error).__name__}: {error})"
        ) from None
    return {"query": row["question"], "gold": gold}


def _csv_item(row: Mapping[str, str], place: str) -> dict[str, Any]:
    item: dict[str, Any] = {"query": row.get("query") or row.get("question")}
    for field in ("question_id", "answer"):
        if row.get(field):
            item[field] = row[field]
    if row.get("must_pass"):
        item["must_pass"] = row["must_pass"].strip().lower() in {"1", "true", "yes"}
    if (row.get("expected_chunk_ids") or "").strip():
        item["expected_chunk_ids"] = _ids_in(row, place)
    label: dict[str, Any] = {
        field: row[field] for field in ("doc_id", "quote", "chunk_id") if row.get(field)
    }
    for field in ("start", "end", "grade"):
        if row.get(field):
            try:
                label[field] = int(row[field])
            except ValueError:
                raise ValueError(
                    f"{place}, field {field!r}: expected a whole number, got {row[field]!r}"
                ) from None
    if row.get("alternatives"):
        label["alternatives"] = _json_in(row, "alternatives", place, "write a JSON list of labels")
    if label:
        item["gold"] = [label]
    return item


def _ids_in(row: Mapping[str, str], place: str) -> list[str]:
    text = row["expected_chunk_ids"]
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(";") if part.strip()]
    advice = "write a JSON list, or ids with ';' between them"
    return list(_json_in(row, "expected_chunk_ids", place, advice))


def _json_in(row: Mapping[str, str], field: str, place: str, advice: str) -> Any:
    try:
        return json.loads(row[field])
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}, field {field!r}: not JSON ({error.msg}); {advice}") from None
