"""A gate as a test: `def test_retrieval(ragtrace_gate): ragtrace_gate(retriever, "eval.jsonl")`.

pytest loads this in every project of the environment, so everything is imported where it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ragtrace.chunking import Chunk
    from ragtrace.evaluation import Analysis, EvalSet, GateLimits, GateReport

MOST = 10


class Gate:
    """What the fixture `ragtrace_gate` gives a test; traces go to a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(
        self,
        retriever: Any,
        eval_set: str | Path | EvalSet,
        *,
        baseline: str | Path | Analysis | None = None,
        chunks: str | Path | Iterable[Chunk] | None = None,
        documents: str | Path | Mapping[str, str] | None = None,
        limits: GateLimits | Mapping[str, Any] | None = None,
        k: int = 5,
        top_k: int = 8,
        save: str | Path | None = None,
    ) -> GateReport:
        """Ask every question, hold the run against its limits, and fail the test with the reasons.

        The eval set, the manifest and the documents may be paths or values. `baseline` is what
        `save` or `ragtrace gate --save` wrote, or an analysis. `limits` are those of `GateLimits`.
        Raises `ValueError` for inputs that cannot be read.
        """
        __tracebackhide__ = True
        from pathlib import Path

        import msgspec

        from ragtrace.cli.inputs import read_chunks, read_texts
        from ragtrace.cli.runs import read_saved
        from ragtrace.evaluation import (
            EvalSet,
            GateLimits,
            analyze,
            check_gate,
            load_eval_set,
            run_eval,
        )

        questions = eval_set if isinstance(eval_set, EvalSet) else load_eval_set(eval_set)
        if isinstance(chunks, str | Path):
            chunks = read_chunks(Path(chunks))
        if isinstance(documents, str | Path):
            documents = read_texts([str(documents)])
        if isinstance(baseline, str | Path):
            before = read_saved(str(baseline))
            if before is None:
                raise ValueError(f"baseline {baseline} is no analysis: write one with save=...")
            baseline = before
        if limits is not None and not isinstance(limits, GateLimits):
            limits = msgspec.convert(dict(limits), GateLimits, strict=False)
        if top_k < k:
            raise ValueError(f"top_k is {top_k}: ask for at least the {k} hits that count")
        traces = self._folder / "ragtrace-gate.jsonl"
        traces.unlink(missing_ok=True)  # an earlier call in the same test
        summary = run_eval(retriever, questions, top_k=top_k, trace_path=traces)
        analysis = analyze(traces, questions, chunks=chunks, documents=documents, k=k)
        report = check_gate(analysis, baseline=baseline, limits=limits)
        if save is not None:
            Path(save).write_bytes(msgspec.json.encode(analysis))
        reasons = [f"{one.question_id}: {one.error}" for one in summary.failed[:MOST]]
        if reasons:
            reasons.insert(0, f"{len(summary.failed)} of {len(questions)} retrievals failed")
        for rule in report.rules:
            if not rule.passed:
                reasons.append(f"{rule.rule}: {rule.message}")
                reasons += [f"    {example}" for example in rule.examples[:MOST]]
        if reasons:
            pytest.fail("the gate is shut\n" + "\n".join(reasons), pytrace=False)
        return report


@pytest.fixture
def ragtrace_gate(tmp_path: Path) -> Gate:
    """Return a function that asks a retriever an eval set and fails the test where it fell."""
    return Gate(tmp_path)
