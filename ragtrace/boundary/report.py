"""The report: how many chunks are flawed, how, in which documents, and the worst of each kind."""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from ragtrace.boundary.issue import KINDS, STRUCTURAL, Issue, IssueKind
from ragtrace.boundary.piece import Piece

_EXAMPLES = 5
_STRUCTURAL = frozenset(STRUCTURAL)


class Group(msgspec.Struct, frozen=True):
    """Hold the figures of some of the chunks: those of a document or of a splitter.

    `kinds` counts the chunks that have at least one issue of a kind.
    """

    chunks: int = 0
    flawed: int = 0
    kinds: dict[IssueKind, int] = msgspec.field(default_factory=dict)

    @property
    def issue_rate(self) -> float:
        """Return the share of chunks with at least one structural issue."""
        return self.flawed / self.chunks if self.chunks else 0.0


class BoundaryReport(msgspec.Struct, frozen=True, kw_only=True):
    """Hold what `validate` found.

    `kinds` counts chunks per kind, `issues` lists the findings in order, as many as were to be
    kept (`left_out` more were only counted), `worst` has the largest of each kind.
    `checked_exactly` is how many chunks were compared with their document, `located` how many of
    those had no usable offsets and were found by their text. `chunk_size` and `length` are what
    was checked against.
    """

    chunks: int
    characters: int
    flawed: int
    kinds: dict[IssueKind, int]
    issues: tuple[Issue, ...]
    left_out: int
    worst: dict[IssueKind, tuple[Issue, ...]]
    by_document: dict[str, Group]
    by_splitter: dict[str, Group]
    checked_exactly: int = 0
    located: int = 0
    chunk_size: int | None = None
    length: str | None = None

    @property
    def issue_rate(self) -> float:
        """Return the share of chunks with at least one structural issue, from 0 to 1."""
        return self.flawed / self.chunks if self.chunks else 0.0

    @property
    def rates(self) -> dict[IssueKind, float]:
        """Return, for every kind, the share of chunks that have it."""
        return {kind: self.kinds[kind] / self.chunks if self.chunks else 0.0 for kind in KINDS}


class Tally:
    """Count findings as they come, in memory that does not grow with the number of chunks."""

    def __init__(self, keep: int | None) -> None:
        self._keep = keep
        self._chunks = self._characters = self._flawed = self._left_out = 0
        self._kinds: Counter[IssueKind] = Counter()
        self._issues: list[Issue] = []
        self._worst: dict[IssueKind, list[tuple[int, int, Issue]]] = {}
        self._documents: dict[str, _Growing] = {}
        self._splitters: dict[str, _Growing] = {}
        self._seen = 0

    def add(self, piece: Piece, issues: Iterable[Issue]) -> None:
        """Count one chunk and its findings."""
        self._chunks += 1
        self._characters += len(piece.text)
        kinds: set[IssueKind] = set()
        for issue in issues:
            kinds.add(issue.kind)
            self._hold(issue)
        flawed = not kinds.isdisjoint(_STRUCTURAL)
        self._flawed += flawed
        self._count(piece.doc_id, piece.splitter, kinds, chunks=1, flawed=flawed)

    def add_finding(self, issue: Issue, splitter: str = "") -> None:
        """Count a finding about a chunk that is already counted, or about no chunk.

        Only of kinds that are not structural, or without a chunk: it flaws no chunk.
        """
        self._hold(issue)
        if issue.chunk_id:
            self._count(issue.doc_id, splitter, {issue.kind}, chunks=0, flawed=False)

    def report(
        self, *, checked_exactly: int, located: int, chunk_size: int | None, length: str | None
    ) -> BoundaryReport:
        """Return the figures."""
        return BoundaryReport(
            chunks=self._chunks,
            characters=self._characters,
            flawed=self._flawed,
            kinds={kind: self._kinds[kind] for kind in KINDS},
            issues=tuple(self._issues),
            left_out=self._left_out,
            worst={
                kind: tuple(issue for _, _, issue in sorted(self._worst[kind], reverse=True))
                for kind in KINDS
                if kind in self._worst
            },
            by_document=_freeze(self._documents),
            by_splitter=_freeze(self._splitters),
            checked_exactly=checked_exactly,
            located=located,
            chunk_size=chunk_size,
            length=length,
        )

    def _hold(self, issue: Issue) -> None:
        if self._keep is None or len(self._issues) < self._keep:
            self._issues.append(issue)
        else:
            self._left_out += 1
        self._seen += 1
        # Of equals the first stays; the negated place keeps comparison away from the issues.
        entry = (issue.size, -self._seen, issue)
        heap = self._worst.setdefault(issue.kind, [])
        if len(heap) < _EXAMPLES:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)

    def _count(
        self, doc_id: str, splitter: str, kinds: set[IssueKind], *, chunks: int, flawed: bool
    ) -> None:
        self._kinds.update(kinds)
        for groups, name in ((self._documents, doc_id), (self._splitters, splitter)):
            group = groups.get(name)
            if group is None:
                group = groups[name] = _Growing()
            group.chunks += chunks
            group.flawed += flawed
            for kind in kinds:
                group.kinds[kind] = group.kinds.get(kind, 0) + 1


class _Growing:
    """A group while it is being counted."""

    __slots__ = ("chunks", "flawed", "kinds")

    def __init__(self) -> None:
        self.chunks = 0
        self.flawed = 0
        self.kinds: dict[IssueKind, int] = {}


def _freeze(groups: Mapping[str, _Growing]) -> dict[str, Group]:
    return {
        name: Group(
            group.chunks, group.flawed, {k: group.kinds[k] for k in KINDS if k in group.kinds}
        )
        for name, group in groups.items()
    }
