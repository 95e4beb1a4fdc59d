"""Public documents and labelled questions that lie beside the project, where they do."""

import csv
import json
from pathlib import Path
from typing import NamedTuple

from ragtrace.evaluation import EvalSet, GoldSpan, Question

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Label(NamedTuple):
    """A gold span: half-open code points of a document."""

    doc_id: str
    start: int
    end: int


class LabelledQuestion(NamedTuple):
    """A query and the passages that answer it."""

    query: str
    gold: tuple[Label, ...]


class Corpus(NamedTuple):
    """Documents by id, and the questions about them."""

    documents: dict[str, str]
    questions: list[LabelledQuestion]

    def eval_set(self) -> EvalSet:
        """Return the questions as an eval set; they are named by their number."""
        return EvalSet(
            questions=tuple(
                Question(
                    question_id=str(number),
                    query=one.query,
                    gold=tuple(
                        GoldSpan(
                            doc_id=gold.doc_id,
                            start=gold.start,
                            end=gold.end,
                            quote=self.documents[gold.doc_id][gold.start : gold.end],
                        )
                        for gold in one.gold
                    ),
                )
                for number, one in enumerate(self.questions)
            )
        )


def require(path: Path) -> Path:
    """Return the path, or stop with one line where the data is absent."""
    if not path.exists():
        raise SystemExit(f"{path} is absent: this benchmark reads data that is not in the project")
    return path


def read(path: Path) -> str:
    # Bytes, not text: offsets count every "\r".
    return require(path).read_bytes().decode("utf-8")


def load_prose() -> dict[str, str]:
    """Return hard-wrapped novels."""
    return {path.stem: read(path) for path in sorted(require(DATA / "prose").glob("*.txt"))}


def load_markdown_docs() -> dict[str, str]:
    """Return 124 Markdown documents: RFCs, proposals, a book, framework docs."""
    found = json.loads(read(DATA / "markdown_docs" / "docs.json"))
    if isinstance(found, dict):
        return {str(name): text for name, text in found.items()}
    return {
        str(item.get("id") or item.get("path") or number): item["text"]
        for number, item in enumerate(found)
    }


def load_chroma() -> Corpus:
    """Return five plain-text corpora and questions with gold character spans."""
    folder = require(DATA / "chroma_chunking_eval")
    documents = {path.stem: read(path) for path in sorted((folder / "corpora").glob("*.md"))}
    questions = []
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            gold = tuple(
                Label(row["corpus_id"], item["start_index"], item["end_index"])
                for item in json.loads(row["references"])
            )
            questions.append(LabelledQuestion(row["question"], gold))
    return Corpus(documents, questions)


def load_fastapi() -> Corpus:
    """Return Markdown pages and a pilot of questions with gold spans."""
    folder = require(DATA / "fastapi_docs")
    pages = folder / "docs"
    documents = {
        path.relative_to(pages).as_posix(): read(path) for path in sorted(pages.rglob("*.md"))
    }
    questions = []
    for line in read(folder / "gold_pilot.jsonl").splitlines():
        item = json.loads(line)
        gold = tuple(Label(g["doc"], g["start"], g["end"]) for g in item["gold"])
        questions.append(LabelledQuestion(item["query"], gold))
    return Corpus(documents, questions)
