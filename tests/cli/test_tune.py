"""`ragtrace tune`: a grid in one command."""

import json

import pytest

GUIDE = """# Limits

Requests time out after five seconds. The limit can be set per client or per route.

# Retries

A retry waits twice as long as the one before. After four retries the client gives up.
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE)
    question = {
        "query": "How long does a retry wait?",
        "gold": [{"quote": "A retry waits twice as long as the one before."}],
    }
    (tmp_path / "e.json").write_text(json.dumps([question]))
    (tmp_path / "ids.json").write_text('[{"query": "q", "expected_chunk_ids": ["a#c0"]}]')
    (tmp_path / "factories.py").write_text(
        "from ragtrace.index import Bm25Retriever\n"
        "def make(chunks):\n"
        "    return Bm25Retriever(chunks)\n"
        "def broken(chunks):\n"
        "    def search(query, top_k):\n"
        "        raise RuntimeError('down')\n"
        "    return search\n"
        "number = 3\n"
    )
    return tmp_path


TUNE = ("tune", "--documents", "docs", "-e", "e.json", "--length", "words", "-k", 2)


def test_the_grid_is_printed_best_first_and_kept(ragtrace, project):
    splitters = "sentence-aligned,heading-path,recursive"
    wanted = ("--splitters", splitters, "--sizes", "4,12", "--overlaps", "0,1")
    result = ragtrace(*TUNE, *wanted)
    assert result.returncode == 0, result.stderr
    rows = [line for line in result.stdout.splitlines() if " 4" in line or " 12" in line]
    assert (
        len([row for row in rows if row.lstrip("* ").startswith(tuple(splitters.split(",")))]) == 12
    )
    assert rows[0].startswith("* ")
    assert "12 trials; chunks" in result.stdout
    again = ragtrace(*TUNE, *wanted, "--json")
    tuning = json.loads(again.stdout)
    assert tuning["reused"] == 12
    values = [trial["whole_recall"]["value"] for trial in tuning["trials"] if trial["is_best"]]
    assert values[0] == 1.0
    command = result.stdout.split("next: ragtrace ")[1].split()[:4]
    report = ragtrace(*command, "-e", "e.json", "-o", "r.html")
    assert report.returncode == 0, report.stderr


def test_a_retriever_factory_is_used(ragtrace, project):
    sizes = ("--sizes", "12", "--splitters", "sentence-aligned")
    mine = ragtrace(*TUNE, *sizes, "--retriever-factory", "factories:make", "--json")
    assert json.loads(mine.stdout)["trials"][0]["whole_recall"]["value"] == 1.0
    broken = ragtrace(*TUNE, *sizes, "--retriever-factory", "factories:broken")
    assert broken.returncode == 1
    assert "1 retrievals failed" in broken.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--sizes", "200,many"), "--sizes"),
        (("--sizes", "0"), "--sizes"),
        (("--overlaps", "-1"), "--overlaps"),
        (("--splitters", "magic"), "magic"),
        (("--length", "cl200k"), "cl200k"),
        (("--retriever-factory", "factories:number"), "factories:number"),
        (("--retriever-factory", "factories"), "module:name"),
        (("-e", "ids.json"), "quote"),
        (("--documents", "nowhere"), "nowhere"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(ragtrace, project, arguments, named):
    result = ragtrace(*TUNE, *arguments)
    assert result.returncode == 2, result.stdout
    assert named in result.stderr
    assert len(result.stderr.splitlines()) == 1
