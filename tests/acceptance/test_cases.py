"""Acceptance: whole cases, each made after a public bug report."""

import time
from pathlib import Path
from typing import Any

import pytest

from ragtrace.boundary import validate
from ragtrace.chunking import Chunk, split
from tests.acceptance.cases import Case, expand_text, load_cases
from tests.acceptance.grading import run_eval_case
from tests.acceptance.merging import run_merge_case
from tests.acceptance.recording import run_trace_case
from tests.acceptance.structure import Outcome, check


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases = load_cases(metafunc.config.getoption("cases"))
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])
    if "probe_case" in metafunc.fixturenames:
        probes = [case for case in cases if "validator_probe" in case]
        metafunc.parametrize("probe_case", probes, ids=[case["id"] for case in probes])


def split_settings(params: dict[str, Any]) -> dict[str, Any]:
    """Map the machine form of a case's call onto `split`."""
    settings: dict[str, Any] = {
        "format": params["mode"],
        "chunk_size": params["budget"],
        "length": params["unit"],
    }
    if params.get("language"):
        settings["language"] = params["language"]
    if params.get("overlap_tokens"):
        settings["chunk_overlap"] = params["overlap_tokens"]
    else:
        settings["overlap_sentences"] = params.get("overlap_sentences", params.get("overlap", 0))
    return settings


def run_split_case(case: Case) -> list[str]:
    text = expand_text(case["input"])
    settings = split_settings(case["params"])
    chunks: list[Chunk] = []
    raised: Exception | None = None
    started = time.perf_counter()
    try:
        chunks = split(text, **settings)
    except Exception as error:
        raised = error
    outcome = Outcome(
        text=text,
        chunks=chunks,
        raised=raised,
        seconds=time.perf_counter() - started,
        configure=lambda params: split("One. Two.", **split_settings({**case["params"], **params})),
        exact=case["params"]["mode"] != "html",
    )
    return [
        f"{expected['op']}: {note} ({expected['say']})"
        for expected in case["expect"]
        if (note := check(expected, outcome))
    ]


def test_case_holds(case: Case, tmp_path: Path) -> None:
    mode = case["params"]["mode"]
    if mode == "merge":
        notes = run_merge_case(case)
    elif mode == "trace":
        notes = run_trace_case(case, tmp_path / "traces.jsonl")
    elif mode == "eval":
        notes = run_eval_case(case, tmp_path)
    else:
        notes = run_split_case(case)
    assert not notes, "\n".join(notes)


def test_validator_reports_the_bad_chunks_and_not_the_good_ones(probe_case: Case) -> None:
    text = expand_text(probe_case["input"])
    probe = probe_case["validator_probe"]
    markup = "markdown" if probe_case["params"]["mode"] == "markdown" else "prose"

    def issues(spans: list[list[int]], *, with_document: bool) -> list[Any]:
        chunks = [
            Chunk("document", index, start, end, text[start:end])
            for index, (start, end) in enumerate(spans)
        ]
        documents = {"document": text} if with_document else None
        return list(validate(chunks, documents=documents, format=markup).issues)

    assert issues(probe["bad_chunks"], with_document=True), probe["bad_must_report"]
    assert not issues(probe["good_chunks"], with_document=True)
