"""The demo's documents and questions: the language reference that every CPython carries."""

from importlib.resources import files
from pydoc_data.topics import topics

from ragtrace.evaluation import EvalSet, load_eval_set


def load_documents() -> dict[str, str]:
    """Return about 80 documents, 465,000 characters, by topic."""
    return dict(topics)


def load_questions() -> EvalSet:
    """Return the questions a Python user asks, each labelled with a quote of its answer.

    The quotes are of one version of Python; on another, some may be gone: they are stale then.
    """
    return load_eval_set(str(files("ragtrace.demo") / "questions.jsonl"))
