"""Reports for programs: JSON, events, Prometheus, limits, comparison, ingestion."""

import json
import logging
import pickle
from pathlib import Path

import msgspec
import pytest
from langchain_core.documents import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import TextNode

from ragtrace.boundary import (
    KINDS,
    BoundaryReport,
    IngestValidator,
    check_limits,
    compare_reports,
    parse_limit,
    read_report,
    to_events,
    to_json,
    to_prometheus,
    validate,
)


def report_of(flawed: int, chunks: int, **settings: object) -> BoundaryReport:
    """Validate chunks of which so many end inside a sentence, each its own document."""
    texts = {
        f"doc{n}": ["It ends in the" if n < flawed else f"It ends in {n}."] for n in range(chunks)
    }
    return validate(texts, **settings)


def test_a_report_survives_json(tmp_path: Path) -> None:
    report = report_of(3, 10, chunk_size=100, length="characters")
    path = tmp_path / "last.json"
    path.write_bytes(to_json(report))
    assert read_report(path) == report == read_report(to_json(report))
    plain = json.loads(path.read_text())
    assert plain["issue_rate"] == 0.3
    assert set(plain["rates"]) == set(KINDS)


@pytest.mark.parametrize("data", [b"{}", b"[1]", b"nonsense", b'{"schema": "ragtrace-boundary/9"}'])
def test_another_file_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(ValueError, match="write it again"):
        read_report(data)


def test_limits_are_read_and_checked() -> None:
    report = report_of(3, 10)
    limits = [parse_limit(text) for text in ("no-sentence-end=5%", "issue-rate=0.3", "gap=0")]
    (broken,) = check_limits(report, limits)
    assert (broken.limit.kind, broken.share) == ("no-sentence-end", 0.3)
    for wrong in ("no-sentence-end", "no-sentence-end=", "gap=120%", "gap=-1", "gap=x", "gaps=1%"):
        with pytest.raises(ValueError, match="limit"):
            parse_limit(wrong)


def test_a_step_is_named_with_its_documents_and_settings_and_noise_is_not() -> None:
    before, after = report_of(2, 200), report_of(40, 200, chunk_size=90, length="characters")
    change = compare_reports(before, after)
    assert not change.passed
    assert {worse.kind for worse in change.worse} == {"issue-rate", "no-sentence-end", "duplicate"}
    assert all(name.startswith("doc") for name in change.worse[0].documents)
    assert "chunk size: None -> 90" in change.settings
    assert compare_reports(after, before).passed
    assert compare_reports(after, before).better
    assert compare_reports(report_of(2, 200), report_of(6, 200)).passed
    assert compare_reports(before, before).passed
    assert compare_reports(validate([]), validate([])).passed


def test_mixed_splitters_are_said() -> None:
    mixed = [
        {"text": f"Number {n}.", "doc_id": "d", "splitter": name} for n, name in enumerate("ab")
    ]
    report = validate(mixed)
    assert list(report.by_splitter) == ["a", "b"]
    assert any("mixed" in line for line in compare_reports(report, report).settings)


def test_events_are_flat_sampled_and_tagged() -> None:
    report = report_of(20, 40, chunk_size=100, length="characters")
    summary, *issues = to_events(report, sample=5, run="nightly")
    assert (summary["event"], summary["chunks"], summary["run"]) == (
        "boundary.summary",
        40,
        "nightly",
    )
    assert len(issues) == 5
    assert {event["chunk_size"] for event in issues} == {100}
    assert all(event["doc_id"].startswith("doc") for event in issues)
    assert list(to_events(report, sample=5, run="nightly")) == [summary, *issues]
    assert not any(isinstance(value, dict | list) for event in issues for value in event.values())


def test_prometheus_reads_the_figures() -> None:
    text = to_prometheus(report_of(3, 10))
    assert 'ragtrace_boundary_issue_rate{splitter="unknown"} 0.3' in text
    assert '{splitter="unknown",kind="no-sentence-end"} 3' in text
    for line in text.splitlines():
        assert line.startswith("#") or line.rsplit(" ", 1)[1].replace(".", "").isdigit()
    quoted = validate([{"text": "One.", "splitter": 'a"b\\c\n'}])
    assert 'splitter="a\\"b\\\\c\\n"' in to_prometheus(quoted)


def five_past() -> float:
    return 5.0


def test_ingestion_is_watched_and_never_broken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "events.jsonl"
    watch = IngestValidator(path, run="r", clock=five_past)
    watch.check(["It ends in the"])
    pickle.loads(pickle.dumps(watch)).check(["All is well."])
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [event["event"] for event in events] == [
        "boundary.summary",
        "boundary.issue",
        "boundary.summary",
    ]
    assert {event["ts"] for event in events} == {5.0}
    with caplog.at_level(logging.WARNING, logger="ragtrace"):
        broken = IngestValidator(tmp_path / "no" / "such" / "folder.jsonl")
        assert broken.check(["One."]) is None
        assert broken.check(["One."]) is None
        assert watch.check([object()]) is None
    assert len(caplog.records) == 2
    with pytest.raises(ValueError, match="chunk_size"):
        IngestValidator(path, chunk_size=0)


def test_both_frameworks_pass_chunks_through(tmp_path: Path) -> None:
    from ragtrace.langchain.validation import ValidateChunks as LangChainValidateChunks
    from ragtrace.llama_index.validation import ValidateChunks as LlamaIndexValidateChunks

    path = tmp_path / "events.jsonl"
    documents = [Document("It ends in the", metadata={"doc_id": "d"})]
    assert LangChainValidateChunks(path).transform_documents(documents) is documents
    nodes = [TextNode(text="It ends in the", id_="n")]
    pipeline = IngestionPipeline(transformations=[LlamaIndexValidateChunks(str(path))])
    assert [node.node_id for node in pipeline.run(nodes=nodes)] == ["n"]
    lines = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    assert [line["event"] for line in lines] == ["boundary.summary", "boundary.issue"] * 2
