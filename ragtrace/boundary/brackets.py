"""Brackets that a cut separates: opened in one chunk, closed in the next."""

import re
from collections.abc import Iterator

from ragtrace.boundary.issue import IssueKind

KINDS: dict[str, IssueKind] = {"(": "unbalanced-()", "[": "unbalanced-[]", "{": "unbalanced-{}"}
_CLOSERS = {")": "(", "]": "[", "}": "{"}

# Every match starts with a character of a small set, which keeps the search fast. An escaped
# bracket, a code span and a pair with nothing nested are passed over whole.
_BRACKET = re.compile(
    r"\\.|`[^`\n]{0,200}`"
    r"|\([^()\[\]{}`\\]{0,400}\)|\[[^()\[\]{}`\\]{0,400}\]|\{[^()\[\]{}`\\]{0,400}\}"
    r"|(?P<bracket>[()\[\]{}])"
)
# A face or an enumerator ("a)", "12)", "iv)") in front of a bracket that is part of it.
_FACE = re.compile(r"(?:^|[^\w])[:;=8xX][-o^']?[()\[\]{}]*$")
_ENUMERATOR = re.compile(r"(?:^|\s)(?:\w|[ivx]{2,4}|\d{2,3})$")
REACH = 1500  # characters from a cut within which a pair of brackets is looked for


def find_brackets(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place and the character of every bracket that may be cut from its partner.

    >>> list(find_brackets("a) smile :) then (see [1] and"))
    [(17, '(')]
    """
    for match in _BRACKET.finditer(text):
        bracket = match["bracket"]
        if bracket:
            place = match.start()
            front = text[max(0, place - 6) : place]
            if _FACE.search(front) or (bracket == ")" and _ENUMERATOR.search(front)):
                continue
            yield place, bracket


def left_open(text: str) -> list[tuple[int, str]]:
    """Return the brackets that are still open at the end of the text, outermost first.

    >>> left_open("f(a[0], (b")
    [(1, '('), (8, '(')]
    """
    stack: list[tuple[int, str]] = []
    for place, character in find_brackets(text):
        if character not in _CLOSERS:
            stack.append((place, character))
        elif stack and stack[-1][1] == _CLOSERS[character]:
            stack.pop()
    return stack


def first_unopened(text: str) -> tuple[int, str] | None:
    """Return the first closing bracket that nothing opened, as its place and its opener.

    >>> first_unopened("(the second one) and so on).")
    (26, '(')
    """
    stack: list[str] = []
    for place, character in find_brackets(text):
        if character not in _CLOSERS:
            stack.append(character)
        elif stack and stack[-1] == _CLOSERS[character]:
            stack.pop()
        elif not stack:
            return place, _CLOSERS[character]
    return None


def pairs_across(before: str, after: str) -> list[tuple[IssueKind, int, int]]:
    """Return the pairs that a cut separates: the kind, and how far each half is from the cut.

    >>> pairs_across("He left (as was", " agreed) at noon.")
    [('unbalanced-()', 7, 7)]
    """
    stack = left_open(before)
    if not stack:
        return []
    pairs: list[tuple[IssueKind, int, int]] = []
    depth: list[str] = []
    for place, character in find_brackets(after):
        if character not in _CLOSERS:
            depth.append(character)
        elif depth:
            if depth[-1] == _CLOSERS[character]:
                depth.pop()
        else:
            # An opener of another kind in between was never closed: the author's, not the cut's.
            while stack and stack[-1][1] != _CLOSERS[character]:
                stack.pop()
            if not stack:
                break
            opened, opener = stack.pop()
            pairs.append((KINDS[opener], len(before) - opened, place))
    return pairs
