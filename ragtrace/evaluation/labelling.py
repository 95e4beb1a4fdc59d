"""Write labels into the file of an eval set, and leave everything else in it as it is."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ragtrace.evaluation.eval_set import GoldSpan
from ragtrace.evaluation.formats import read_row
from ragtrace.index.manifest_file import replacing

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class Member(NamedTuple):
    """Where a member of an object lies in a text: its key, its value, the end of that."""

    key: str
    at: int
    start: int
    end: int


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `ValueError` for a file that labels cannot be written into."""
    for _ in _questions(_read(Path(path)), str(path)):
        pass


def add_label(path: str | os.PathLike[str], question_id: str, label: GoldSpan) -> None:
    """Add a label to a question; the file is replaced whole or stays as it was.

    It must be JSON or JSONL with our own questions. All but the question's `gold` keeps its bytes.
    Raises `ValueError` where the file has no such question.
    """
    _change(Path(path), question_id, lambda labels: [*labels, _as_written(label)])


def remove_label(path: str | os.PathLike[str], question_id: str, label: GoldSpan) -> None:
    """Take back a label that `add_label` wrote. Raises `ValueError` where it is not there."""

    def without(labels: list[Any]) -> list[Any]:
        written = _as_written(label)
        if written not in labels:
            raise ValueError(f"{path}: question {question_id!r} no longer has this label")
        last = len(labels) - 1 - labels[::-1].index(written)
        return labels[:last] + labels[last + 1 :]

    _change(Path(path), question_id, without)


def _as_written(label: GoldSpan) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(label)
    return written


def _change(path: Path, question_id: str, change: Callable[[list[Any]], list[Any]]) -> None:
    text = _read(path)
    for name, at in _questions(text, str(path)):
        if name == question_id:
            changed = _with_gold(text, at, change)
            break
    else:
        raise ValueError(f"{path}: there is no question {question_id!r} any more")
    target = path.resolve()  # what a link points to is replaced, not the link
    with replacing(target) as partial:
        with partial.open("wb") as file:
            file.write(changed.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(target, partial)


def _read(path: Path) -> str:
    if path.suffix in (".csv", ".tsv", ".gz") or not path.is_file():
        raise ValueError(
            f"{path}: labels are written into a JSON or JSONL file; make one of an eval set with "
            "write_eval_set(load_eval_set(path), 'eval.jsonl', format='jsonl')"
        )
    try:
        return path.read_bytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8"
        ) from None


def _with_gold(text: str, at: int, change: Callable[[list[Any]], list[Any]]) -> str:
    """Return the text with other labels for the question that begins at a place."""
    members = list(_members(text, at))
    for member in members:
        if member.key == "gold":
            labels = change(json.loads(text[member.start : member.end]) or [])
            return text[: member.start] + _dumped(labels) + text[member.end :]
    first, last = members[0], members[-1]
    indent = text[at + 1 : first.at]  # the white space before a key, as the file has it
    added = "," + (indent or " ") + '"gold": ' + _dumped(change([]))
    return text[: last.end] + added + text[last.end :]


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _questions(text: str, name: str) -> Iterator[tuple[str, int]]:
    """Yield the id of each question and where it begins."""
    try:
        for number, (item, at) in enumerate(_items(text), 1):
            if not isinstance(item, dict) or not ("query" in item or "question" in item):
                raise ValueError(
                    f"{name}, item {number}: not a question of ours; make a file of them with "
                    "write_eval_set(load_eval_set(path), 'eval.jsonl', format='jsonl')"
                )
            question, _ = read_row(item, f"{name}, item {number}")
            yield question.question_id, at
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{name}, line {error.lineno}: not JSON ({error.msg}, column {error.colno})"
        ) from None


def _items(text: str) -> Iterator[tuple[Any, int]]:
    """Yield every item of a list, of `questions`, or of lines, and where it begins."""
    at = _after_space(text, 1 if text.startswith("\ufeff") else 0)
    if text.startswith("[", at):
        yield from _list_items(text, at)
        return
    while at < len(text):
        item, end = _DECODER.raw_decode(text, at)
        if isinstance(item, dict) and isinstance(item.get("questions"), list):
            places = [one.start for one in _members(text, at) if one.key == "questions"]
            yield from _list_items(text, places[-1])
        else:
            yield item, at
        at = _after_space(text, end)


def _list_items(text: str, at: int) -> Iterator[tuple[Any, int]]:
    at = _after_space(text, at + 1)
    while not text.startswith("]", at):
        item, end = _DECODER.raw_decode(text, at)
        yield item, at
        at = _after_space(text, end)
        if text.startswith(",", at):
            at = _after_space(text, at + 1)


def _members(text: str, at: int) -> Iterator[Member]:
    """Yield the members of the object that begins at a place."""
    at = _after_space(text, at + 1)
    while not text.startswith("}", at):
        key, end = _DECODER.raw_decode(text, at)
        start = _after_space(text, _after_space(text, end) + 1)  # over the colon
        _, end = _DECODER.raw_decode(text, start)
        yield Member(key, at, start, end)
        at = _after_space(text, end)
        if text.startswith(",", at):
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
