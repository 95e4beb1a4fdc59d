"""What is put in front of a chunk and behind it, so that it can be read alone."""

import logging
from collections.abc import Sequence

from ragtrace.chunking.lengths import Ruler
from ragtrace.chunking.metadata import SEPARATOR

Path = tuple[str, ...]

_log = logging.getLogger("ragtrace")


class Decorator:
    """Write the prefix and the suffix of chunks: title, heading path, what a part repeats.

    Together they never take more than half of the budget. Where they would, the title and the
    path are left out, and if that is not enough the rest as well; the log says so once a document.
    """

    def __init__(
        self, ruler: Ruler, budget: int, *, title: str | None, shows_path: bool, doc_id: str
    ) -> None:
        self.shows_path = shows_path
        self.always = shows_path or bool(title)
        self._ruler = ruler
        self._budget = budget
        self._title = title or ""
        self._doc_id = doc_id
        self._known: dict[tuple[Path, str, str], tuple[str, str, int]] = {}
        self._reported: set[str] = set()

    def decorate(self, path: Path, prefix: str, suffix: str) -> tuple[str, str, int]:
        """Return the whole prefix and suffix, and how long they are together."""
        key = (path if self.shows_path else (), prefix, suffix)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._write(*key)
        return found

    def _write(self, path: Path, prefix: str, suffix: str) -> tuple[str, str, int]:
        lines = "\n".join(filter(None, (self._title, SEPARATOR.join(path))))
        heading = f"{lines}\n\n" if lines else ""
        attempts = [
            (heading + prefix, suffix, "heading path" if path else "title"),
            (prefix, suffix, "repeated header or fence"),
        ]
        for before, after, name in attempts if heading else attempts[1:]:
            if not before and not after:
                break
            length = self._ruler.measure(0, 0, before, after)
            if length * 2 <= self._budget:
                return before, after, length
            self._report(name, length)
        return "", "", 0

    def _report(self, name: str, length: int) -> None:
        if name not in self._reported:
            self._reported.add(name)
            _log.warning(
                "document %r: the %s in front of a chunk takes %d of chunk_size %d, more than "
                "half: left out",
                self._doc_id,
                name,
                length,
                self._budget,
            )


def common_path(paths: Sequence[Path]) -> Path:
    """Return what all paths begin with.

    >>> common_path([("a", "b"), ("a", "c")])
    ('a',)
    """
    shared = paths[0] if paths else ()
    for path in paths[1:]:
        size = 0
        for one, other in zip(shared, path, strict=False):
            if one != other:
                break
            size += 1
        shared = shared[:size]
    return shared
