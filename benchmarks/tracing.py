"""What tracing costs: a traced call, a call sampled out, and reading traces back.

Run `python -m benchmarks.tracing`. Ratios are compared with the plain standard library or msgspec
on the same machine in the same minute, since times alone say nothing on another one.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from ragtrace.tracing import Hit, Trace, Tracer, read_traces

HITS = 10
TEXT = "The timeout is five seconds unless the caller sets another one. " * 12

# getrusage would count the process that started this one as well, on Linux.
READ_AND_MEASURE = """
import pathlib, re, resource, sys
from ragtrace.tracing import read_traces
assert sum(1 for _ in read_traces(sys.argv[1])) > 0
status = pathlib.Path("/proc/self/status")
if status.exists():
    print(int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]) << 10)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def make_hits() -> list[Hit]:
    return [
        Hit(
            chunk_id=f"guide.md#c{number}",
            doc_id="guide.md",
            text=TEXT,
            score=0.9 - number / 100,
            rank=number + 1,
            chunk_index=number,
            start=number * 1000,
            end=number * 1000 + len(TEXT),
            heading_path=("Guide", "Timeouts"),
            metadata={"splitter": "sentence-aligned:abc123", "source": "guide.md"},
        )
        for number in range(HITS)
    ]


def percentiles(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the median and the 99th percentile of one call, in microseconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1e6)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.99)]


def best_of(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the fastest run in seconds: the one that the machine disturbed least."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def measure_writing(folder: Path, repeats: int) -> dict[str, float]:
    hits = make_hits()
    tracer = Tracer(folder / "traces.jsonl", run="benchmark", strict=True)

    def traced_call() -> Trace | None:
        call = tracer.start("how long is the timeout?", top_k=HITS, retriever="benchmark")
        return tracer.finish(call, lambda: hits, score_kind="similarity")

    record = traced_call()
    assert record is not None
    plain = json.loads(msgspec.json.encode(record))
    sampled_out = Tracer(folder / "none.jsonl", sample_rate=1e-12, strict=True)

    def skipped_call() -> None:
        call = sampled_out.start("how long is the timeout?", top_k=HITS, retriever="benchmark")
        sampled_out.finish(call, lambda: hits)

    dumps, _ = percentiles(lambda: json.dumps(plain), repeats)
    full, full_99 = percentiles(traced_call, repeats)
    skipped, _ = percentiles(skipped_call, repeats)
    return {
        "json.dumps of the record, µs": dumps,
        "traced call, p50 µs": full,
        "traced call, p99 µs": full_99,
        "traced call / json.dumps (at most 3)": full / dumps,
        "sampled out, p50 µs (at most 5)": skipped,
    }


def write_lines(path: Path, count: int) -> None:
    hits = make_hits()
    with Tracer(path, strict=True).writer as writer:
        tracer = Tracer(writer, strict=True)
        for number in range(count):
            tracer.finish(tracer.start(f"question {number}", top_k=HITS), lambda: hits)


def decode_bare(path: Path) -> int:
    decoder = msgspec.json.Decoder(Trace)
    count = 0
    with path.open("rb") as file:
        for line in file:
            decoder.decode(line)
            count += 1
    return count


def read(path: Path) -> int:
    return sum(1 for _ in read_traces(path, strict=True))


def measure_reading(folder: Path, count: int) -> dict[str, float]:
    path = folder / "many.jsonl"
    write_lines(path, count)
    bare, ours = best_of(lambda: decode_bare(path)), best_of(lambda: read(path))
    child = subprocess.run(
        [sys.executable, "-c", READ_AND_MEASURE, str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    return {
        f"bare msgspec, {count} lines, s": bare,
        f"read_traces, {count} lines, s": ours,
        "read_traces / bare speed (at least 0.5)": bare / ours,
        "memory of the reading process, MB (at most 100)": int(child.stdout) / (1 << 20),
    }


def main(repeats: int = 20_000, lines: int = 20_000) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = measure_writing(folder, repeats) | measure_reading(folder, lines)
    for label, value in figures.items():
        print(f"{label:<52} {value:10.2f}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
