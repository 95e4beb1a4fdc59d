"""`ragtrace validate` and `ragtrace manifest`: chunks that somebody already has."""

import json

import pytest

GUIDE = """# Limits

Requests time out after five seconds. The limit can be set per client or per route.

- the first item is short
- the second item is short too

# Retries

A retry waits twice as long as the one before. After four retries the client gives up.
"""


@pytest.fixture
def exported(tmp_path):
    """Export chunks as plain LangChain code does: no ids, absolute sources, cut at any place."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE)
    rows = [
        {"page_content": GUIDE[start : start + 60].strip(), "metadata": {"source": "/x/guide.md"}}
        for start in range(0, len(GUIDE), 60)
    ]
    (tmp_path / "given.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return rows


def test_the_report_has_a_headline_kinds_and_the_text_around_a_cut(ragtrace, exported):
    result = ragtrace("validate", "given.jsonl", "--documents", "docs")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("issue rate 100.0%: 5 of 5 chunks")
    assert "5 chunks compared with their documents" in result.stdout
    assert "no-sentence-end" in result.stdout
    assert "‖" in result.stdout
    alone = ragtrace("validate", "given.jsonl")
    assert "judged by the chunks alone" in alone.stdout


def test_another_splitter_is_tried_beside_what_was_given(ragtrace, exported):
    tried = ("--try", "heading-path", "--try", "recursive")
    result = ragtrace("validate", "given.jsonl", "--documents", "docs", *tried, "--json")
    assert result.returncode == 0, result.stderr
    reports = json.loads(result.stdout)["reports"]
    assert list(reports) == ["given", "heading-path", "recursive"]
    assert reports["heading-path"]["issue_rate"] < reports["given"]["issue_rate"]
    text = ragtrace("validate", "given.jsonl", "--documents", "docs", *tried).stdout
    assert "lowest issue rate" in text


def test_a_limit_and_a_step_against_the_baseline_fail(ragtrace, tmp_path):
    for name, ending in (("good", "."), ("bad", " and")):
        with (tmp_path / f"{name}.csv").open("w") as file:
            file.write("body,doc_id\n")
            file.writelines(f"The answer is {n}{ending},d{n}\n" for n in range(100))
    column = ("--column", "text=body")
    good = ragtrace("validate", "good.csv", *column, "--save", "last.json", "--max-rate", "gap=0%")
    assert good.returncode == 0, good.stderr
    worse = ragtrace("validate", "bad.csv", *column, "--baseline", "last.json")
    assert worse.returncode == 1
    assert "FAIL no-sentence-end 0.0% -> 100.0%" in worse.stdout
    again = ragtrace("validate", "good.csv", *column, "--baseline", "last.json")
    assert again.returncode == 0
    assert "nothing got worse" in again.stdout
    limited = ragtrace("validate", "bad.csv", *column, "--max-rate", "no-sentence-end=5%")
    assert limited.returncode == 1
    assert "100.0% is over 5.0%" in limited.stdout


def test_events_are_appended_and_prometheus_is_replaced(ragtrace, exported, tmp_path):
    written = ("--events", "events.jsonl", "--prometheus", "ragtrace.prom", "--run", "nightly")
    for _ in range(2):
        assert ragtrace("validate", "given.jsonl", *written).returncode == 0
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events].count("boundary.summary") == 2
    assert {event["run"] for event in events} == {"nightly"}
    assert (tmp_path / "ragtrace.prom").read_text().count("# TYPE") == 3


def test_chunks_come_from_standard_input_folders_and_stores(ragtrace, exported, tmp_path):
    lines = "\n".join(json.dumps({"text": row["page_content"]}) for row in exported)
    assert "of 5 chunks" in ragtrace("validate", "-", given=lines).stdout
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / "a.jsonl").write_text(lines)
    (tmp_path / "exports" / "b.jsonl").write_text(lines)
    assert "of 10 chunks" in ragtrace("validate", "exports").stdout
    assert "of 10 chunks" in ragtrace("validate", "exports/*.jsonl").stdout
    (tmp_path / "kept.py").write_text(
        "from langchain_core.embeddings import DeterministicFakeEmbedding\n"
        "from langchain_core.vectorstores import InMemoryVectorStore\n"
        "def make():\n"
        "    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))\n"
        f"    store.add_texts({[row['page_content'] for row in exported]!r})\n"
        "    return store\n"
    )
    assert "of 5 chunks" in ragtrace("validate", "--store", "kept:make").stdout
    located = ragtrace("manifest", "--store", "kept:make", "--documents", "docs", "-o", "m.jsonl")
    assert "5 of 5 chunks located" in located.stdout, located.stderr


def test_exported_chunks_become_a_manifest_that_the_loop_takes(ragtrace, exported, tmp_path):
    from ragtrace.index import read_manifest

    with (tmp_path / "given.jsonl").open("a") as file:
        file.write('\n{"page_content": "Nobody wrote these words anywhere in the guide at all."}')
    result = ragtrace("manifest", "given.jsonl", "--documents", "docs", "-o", "chunks.jsonl")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("5 of 6 chunks located\n  5 exactly\n  1 ")
    chunks = read_manifest(tmp_path / "chunks.jsonl").chunks
    assert all(GUIDE[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    (tmp_path / "eval.json").write_text(
        '[{"query": "How long does a retry wait?", "gold": [{"quote": "A retry waits twice"}]}]'
    )
    assert ragtrace("eval", "run", "eval.json", "--chunks", "chunks.jsonl").returncode == 0
    asked = ragtrace("analyze", "run.jsonl", "-e", "eval.json", "--chunks", "chunks.jsonl")
    assert "1 questions scored" in asked.stdout
    plain = ("manifest", "given.jsonl", "--documents", "docs", "-o", "chunks.jsonl", "--json")
    assert json.loads(ragtrace(*plain).stdout)["how"] == {"exact": 5}


def test_exports_of_every_framework_keep_their_own_ids(ragtrace, exported, tmp_path):
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    from ragtrace.index import read_manifest

    document = Document(text=GUIDE, id_="guide.md")
    nodes = SentenceSplitter(chunk_size=20, chunk_overlap=0).get_nodes_from_documents([document])
    chonkie = [
        {"id": f"chnk_{n}", "text": GUIDE[n : n + 80], "start_index": n, "token_count": 80}
        for n in range(0, len(GUIDE), 80)
    ]
    for name, rows in (
        ("nodes", [node.to_dict() for node in nodes]),
        ("chonkie", chonkie),
    ):
        ids = {row.get("id_") or row["id"] for row in rows}
        text = "\n".join(json.dumps(row, default=str) for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
        checked = ragtrace("validate", f"{name}.jsonl", "--documents", "docs")
        assert f"{len(rows)} chunks compared" in checked.stdout, checked.stderr
        made = ragtrace("manifest", f"{name}.jsonl", "--documents", "docs", "-o", f"{name}.m.jsonl")
        assert f"{len(rows)} of {len(rows)} chunks located" in made.stdout
        assert {chunk.chunk_id for chunk in read_manifest(f"{name}.m.jsonl").chunks} == ids


def test_the_wrong_documents_give_no_manifest(ragtrace, exported, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "guide.md").write_text("Something else stands here.")
    result = ragtrace("manifest", "given.jsonl", "--documents", "other", "-o", "chunks.jsonl")
    assert result.returncode == 1
    assert "5 are no longer in their document (text-changed)" in result.stdout
    assert not (tmp_path / "chunks.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("validate",), "--store"),
        (("validate", "nowhere.jsonl"), "nowhere.jsonl"),
        (("validate", "empty.jsonl"), "empty.jsonl"),
        (("validate", "given.jsonl", "--max-rate", "typos=5%"), "typos"),
        (("validate", "given.jsonl", "--baseline", "given.jsonl"), "given.jsonl"),
        (("validate", "given.jsonl", "--try", "heading-path"), "--documents"),
        (("validate", "given.jsonl", "--documents", "docs", "--try", "magic"), "magic"),
        (("validate", "given.jsonl", "--column", "body"), "text=body"),
        (("validate", "given.jsonl", "--column", "text=body"), "body"),
        (("validate", "--store", "nowhere:make"), "nowhere"),
        (("manifest", "given.jsonl", "-o", "m.jsonl"), "--documents"),
        (("manifest", "empty.jsonl", "--documents", "docs", "-o", "m.jsonl"), "empty.jsonl"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(ragtrace, exported, tmp_path, arguments, named):
    (tmp_path / "empty.jsonl").write_text("\n")
    result = ragtrace(*arguments)
    assert result.returncode == 2, result.stdout
    assert named in result.stderr
    assert len(result.stderr.splitlines()) == 1
