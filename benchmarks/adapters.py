"""What tracing adds to a retrieval in each framework.

Run `python -m benchmarks.adapters`. A retriever answers with the same ten chunks at once, so that
what is measured is the framework and the wrapper; the bare retriever's time is taken off. Ratios
are to `json.dumps` of the same record on the same machine in the same minute.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ragtrace.tracing import read_traces

HITS = 10
TEXT = "The timeout is five seconds unless the caller sets another one. " * 12
QUERY = "how long is the timeout?"
SKIP = 1e-12  # a share so small that no call is kept, though each has to be decided on

Work = Callable[[], object]
Tracing = Callable[[Path, float], AbstractContextManager[Work]]
"""Gives a call that is traced to a file, with a share of calls to keep."""


def metadata(number: int) -> dict[str, Any]:
    """Return what ragtrace's splitters store beside a chunk."""
    return {
        "source": "guide.md",
        "doc_id": "guide.md",
        "chunk_id": f"guide.md#c{number}",
        "chunk_index": number,
        "start_index": number * 1000,
        "end_index": number * 1000 + len(TEXT),
        "heading_path": "Guide > Timeouts",
        "prefix_length": 0,
        "suffix_length": 0,
        "splitter": "sentence-aligned:abc123",
        "content_hash": "0123456789abcdef",
    }


def trace_langchain() -> tuple[Work, dict[str, Tracing]]:
    """Return a bare call, and the ways to trace it."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    from ragtrace.langchain import TraceCallbackHandler, TracedRetriever

    documents = [
        Document(page_content=TEXT, metadata=metadata(number), id=f"guide.md#c{number}")
        for number in range(HITS)
    ]

    class Fixed(BaseRetriever):
        k: int = HITS

        def _get_relevant_documents(self, query: str, **kwargs: Any) -> list[Document]:
            return documents

    bare = Fixed()

    @contextmanager
    def by_wrapper(path: Path, rate: float) -> Iterator[Work]:
        traced = TracedRetriever(bare, path, sample_rate=rate, strict=True)
        yield lambda: traced.invoke(QUERY)

    @contextmanager
    def by_handler(path: Path, rate: float) -> Iterator[Work]:
        handler = TraceCallbackHandler(path, sample_rate=rate, strict=True)
        yield lambda: bare.invoke(QUERY, {"callbacks": [handler]})

    return lambda: bare.invoke(QUERY), {"wrapper": by_wrapper, "handler": by_handler}


def trace_llama_index() -> tuple[Work, dict[str, Tracing]]:
    """Return a bare call, and the ways to trace it."""
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    from ragtrace.llama_index import TracedRetriever, TraceHandler

    nodes = [
        NodeWithScore(
            node=TextNode(
                text=TEXT,
                metadata=metadata(number),
                id_=f"guide.md#c{number}",
                start_char_idx=number * 1000,
                end_char_idx=number * 1000 + len(TEXT),
            ),
            score=0.9 - number / 100,
        )
        for number in range(HITS)
    ]

    class Fixed(BaseRetriever):
        similarity_top_k = HITS

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return nodes

    bare = Fixed()

    @contextmanager
    def by_wrapper(path: Path, rate: float) -> Iterator[Work]:
        traced = TracedRetriever(bare, path, sample_rate=rate, strict=True)
        yield lambda: traced.retrieve(QUERY)

    @contextmanager
    def by_handler(path: Path, rate: float) -> Iterator[Work]:
        with TraceHandler(path, sample_rate=rate, strict=True):
            yield lambda: bare.retrieve(QUERY)

    return lambda: bare.retrieve(QUERY), {"wrapper": by_wrapper, "handler": by_handler}


def median(work: Work, repeats: int = 500) -> float:
    """Return the median microseconds of one call."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1e6)
    return statistics.median(times)


def measure(bare: Work, tracing: Tracing, folder: Path, rounds: int) -> tuple[float, float, float]:
    """Return `json.dumps`, what a kept call adds and what one sampled out adds, in µs.

    Each is taken from the round that disturbed it least.
    """
    path = folder / "traces.jsonl"
    with tracing(path, 1.0) as work:
        work()
    (trace,) = read_traces(path)
    record = json.loads(msgspec.json.encode(trace))
    times: dict[str, list[float]] = {"bare": [], "dumps": [], "kept": [], "skipped": []}
    for _ in range(rounds):
        times["bare"].append(median(bare))
        times["dumps"].append(median(lambda: json.dumps(record)))
        for rate, name in ((1.0, "kept"), (SKIP, "skipped")):
            with tracing(path, rate) as work:
                times[name].append(median(work))
    path.unlink()
    best = {name: min(values) for name, values in times.items()}
    return best["dumps"], best["kept"] - best["bare"], best["skipped"] - best["bare"]


def main(rounds: int = 7) -> None:
    print("| framework, by | json.dumps, µs | added, µs | ratio (≤ 3) | sampled out, µs (≤ 5) |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for framework, make in (("LangChain", trace_langchain), ("LlamaIndex", trace_llama_index)):
            bare, ways = make()
            for way, tracing in ways.items():
                dumps, kept, skipped = measure(bare, tracing, Path(name), rounds)
                cells = (f"{dumps:.0f}", f"{kept:.0f}", f"{kept / dumps:.1f}", f"{skipped:.0f}")
                print(f"| {framework}, {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
