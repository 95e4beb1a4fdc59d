"""Plant known faults into a clean index over real documents, to see whether they are named.

Passages come from markdown-it-py and a plain pattern, not from the code under test. A question is
made of the rarest words of its passage; it counts only if the clean index answers it. Several
questions share an index, each with its own fault in a stretch of text of its own.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import log
from statistics import median
from typing import Any, NamedTuple

from markdown_it import MarkdownIt

from ragtrace.chunking import Chunk
from ragtrace.evaluation import EvalSet, GoldSpan, Limits, Question, SpanResult, analyze
from ragtrace.tracing.schema import Trace, TraceHit

Span = tuple[int, int]
Search = Callable[[str, int], list[tuple[int, float]]]
Build = Callable[[Sequence[str]], Search]
"""Indexes texts; the search returns their positions and scores, best first."""

K = 5
DEPTH = 20
COPIES = 7

CUTS = ("cut-sentence", "cut-table", "cut-fence", "cut-list")
KINDS = (
    *CUTS,
    "giant-chunk",
    "fragment",
    "near-duplicates",
    "stale-version",
    "beyond-embedder",
    "not-indexed",
    "ranked-low",
)

_SENTENCE = re.compile(
    r"(?:(?<=[.!?]\s)|(?<=\n\n)|\A)[A-Z][a-z]+ "
    r"(?:[^.!?|`#<>*\n]|\n(?![ \t]*(?:\n|[-*+] ))){60,230}[.!?](?=\s)"
)
_BORDERS = {
    "sentence": re.compile(" "),
    "table": re.compile("\n"),
    "fence": re.compile("\n"),
    "list": re.compile(r"\n(?=(?:[-*+]|\d+[.)]) )"),
}
_WORD = re.compile(r"[^\W\d_]{3,}")


class Passage(NamedTuple):
    """What answers a question: a sentence, or a whole table, fence or list."""

    kind: str
    doc_id: str
    start: int
    end: int


class Entry(NamedTuple):
    """One row of the index: the chunk, the text that was embedded, the version of its document."""

    chunk: Chunk
    embedded: str
    version: str | None = None
    is_current: bool = True


class Planted(NamedTuple):
    """A question and the fault that was planted for it."""

    kind: str
    question: Question
    passage: Passage


def find_passages(documents: Mapping[str, str]) -> list[Passage]:
    """Find sentences of prose and whole tables, fences and lists of a readable length."""
    passages = []
    parser = MarkdownIt("commonmark").enable("table")
    kinds = {
        "table_open": "table",
        "fence": "fence",
        "bullet_list_open": "list",
        "ordered_list_open": "list",
    }
    for doc_id, text in documents.items():
        lines = [0]
        for line in text.split("\n"):
            lines.append(lines[-1] + len(line) + 1)
        blocks = []
        for token in parser.parse(text):
            if token.type in kinds and token.map is not None and token.level == 0:
                start, end = lines[token.map[0]], min(lines[token.map[1]], len(text))
                end = start + len(text[start:end].rstrip())
                blocks.append((start, end))
                count = text.count("\n", start, end)
                if 150 <= end - start <= 700 and count >= 3:
                    passages.append(Passage(kinds[token.type], doc_id, start, end))
        for match in _SENTENCE.finditer(text):
            if not any(start <= match.start() < end for start, end in blocks):
                passages.append(Passage("sentence", doc_id, *match.span()))
    return passages


class Wording:
    """Make questions of the words of a passage that are rarest in the corpus."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.documents = Counter(word for text in texts for word in set(_words(text)))
        self.total = max(1, sum(self.documents.values()))

    def rarest(self, text: str, count: int) -> list[str]:
        words = sorted(
            set(_words(text)),
            key=lambda word: (-log(self.total / (1 + self.documents[word])), word),
        )
        return words[:count]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


class Ground:
    """Hold the clean state: documents, chunk spans, passages with their questions."""

    def __init__(
        self,
        documents: Mapping[str, str],
        chunks: Sequence[Chunk],
        build: Build,
        splitter: Callable[[int], Callable[[str, str], Iterable[Any]]] | None = None,
    ) -> None:
        self.splitter = splitter
        self.documents = dict(documents)
        self.build = build
        self.chunks = list(chunks)
        self.spans: dict[str, list[Span]] = {}
        for chunk in chunks:
            self.spans.setdefault(chunk.doc_id, []).append((chunk.start, chunk.end))
        self.usual = median(len(chunk.text) for chunk in chunks)
        self.longest = max(len(chunk.text) for chunk in chunks)
        self.wording = Wording(chunk.text for chunk in chunks)
        self.search = build([chunk.text for chunk in chunks])

    def holder(self, passage: Passage) -> Span | None:
        """Return the chunk that holds a passage whole in the clean index."""
        for start, end in self.spans.get(passage.doc_id, ()):
            if start <= passage.start and passage.end <= end:
                return start, end
        return None

    def ask(self, kind: str, passage: Passage) -> str:
        """Word the question so that the fault can bite."""
        text = self.documents[passage.doc_id]
        words = self.wording.rarest(text[passage.start : passage.end], 8)
        if kind == "fragment":
            holder = self.holder(passage) or (passage.start, passage.end)
            around = text[holder[0] : passage.start] + " " + text[passage.end : holder[1]]
            words = self.wording.rarest(around, 7) + words[-1:]
        elif kind == "giant-chunk":
            words = self.wording.rarest(text[passage.start : passage.end], 14)[8:]
        elif kind == "ranked-low":
            others = [name for name in self.documents if name != passage.doc_id]
            other = self.documents[others[(passage.start * 7919) % len(others)]]
            words = self.wording.rarest(other[:3000], 6) + words[-1:]
        return " ".join(words)

    def is_answered(self, passage: Passage, query: str) -> bool:
        """Tell whether the clean index gives the passage whole within the first k hits."""
        found = (self.chunks[position] for position, _ in self.search(query, K))
        return any(
            chunk.doc_id == passage.doc_id
            and chunk.start <= passage.start
            and passage.end <= chunk.end
            for chunk in found
        )


class Planting:
    """An index with one fault for each of several questions."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.spans = {name: list(spans) for name, spans in ground.spans.items()}
        self.taken: dict[str, list[Span]] = {}
        self.planted: list[Planted] = []
        self.owners: list[tuple[str, Entry]] = []
        self.long: set[tuple[str, Span]] = set()

    def add(self, kind: str, passage: Passage) -> bool:
        """Plant a fault; returns whether there is room and the question is a good one."""
        ground = self.ground
        holder = ground.holder(passage)
        if holder is None or (kind in CUTS and passage.kind != kind.removeprefix("cut-")):
            return False
        query = ground.ask(kind, passage)
        if (kind == "ranked-low") == ground.is_answered(passage, query):
            return False
        text = ground.documents[passage.doc_id]
        spans = self.spans[passage.doc_id]
        place = ground.spans[passage.doc_id].index(holder)
        change = self._change(kind, passage, holder, place, text)
        if change is None:
            return False
        region, replacement = change
        if any(
            start < region[1] and region[0] < end
            for start, end in self.taken.get(passage.doc_id, ())
        ):
            return False
        self.taken.setdefault(passage.doc_id, []).append(region)
        self.spans[passage.doc_id] = sorted(
            [span for span in spans if not (region[0] <= span[0] and span[1] <= region[1])]
            + replacement
        )
        if kind == "beyond-embedder":
            self.long.update((passage.doc_id, span) for span in replacement)
        name = f"{kind}-{len(self.planted)}"
        self._add_entries(kind, passage, query, text, holder, name)
        label = GoldSpan(
            doc_id=passage.doc_id,
            start=passage.start,
            end=passage.end,
            quote=text[passage.start : passage.end],
        )
        question = Question(question_id=name, query=query, gold=(label,))
        self.planted.append(Planted(kind, question, passage))
        return True

    def _change(
        self, kind: str, passage: Passage, holder: Span, place: int, text: str
    ) -> tuple[Span, list[Span]] | None:
        spans = self.ground.spans[passage.doc_id]
        usual = self.ground.usual
        if kind in CUTS:
            cut = _cut_position(passage, text)
            return (
                None
                if cut is None
                else (holder, _stripped(text, [(holder[0], cut), (cut, holder[1])]))
            )
        if kind == "fragment":
            if passage.end - passage.start >= 0.25 * usual or holder[1] - holder[0] < 0.5 * usual:
                return None
            pieces = [
                (holder[0], passage.start),
                (passage.start, passage.end),
                (passage.end, holder[1]),
            ]
            return holder, _stripped(text, pieces)
        if kind == "giant-chunk":
            first, last = place, place
            while spans[last][1] - spans[first][0] < 6 * usual:
                if first == 0 and last == len(spans) - 1:
                    return None
                first, last = max(0, first - 1), min(len(spans) - 1, last + 1)
            region = spans[first][0], spans[last][1]
            return region, [region]
        if kind == "beyond-embedder":
            first = place
            while passage.start - spans[first][0] <= self.ground.longest:
                if first == 0:
                    return None
                first -= 1
            region = spans[first][0], holder[1]
            return region, [region]
        if kind == "not-indexed":
            return holder, []
        return holder, [holder]

    def _add_entries(
        self, kind: str, passage: Passage, query: str, text: str, holder: Span, name: str
    ) -> None:
        ground = self.ground
        if kind == "near-duplicates":
            # Pages that repeat the words of the question and hardly differ from each other.
            found = [ground.chunks[position] for position, _ in ground.search(query, DEPTH)]
            other = next(
                (
                    chunk
                    for chunk in found
                    if (chunk.doc_id, chunk.start) != (passage.doc_id, holder[0])
                ),
                None,
            )
            base = (other.text if other is not None else "")[:600]
            for number in range(COPIES):
                content = f"{query}. {query}. {base} Page {'abcdefghij'[number]}."
                self.owners.append(
                    (
                        name,
                        Entry(Chunk(f"{name}-copy{number}", 0, 0, len(content), content), content),
                    )
                )
        elif kind == "stale-version":
            passage_text = text[passage.start : passage.end]
            words = passage_text.split(" ")
            for number in range(COPIES):
                changed = list(words)
                changed[len(changed) // 2] = "formerly"
                content = f"{query}. {text[holder[0] : passage.start]}{' '.join(changed)} {query}"
                index = 9000 + len(self.owners)
                chunk = Chunk(passage.doc_id, index, 0, len(content), content)
                self.owners.append((name, Entry(chunk, content, None, is_current=False)))
                if number == 0 and len(self.planted) % 2:
                    break

    @property
    def extra(self) -> list[Entry]:
        """Return the planted rows that no chunk of the corpus makes room for."""
        return [entry for _, entry in self.owners]

    def entries(self) -> list[Entry]:
        """Return the rows of the index."""
        rows = []
        for doc_id, spans in self.spans.items():
            text = self.ground.documents[doc_id]
            for index, (start, end) in enumerate(spans):
                chunk = Chunk(doc_id, index, start, end, text[start:end], length=end - start)
                embedded = chunk.text
                if (doc_id, (start, end)) in self.long:
                    embedded = embedded[: self.ground.longest]
                rows.append(Entry(chunk, embedded))
        return rows + self.extra

    def documents(self) -> dict[str, str]:
        """Return today's documents: those of the corpus and the planted copies."""
        copies = {entry.chunk.doc_id: entry.chunk.text for entry in self.extra if entry.is_current}
        return self.ground.documents | copies

    def manifest(self) -> list[Chunk]:
        """Return what a manifest of the index says: everything but what was left behind."""
        return [entry.chunk for entry in self.entries() if entry.is_current]

    def limits(self) -> Limits:
        """Return what the embedder of this index reads, where that is a question at all."""
        reads = any(one.kind == "beyond-embedder" for one in self.planted)
        return Limits(embedder=self.ground.longest if reads else None)

    def is_disturbed(self, planted: Planted, trace: Trace) -> bool:
        """Tell whether what was planted for another question got in the way of this one."""
        others = {
            entry.chunk.chunk_id
            for name, entry in self.owners
            if name != planted.question.question_id
        }
        return any(hit.chunk_id in others for hit in trace.hits[:K])

    def eval_set(self) -> EvalSet:
        """Return the questions."""
        return EvalSet(questions=tuple(planted.question for planted in self.planted))


def make_traces(
    entries: Sequence[Entry], build: Build, eval_set: EvalSet, depth: int = DEPTH
) -> list[Trace]:
    """Run every question and write the traces a tracer would."""
    search = build([entry.embedded for entry in entries])
    traces = []
    for number, question in enumerate(eval_set):
        hits = tuple(
            TraceHit(
                rank=rank,
                chunk_id=entries[position].chunk.chunk_id,
                doc_id=entries[position].chunk.doc_id,
                score=score,
                snippet=entries[position].chunk.text[:200],
                length=len(entries[position].chunk.text),
                doc_version=entries[position].version,
            )
            for rank, (position, score) in enumerate(search(question.query, depth), 1)
        )
        traces.append(
            Trace(
                id=f"{number:032x}",
                ts=float(number),
                query=question.query,
                top_k=depth,
                hits=hits,
                latency_ms=1.0,
                question_id=question.question_id,
            )
        )
    return traces


def diagnose(planting: Planting) -> Iterator[tuple[Planted, SpanResult]]:
    """Give each planted fault that bites, undisturbed, with what is said of its question."""
    eval_set = planting.eval_set()
    traces = make_traces(planting.entries(), planting.ground.build, eval_set)
    analysis = analyze(
        traces,
        eval_set,
        chunks=planting.manifest(),
        documents=planting.documents(),
        limits=planting.limits(),
    )
    for planted, trace in zip(planting.planted, traces, strict=True):
        (span,) = analysis.question(planted.question.question_id).spans
        bites = span.finding.verdict != "whole" or planted.kind == "stale-version"
        if bites and not planting.is_disturbed(planted, trace):
            yield planted, span


def plantings(ground: Ground, *, rounds: int, each: int = 3) -> Iterator[Planting]:
    """Fill indexes with faults, the kinds in turn, until passages or rounds run out.

    Chunks longer than the embedder reads are planted apart: giants would be such chunks too.
    """
    passages: dict[str, list[Passage]] = {}
    for passage in find_passages(ground.documents):
        passages.setdefault(passage.kind, []).append(passage)
    for found in passages.values():  # spread over the documents, not one after the other
        found.sort(key=lambda passage: (passage.start * 2654435761) % 2**32)
    waiting = {
        kind: iter(passages.get(kind.removeprefix("cut-"), []))
        if kind in CUTS
        else iter(passages.get("sentence", [])[number :: len(KINDS)])
        for number, kind in enumerate(KINDS)
    }
    alone = ("beyond-embedder",)
    for number in range(2 * rounds):
        planting = Planting(ground)
        for _ in range(each):
            for kind in alone if number % 2 else [one for one in KINDS if one not in alone]:
                any(planting.add(kind, passage) for passage in islice(waiting[kind], 25))
        if planting.planted:
            yield planting


def without_copies(documents: Mapping[str, str]) -> dict[str, str]:
    """Leave out documents that mostly repeat others: the clean index must have no duplicates."""
    seen: set[str] = set()
    kept = {}
    for doc_id, text in sorted(documents.items(), key=lambda item: -len(item[1])):
        paragraphs = {" ".join(part.split()) for part in text.split("\n\n")}
        paragraphs = {part for part in paragraphs if len(part) > 60}
        if len(paragraphs & seen) <= 0.1 * len(paragraphs):
            kept[doc_id] = text
            seen |= paragraphs
    return dict(sorted(kept.items()))


def _cut_position(passage: Passage, text: str) -> int | None:
    borders = [
        match.end()
        for match in _BORDERS[passage.kind].finditer(text, passage.start + 12, passage.end - 12)
    ]
    middle = (passage.start + passage.end) // 2
    return min(borders, key=lambda border: abs(border - middle), default=None)


def _stripped(text: str, spans: Iterable[Span]) -> list[Span]:
    result = []
    for start, end in spans:
        piece = text[start:end]
        if piece.strip():
            start += len(piece) - len(piece.lstrip())
            result.append((start, start + len(piece.strip())))
    return result
