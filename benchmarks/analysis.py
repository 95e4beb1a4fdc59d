"""What it costs to analyse many traces: time beside bare decoding, and memory.

Run `python -m benchmarks.analysis [--lines 100000]`. A trace file is made of so many records of
about 2.9 kB (ten hits with snippets, scores, spans and headings), asked by 500 labelled questions
and by 2,000 others. Each figure comes from a process of its own: decoding every line with msgspec
into the type of a trace and nothing else, `read_traces`, and `analyze`. Memory is the most that
process held. A million lines take 3 GB of the temporary folder. Judging 500 questions is a fixed
.2 s of `analyze`, which weighs on a short file.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragtrace.tracing import Trace, TraceHit

HITS = 10
LABELLED = 500
OTHERS = 2_000
DOCUMENTS = 1_000
BYTES = 3_000
TEXT = (
    "request timeout client retry socket server header token cache index document chunk answer "
    "question limit value second minute network error message field default option returns when "
    "is the of and to a in for with that by on from it be as at or not are this can"
)
WORDS = TEXT.split(" ")

WORK = """
import json, pathlib, re, resource, sys, time
path, eval_path, part = sys.argv[1:]
if part == "bare":
    import msgspec
    from ragtrace.tracing import Trace
    decode = msgspec.json.Decoder(Trace).decode
    def work():
        count = 0
        with open(path, "rb") as file:
            for line in file:
                decode(line)
                count += 1
        return count
elif part == "read":
    from ragtrace.tracing import read_traces
    def work():
        return sum(1 for _ in read_traces(path))
else:
    from ragtrace.evaluation import analyze, load_eval_set
    eval_set = load_eval_set(eval_path)
    def work():
        analysis = analyze(path, eval_set)
        assert len(analysis.questions) == len(eval_set), analysis.traces
        return analysis.traces.read
started = time.perf_counter()
count = work()
seconds = time.perf_counter() - started
# getrusage would count the process that started this one as well, on Linux.
status = pathlib.Path("/proc/self/status")
if status.exists():
    memory = int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]) << 10
else:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([count, seconds, memory]))
"""


class Cost(NamedTuple):
    """What one way through the file took: traces, seconds, bytes of memory."""

    count: int
    seconds: float
    memory: int


def make_trace(number: int, random: random.Random) -> Trace:
    """Make one record, as live traffic leaves it."""
    asked = number if number < LABELLED else random.randrange(LABELLED + OTHERS)
    hits = []
    for rank in range(1, HITS + 1):
        document = f"guide-{random.randrange(DOCUMENTS):03}.md"
        index = random.randrange(40)
        start = index * 900
        hits.append(
            TraceHit(
                rank=rank,
                chunk_id=f"{document}#c{index}",
                doc_id=document,
                score=1 / (rank + random.random()),
                snippet=" ".join(random.choices(WORDS, k=24))[:120],
                chunk_index=index,
                start=start,
                end=start + 880,
            )
        )
    return Trace(
        id=f"{random.getrandbits(128):032x}",
        ts=1_760_000_000.0 + number,
        query=f"what is the limit of value {asked}?",
        top_k=HITS,
        hits=tuple(hits),
        latency_ms=random.expovariate(1 / 20),
        score_kind="similarity",
        retriever="VectorStoreRetriever",
        run="live",
    )


def write_traces(path: Path, lines: int) -> None:
    """Write the file; the same for the same number of lines."""
    source = random.Random(7)
    with path.open("wb") as file:
        for number in range(lines):
            file.write(msgspec.json.encode(make_trace(number, source)) + b"\n")


def write_questions(path: Path) -> None:
    """Write the labelled questions, whose labels are spans of the documents."""
    rows = [
        {
            "query": f"what is the limit of value {number}?",
            "gold": [{"doc_id": f"guide-{number:03}.md", "start": 1000, "end": 1200}],
        }
        for number in range(LABELLED)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")


def measure(folder: Path, lines: int, rounds: int) -> dict[str, Cost]:
    """Take the quickest of some rounds for each way: the one that the machine disturbed least."""
    traces, questions = folder / "traces.jsonl", folder / "eval.json"
    write_traces(traces, lines)
    write_questions(questions)
    costs: dict[str, Cost] = {}
    for _ in range(rounds):
        for part in ("bare", "read", "analyze"):
            child = subprocess.run(
                [sys.executable, "-c", WORK, str(traces), str(questions), part],
                check=True,
                capture_output=True,
                text=True,
            )
            cost = Cost(*json.loads(child.stdout))
            costs[part] = min(cost, costs.get(part, cost), key=lambda one: one.seconds)
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.lines < LABELLED:
        raise SystemExit(f"--lines: at least {LABELLED}, one for each labelled question")
    if shutil.disk_usage(tempfile.gettempdir()).free < 2 * BYTES * given.lines:
        raise SystemExit(f"{given.lines} lines need more room than the temporary folder has")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        costs = measure(folder, given.lines, given.rounds)
        size = (folder / "traces.jsonl").stat().st_size
    print(f"{given.lines} traces, {size / given.lines:.0f} bytes each, {size / 1e6:.0f} MB\n")
    bare = costs["bare"].seconds
    print(f"{'':10}{'seconds':>9}{'µs each':>9}{'of bare speed':>15}{'MB of memory':>14}")
    for part, cost in costs.items():
        print(
            f"{part:10}{cost.seconds:9.2f}{1e6 * cost.seconds / cost.count:9.1f}"
            f"{bare / cost.seconds:15.2f}{cost.memory / (1 << 20):14.0f}"
        )
    print("\nwanted: at least 0.5 of the speed of bare decoding, at most 100 MB")
    print(f"({time.perf_counter() - started:.0f} s in all)")


if __name__ == "__main__":
    main()
