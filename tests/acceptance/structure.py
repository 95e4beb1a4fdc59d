"""What each `op` of a chunking case means."""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tiktoken

from ragtrace.chunking import Chunk

Expectation = dict[str, Any]
WHITE = re.compile(r"\s+")


@dataclass
class Outcome:
    """A text, its chunks, and how the call went."""

    text: str
    chunks: list[Chunk]
    raised: Exception | None
    seconds: float
    configure: Callable[[dict[str, Any]], object]
    exact: bool = True  # offsets refer to `text`; not so for HTML


def squeeze(text: str) -> str:
    return WHITE.sub(" ", text).strip()


def count_tokens(text: str) -> int:
    clean = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return len(tiktoken.get_encoding("cl100k_base").encode(clean, disallowed_special=()))


def occurrences(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def leaves_fence_open(text: str) -> bool:
    """Say whether the text, read alone as CommonMark, ends inside a fence."""
    opened = ""
    for line in re.split(r"\r\n|\n|\r", text):
        body = line
        # Only quote markers continue inside an open fence; list markers are code there.
        markers = r"[ \t]*>[ \t]?" if opened else r"[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]?"
        while match := re.match(markers, body):
            body = body[match.end() :]
        fence = re.match(r"(`{3,}|~{3,})(.*)$", body.strip(" \t"))
        if fence is None:
            continue
        run, info = fence[1], fence[2]
        if not opened:
            opened = "" if run[0] == "`" and "`" in info else run
        elif run[0] == opened[0] and len(run) >= len(opened) and not info.strip():
            opened = ""
    return bool(opened)


def check(expected: Expectation, outcome: Outcome) -> str:
    """Return what is wrong, or an empty string."""
    op = expected["op"]
    if op == "no_raise":
        return repr(outcome.raised) if outcome.raised else ""
    if op == "config_rejected":
        try:
            outcome.configure(expected["params"])
        except ValueError:
            return ""
        return f"{expected['params']} was accepted"
    if outcome.raised is not None:
        return f"raised {outcome.raised!r}"
    if op == "max_seconds":
        limit = expected["s"]
        return "" if outcome.seconds <= limit else f"took {outcome.seconds:.1f} s"
    if op == "any_of":
        tries = [
            [note for part in alternative if (note := check(part, outcome))]
            for alternative in expected["alternatives"]
        ]
        return "" if any(not notes for notes in tries) else str(tries)
    return CHECKS[op](expected, outcome)


def over_budget(expected: Expectation, outcome: Outcome) -> str:
    lengths = [count_tokens(chunk.content) for chunk in outcome.chunks]
    over = [length for length in lengths if length > expected["n"]]
    return f"over {expected['n']}: {over}" if over else ""


def oversize_only_single(expected: Expectation, outcome: Outcome) -> str:
    bad = [
        chunk.index
        for chunk in outcome.chunks
        if count_tokens(chunk.content) > expected["n"]
        and sum(bool(re.search(expected["row"], line)) for line in chunk.content.splitlines()) != 1
    ]
    return f"chunks {bad} are over the budget and hold more than one row" if bad else ""


def exact_slices(_: Expectation, outcome: Outcome) -> str:
    bad = [c.index for c in outcome.chunks if outcome.text[c.start : c.end] != c.text]
    return f"chunks {bad} are not the slice they claim" if bad else ""


def ordered(_: Expectation, outcome: Outcome) -> str:
    starts = [chunk.start for chunk in outcome.chunks]
    good = all(a < b for a, b in itertools.pairwise(starts)) and min(starts, default=0) >= 0
    return "" if good else f"starts {starts}"


def no_overlap(_: Expectation, outcome: Outcome) -> str:
    pairs = zip(outcome.chunks, outcome.chunks[1:], strict=False)
    bad = [b.index for a, b in pairs if a.end > b.start]
    return f"chunks {bad} overlap the one before" if bad else ""


def lossless(_: Expectation, outcome: Outcome) -> str:
    seen = bytearray(len(outcome.text))
    for chunk in outcome.chunks:
        seen[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    lost = [
        at
        for at, character in enumerate(outcome.text)
        if not seen[at] and not character.isspace() and character != "\ufeff"
    ]
    return f"{len(lost)} characters in no chunk, first at {lost[0]}" if lost else ""


def sentence_aligned(expected: Expectation, outcome: Outcome) -> str:
    sentences = [squeeze(sentence) for sentence in expected["sentences"]]
    glue = expected.get("glue", " ")
    runs = {
        glue.join(sentences[i:j])
        for i in range(len(sentences))
        for j in range(i + 1, len(sentences) + 1)
    }
    for chunk in outcome.chunks:
        if squeeze(chunk.content) not in runs:
            return f"not a run of whole sentences: {squeeze(chunk.content)!r}"
    everything = " ".join(squeeze(chunk.content) for chunk in outcome.chunks)
    missing = [sentence for sentence in sentences if sentence not in everything]
    return f"missing {missing}" if missing else ""


def never_split(expected: Expectation, outcome: Outcome) -> str:
    for part in expected["strings"]:
        if any(part in chunk.content for chunk in outcome.chunks):
            whole_everywhere = True
        else:
            places = list(occurrences(outcome.text, part)) if outcome.exact else []
            whole_everywhere = bool(places) and all(
                any(c.start <= at and at + len(part) <= c.end for c in outcome.chunks)
                for at in places
            )
        if not whole_everywhere:
            return f"cut or altered: {part[:60]!r}"
    return ""


def together(expected: Expectation, outcome: Outcome) -> str:
    good = any(all(part in c.content for part in expected["strings"]) for c in outcome.chunks)
    return "" if good else "in no chunk together"


def word_aligned(_: Expectation, outcome: Outcome) -> str:
    bad = [
        chunk.index
        for chunk in outcome.chunks
        if not re.search(r"(?:^|\s)" + re.escape(chunk.content.strip()) + r"(?:\s|$)", outcome.text)
    ]
    return f"chunks {bad} begin or end inside a word" if bad else ""


def heading_path(expected: Expectation, outcome: Outcome) -> str:
    wanted = expected.get("any_of") or [expected["path"]]
    holding = [chunk for chunk in outcome.chunks if expected["contains"] in chunk.content]
    good = holding and all(list(chunk.heading_path) in wanted for chunk in holding)
    return "" if good else f"paths {[chunk.heading_path for chunk in holding]}"


def no_heading_named(expected: Expectation, outcome: Outcome) -> str:
    headings = [
        heading
        for chunk in outcome.chunks
        for path in (chunk.heading_path, *chunk.heading_paths)
        for heading in path
    ]
    bad = [name for name in expected["names"] if any(name in heading for heading in headings)]
    return f"named as headings: {bad}" if bad else ""


def fences_balanced(expected: Expectation, outcome: Outcome) -> str:
    chunks = outcome.chunks[:-1] if expected.get("allow_unclosed_tail") else outcome.chunks
    bad = [chunk.index for chunk in chunks if leaves_fence_open(chunk.content)]
    return f"chunks {bad} leave a fence open" if bad else ""


def fence_info_everywhere(expected: Expectation, outcome: Outcome) -> str:
    opening = r"(?m)^[ \t>]*(?:`{3,}|~{3,})[ ]*" + re.escape(expected["info"])
    bad = [
        chunk.index
        for chunk in outcome.chunks
        if any(line in chunk.content for line in expected["code_lines"])
        and not re.search(opening, chunk.content)
    ]
    return f"chunks {bad} hold code without the info string" if bad else ""


def balanced(expected: Expectation, outcome: Outcome) -> str:
    bad = []
    for chunk in outcome.chunks:
        opened = len(re.findall(expected["open"], chunk.content, re.MULTILINE))
        closed = len(re.findall(expected["close"], chunk.content, re.MULTILINE))
        same = expected["open"] == expected["close"]
        if (opened % 2) if same else (opened != closed):
            bad.append(chunk.index)
    return f"chunks {bad} are unbalanced" if bad else ""


def rows_have_header(expected: Expectation, outcome: Outcome) -> str:
    bad = [
        chunk.index
        for chunk in outcome.chunks
        if any(re.search(expected["row"], line) for line in chunk.content.splitlines())
        and not (expected["header"] in chunk.content and expected["separator"] in chunk.content)
    ]
    return f"chunks {bad} hold rows without the header" if bad else ""


def lines_whole(expected: Expectation, outcome: Outcome) -> str:
    keep_indent = expected.get("keep_indent", True)
    have = set()
    for chunk in outcome.chunks:
        lines = chunk.content.split("\n")
        have.update(line.rstrip() if keep_indent else line.strip() for line in lines)
        have.add(lines[0].strip())
    bad = [
        line
        for line in expected["lines"]
        if (line.rstrip() if keep_indent else line.strip()) not in have
    ]
    return f"cut or altered: {bad[0]!r}" if bad else ""


def no_bad_chars(_: Expectation, outcome: Outcome) -> str:
    def surrogates(text: str) -> bool:
        return any(0xD800 <= ord(character) < 0xE000 for character in text)

    bad = [
        chunk.index
        for chunk in outcome.chunks
        if not chunk.content.strip()
        or ("\ufffd" in chunk.content and "\ufffd" not in outcome.text)
        or (surrogates(chunk.content) and not surrogates(outcome.text))
    ]
    return f"chunks {bad} are empty or hold broken characters" if bad else ""


def text_absent(expected: Expectation, outcome: Outcome) -> str:
    bad = [part for part in expected["strings"] if any(part in c.content for c in outcome.chunks)]
    return f"present: {bad}" if bad else ""


def contains_exact(expected: Expectation, outcome: Outcome) -> str:
    bad = [
        part for part in expected["strings"] if not any(part in c.content for c in outcome.chunks)
    ]
    return f"missing: {bad}" if bad else ""


def chunk_count(expected: Expectation, outcome: Outcome) -> str:
    count = len(outcome.chunks)
    good = expected.get("min", 0) <= count <= expected.get("max", count)
    return "" if good else f"{count} chunks"


CHECKS: dict[str, Callable[[Expectation, Outcome], str]] = {
    "max_tokens": over_budget,
    "oversize_only_single": oversize_only_single,
    "exact_slices": exact_slices,
    "ordered": ordered,
    "no_overlap": no_overlap,
    "lossless": lossless,
    "sentence_aligned": sentence_aligned,
    "never_split": never_split,
    "together": together,
    "word_aligned": word_aligned,
    "heading_path": heading_path,
    "no_heading_named": no_heading_named,
    "fences_balanced": fences_balanced,
    "fence_info_everywhere": fence_info_everywhere,
    "balanced": balanced,
    "rows_have_header": rows_have_header,
    "lines_whole": lines_whole,
    "no_bad_chars": no_bad_chars,
    "text_absent": text_absent,
    "contains_exact": contains_exact,
    "chunk_count": chunk_count,
}
