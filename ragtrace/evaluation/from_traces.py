"""Take questions for an eval set out of what people really asked."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

from ragtrace.evaluation.collecting import Traces, read_all
from ragtrace.evaluation.eval_set import (
    EvalSet,
    Question,
    default_question_id,
    normalize_query,
)
from ragtrace.tracing import Feedback, read_feedback

_BAD_LABELS = frozenset(
    {
        "bad",
        "down",
        "thumbs-down",
        "thumbs_down",
        "incorrect",
        "irrelevant",
        "negative",
        "no",
        "wrong",
    }
)

_HASHED = "blake2b:"  # what `hash_query` leaves of a query is no question


def is_bad(feedback: Feedback) -> bool:
    """Tell whether feedback says that something was wrong: a score of 0 or less, or such a word."""
    if feedback.score is not None:
        return feedback.score <= 0
    return (feedback.label or "").strip().casefold() in _BAD_LABELS


def from_traces(
    traces: Traces | Iterable[str | os.PathLike[str]],
    *,
    limit: int = 50,
    order: Literal["frequent", "bad"] = "frequent",
    feedback: Iterable[Feedback] | str | os.PathLike[str] | None = None,
    bad: Callable[[Feedback], bool] = is_bad,
) -> EvalSet:
    """Collect the questions asked most often, or those with most bad feedback, still unlabelled.

    Spellings of one question are counted together and written as most people wrote it. How often
    it was asked, was judged badly and came back empty goes into the question's metadata, and an
    example of a trace. Raises `ValueError` for `order="bad"` without feedback.

    >>> from ragtrace.tracing import Trace
    >>> asked = [
    ...     Trace(id=str(number), ts=number, query=query, top_k=5, hits=(), latency_ms=1)
    ...     for number, query in enumerate(["How long?", "Why?", "how long? "])
    ... ]
    >>> [(question.query, question.metadata["asked"]) for question in from_traces(asked)]
    [('How long?', 2), ('Why?', 1)]
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    if order == "bad" and feedback is None:
        raise ValueError("order='bad' needs feedback: give the feedback file")
    if isinstance(feedback, str | os.PathLike):
        feedback = read_feedback(feedback)
    bad_traces = Counter(one.id for one in feedback or () if bad(one))
    spellings: dict[str, Counter[str]] = {}
    judged: Counter[str] = Counter()
    empty: Counter[str] = Counter()
    example: dict[str, str] = {}
    for trace in read_all(traces):
        text = normalize_query(trace.query)
        if trace.parent_id is not None or not text or text.startswith(_HASHED):
            continue
        spellings.setdefault(text, Counter())[trace.query.strip()] += 1
        judged[text] += bad_traces[trace.id]
        empty[text] += not trace.hits
        if text not in example or bad_traces[trace.id]:
            example[text] = trace.id

    def weight(text: str) -> tuple[int, int, str]:
        asked = spellings[text].total()
        first, second = (judged[text], asked) if order == "bad" else (asked, judged[text])
        return -first, -second, text

    chosen = [text for text in sorted(spellings, key=weight) if order != "bad" or judged[text] > 0]
    return EvalSet(
        questions=tuple(
            Question(
                question_id=default_question_id(text),
                query=spellings[text].most_common(1)[0][0],
                metadata={
                    "asked": spellings[text].total(),
                    "bad": judged[text],
                    "empty": empty[text],
                    "trace_id": example[text],
                },
            )
            for text in chosen[:limit]
        )
    )
