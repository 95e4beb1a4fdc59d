"""What each `op` of a trace case means."""

import json
import threading
import time
from pathlib import Path
from typing import Any

from ragtrace.tracing import Trace, TracedRetriever, TraceWriter, read_traces
from tests.acceptance.cases import Case, decode_values

NEWLINE = b"\n"


def run_trace_case(case: Case, path: Path) -> list[str]:
    given = decode_values(case["input"])
    before = repr(given)
    started = time.perf_counter()
    writer = TraceWriter(path)
    try:
        record(given, case["params"].get("times", 1), writer)
        traces, skipped = read_everything(path)
    except Exception as error:
        return [f"raised {error!r}"]
    seconds = time.perf_counter() - started
    unchanged = repr(given) == before
    notes = []
    for expected in case["expect"]:
        op = expected["op"]
        if op == "max_seconds":
            note = "" if seconds <= expected["s"] else f"took {seconds:.1f} s"
        elif op == "inputs_unchanged":
            note = "" if unchanged else "the results given to the caller were altered"
        elif op == "reports_bad_lines":
            note = "" if len(skipped) == expected["n"] else f"skipped {skipped}"
        elif op == "strict_mode_raises":
            note = check_strict(path, [skip.line for skip in skipped])
        elif op == "write_after_close":
            note = check_write_after_close(writer, path, traces)
        else:
            note = check_records(expected, traces, path.read_bytes())
        if note:
            notes.append(f"{op}: {note} ({expected['say']})")
    return notes


def record(given: dict[str, Any], times: int, writer: TraceWriter) -> None:
    if "threads" in given:
        record_in_threads(given, writer)
    elif "file_steps" in given:
        for step in given["file_steps"]:
            if "append_raw" in step:
                with writer.path.open("ab") as file:
                    file.write(step["append_raw"].encode())
            else:
                # A new writer each time: the process after a crash is a new process.
                with TraceWriter(writer.path) as fresh:
                    for number in range(step["write_records"]):
                        retriever(fresh, [], None).retrieve(f"query {number}")
    else:
        results = given["results"]
        error = given.get("error")
        for _ in range(times):
            retriever(writer, results, error).retrieve(given["query"], top_k=len(results))


def retriever(writer: TraceWriter, results: list[Any], error: Any) -> TracedRetriever:
    def search(query: str, top_k: int) -> list[Any]:
        if error:
            raise RuntimeError(error)
        return results

    return TracedRetriever(search, writer, metadata_keys="*", keep_text=True)


def record_in_threads(given: dict[str, Any], writer: TraceWriter) -> None:
    results = [{"id": "a#c0", "text": "x" * given["text_chars"], "score": 0.5, "metadata": {}}]

    def work(thread: int) -> None:
        for number in range(given["records_per_thread"]):
            marker = given["marker"].format(thread=thread, n=number)
            retriever(writer, results, None).retrieve(marker)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(given["threads"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def read_everything(path: Path) -> tuple[list[Trace], list[Any]]:
    reader = read_traces(path)
    traces = list(reader)
    return traces, list(reader.skipped)


def check_strict(path: Path, lines: list[int]) -> str:
    try:
        list(read_traces(path, strict=True))
    except ValueError as error:
        return "" if str(lines[0]) in str(error) else f"does not name line {lines[0]}: {error}"
    return "strict reading did not raise"


def check_write_after_close(writer: TraceWriter, path: Path, traces: list[Trace]) -> str:
    writer.close()
    try:
        retriever(writer, [], None).retrieve("after close")
    except ValueError:
        return ""
    now = read_everything(path)[0]
    return "" if len(now) == len(traces) + 1 else "a record after close was lost silently"


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def check_records(expected: dict[str, Any], traces: list[Trace], raw: bytes) -> str:
    op = expected["op"]
    lines = [line for line in raw.split(NEWLINE) if line]
    if op == "no_raise":
        return ""
    if op == "line_count":
        return "" if len(lines) == expected["n"] else f"{len(lines)} lines"
    if op == "newline_bytes":
        return "" if raw.count(NEWLINE) == expected["n"] else f"{raw.count(NEWLINE)} newlines"
    if op == "each_line_strict_json":
        for line in lines:
            json.loads(line.decode("utf-8"), parse_constant=refuse_constant)
        return ""
    if op == "records_read":
        return "" if len(traces) == expected["n"] else f"{len(traces)} records"
    if op == "markers_unique":
        queries = [trace.query for trace in traces]
        return "" if len(queries) == len(set(queries)) else "a marker is there twice"
    if op == "query_equals":
        good = all(trace.query == expected["query"] for trace in traces)
        return "" if good else f"{[trace.query for trace in traces]}"
    hits = traces[0].hits
    if op == "score_equals":
        scores = [hit.score for hit in hits]
        return "" if scores == expected["scores"] else f"scores {scores}"
    if op == "text_equals":
        good = all([hit.text for hit in trace.hits] == expected["texts"] for trace in traces)
        return "" if good else f"texts {[hit.text for hit in hits]}"
    if op == "metadata_contains":
        text = json.dumps([hit.metadata for hit in hits], ensure_ascii=False)
        missing = [part for part in expected["strings"] if part not in text]
        return f"missing {missing}" if missing else ""
    raise NotImplementedError(op)
