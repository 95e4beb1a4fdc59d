"""The eval set: questions and the passages that answer them."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NoReturn

import msgspec

_GOLD_ALIASES = {"doc": "doc_id", "text": "quote", "content": "quote"}
_GOLD_KEYS = ("doc_id", "start", "end", "quote", "chunk_id", "grade")
_LABEL_KEYS = ("gold", "expected_chunk_ids")
_LIKE_A_LABEL = re.compile("(?i)expected|relevant|label|chunk|passage")


class GoldSpan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hold one label: a span of a document, a quote to be found, or a chunk id.

    `start` and `end` are half-open code points of the document. `quote` may be given by its first
    and last words (`"The first words … the last words"`). `grade` is the degree of relevance.
    `alternatives` are other places that say the same: to retrieve one of them is enough.
    """

    doc_id: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    chunk_id: str | None = None
    grade: int = 1
    alternatives: tuple["GoldSpan", ...] = ()

    @property
    def has_span(self) -> bool:
        """Tell whether the label says where it lies."""
        return self.doc_id is not None and self.start is not None and self.end is not None


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hold one question, its labels, and whether a gate must never lose it."""

    question_id: str
    query: str
    gold: tuple[GoldSpan, ...] = ()
    answer: str | None = None
    must_pass: bool = False
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


class EvalSet(msgspec.Struct, frozen=True, kw_only=True):
    """Hold the questions, and which queries came more than once.

    A question that is repeated without an id of its own is counted once, with the labels of all its
    repetitions.

    >>> eval_set = EvalSet.from_items([{"query": "Who?", "expected_chunk_ids": ["guide#c3"]}])
    >>> eval_set.questions[0].gold[0].chunk_id
    'guide#c3'
    """

    questions: tuple[Question, ...]
    duplicates: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @property
    def unlabelled(self) -> tuple[str, ...]:
        """Name the questions without a label; they are run but not scored."""
        return tuple(question.question_id for question in self.questions if not question.gold)

    @classmethod
    def from_items(cls, items: Iterable[Any], *, source: str = "eval set") -> "EvalSet":
        """Build an eval set from mappings like the lines of a file.

        Raises `ValueError` naming `source`, the number of the item and its field.
        """
        return collect_questions(
            read_item(item, f"{source}, item {number}") for number, item in enumerate(items, 1)
        )


def check_eval_set(eval_set: object) -> None:
    """Raise `ValueError` for what is not an eval set yet: a path, or the items of one."""
    if not isinstance(eval_set, EvalSet):
        raise ValueError(
            f"expected an EvalSet, got {type(eval_set).__name__}: load_eval_set reads a file, "
            "EvalSet.from_items takes a list of questions"
        )


def normalize_query(query: str) -> str:
    r"""Write a query as it is compared: one form per letter, single spaces, no case.

    >>> normalize_query("How do I\u00a0Install?\n\n")
    'how do i install?'
    """
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())


def default_question_id(query: str) -> str:
    r"""Name a question by its normalised text, the same in every process.

    >>> default_question_id("Who?") == default_question_id(" who?\n")
    True
    """
    text = normalize_query(query).encode("utf-8", "surrogatepass")
    return "q-" + blake2b(text, digest_size=6).hexdigest()


def collect_questions(entries: Iterable[tuple[Question, str]]) -> EvalSet:
    """Join questions into a set; each comes with the place to name when it cannot be used."""
    found: dict[str, tuple[Question, str]] = {}
    by_query: dict[str, str] = {}
    duplicates: dict[str, None] = {}
    for question, place in entries:
        text = normalize_query(question.query)
        if text in by_query:
            duplicates[question.query] = None
        by_query.setdefault(text, question.question_id)
        earlier = found.get(question.question_id)
        if earlier is None:
            found[question.question_id] = question, place
        elif normalize_query(earlier[0].query) != text:
            raise ValueError(
                f"{place}, field 'question_id': {question.question_id!r} already names another "
                f"question ({earlier[1]}); give each question an id of its own"
            )
        else:
            found[question.question_id] = _join(earlier[0], question), earlier[1]
    return EvalSet(
        questions=tuple(question for question, _ in found.values()), duplicates=tuple(duplicates)
    )


def _join(first: Question, second: Question) -> Question:
    return msgspec.structs.replace(
        first,
        gold=tuple(dict.fromkeys(first.gold + second.gold)),
        answer=first.answer if first.answer is not None else second.answer,
        must_pass=first.must_pass or second.must_pass,
    )


def read_item(item: Any, place: str) -> tuple[Question, str]:
    """Read one mapping; errors begin with `place`."""
    if not isinstance(item, Mapping):
        raise ValueError(f"{place}: expected an object with 'query', got {_shown(item)}")
    query = item.get("query")
    if not isinstance(query, str) or not query.strip():
        _complain(place, "query", "a text that is not empty", query)
    question_id = item.get("question_id")
    if question_id is None:
        question_id = default_question_id(query)
    elif isinstance(question_id, int) and not isinstance(question_id, bool):
        question_id = str(question_id)
    elif not isinstance(question_id, str) or not question_id:
        _complain(place, "question_id", "a text", question_id)
    answer = item.get("answer")
    if answer is not None and not isinstance(answer, str):
        _complain(place, "answer", "a text", answer)
    must_pass = item.get("must_pass", False)
    if not isinstance(must_pass, bool):
        _complain(place, "must_pass", "true or false", must_pass)
    metadata = item.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        _complain(place, "metadata", "an object", metadata)
    question = Question(
        question_id=question_id,
        query=query,
        gold=_read_labels(item, place),
        answer=answer,
        must_pass=must_pass,
        metadata=dict(metadata),
    )
    return question, place


def _read_labels(item: Mapping[str, Any], place: str) -> tuple[GoldSpan, ...]:
    if not any(key in item for key in _LABEL_KEYS):
        for key in item:
            close = difflib.get_close_matches(str(key), _LABEL_KEYS, n=1, cutoff=0.7)
            if close:
                raise ValueError(f"{place}, field {key!r}: unknown; did you mean {close[0]!r}?")
            if _LIKE_A_LABEL.search(str(key)):
                raise ValueError(
                    f"{place}, field {key!r}: unknown; labels go into 'gold' or "
                    "'expected_chunk_ids'"
                )
        return ()
    labels: dict[GoldSpan, None] = {}
    ids = item.get("expected_chunk_ids") or ()
    if isinstance(ids, str) or not isinstance(ids, list | tuple | set | frozenset):
        _complain(place, "expected_chunk_ids", "a list of chunk ids", ids)
    for chunk_id in ids:
        if not isinstance(chunk_id, str | int) or isinstance(chunk_id, bool) or chunk_id == "":
            _complain(place, "expected_chunk_ids", "a list of chunk ids", chunk_id)
        labels[GoldSpan(chunk_id=str(chunk_id))] = None
    gold = item.get("gold") or ()
    if not isinstance(gold, list | tuple):
        _complain(place, "gold", "a list of objects", gold)
    for number, label in enumerate(gold, 1):
        if isinstance(label, GoldSpan):
            labels[label] = None
        elif (read := _read_gold(label, f"{place}, gold {number}")).grade > 0:
            labels[read] = None
    return tuple(labels)


def _read_gold(label: Any, place: str) -> GoldSpan:
    if not isinstance(label, Mapping):
        raise ValueError(f"{place}: expected an object, got {_shown(label)}")
    values = {_GOLD_ALIASES.get(key, key): value for key, value in label.items()}
    for field in ("doc_id", "quote", "chunk_id"):
        value = values.get(field)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            _complain(place, field, "a text that is not empty", value)
    for field in ("start", "end", "grade"):
        value = values.get(field)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            _complain(place, field, "a whole number", value)
    start, end = values.get("start"), values.get("end")
    if (start is None) != (end is None):
        raise ValueError(f"{place}: 'start' and 'end' go together; one is missing")
    if start is not None and end is not None:
        if values.get("doc_id") is None:
            raise ValueError(f"{place}, field 'doc_id': missing; a span needs its document")
        if not 0 <= start < end:
            raise ValueError(f"{place}: needs 0 <= start < end, got start={start}, end={end}")
    elif values.get("quote") is None and values.get("chunk_id") is None:
        raise ValueError(f"{place}: needs 'quote', 'chunk_id', or 'doc_id' with 'start' and 'end'")
    known = {key: values[key] for key in _GOLD_KEYS if values.get(key) is not None}
    others = values.get("alternatives") or ()
    if not isinstance(others, list | tuple):
        _complain(place, "alternatives", "a list of objects", others)
    alternatives = tuple(_read_gold(other, f"{place}, an alternative") for other in others)
    return GoldSpan(**known, alternatives=alternatives)


def _complain(place: str, field: str, wanted: str, value: Any) -> NoReturn:
    if value is None:
        raise ValueError(f"{place}, field {field!r}: missing; expected {wanted}")
    raise ValueError(f"{place}, field {field!r}: expected {wanted}, got {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
