"""The commands as a person calls them: exit codes, and one line for every mistake."""

import json
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def one_line(result) -> str:
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.stderr
    return lines[0]


def test_help_names_every_command_and_the_readme_does_too(ragtrace):
    result = ragtrace("--help")
    assert result.returncode == 0
    listing = result.stdout.split("Commands:")[1]
    commands = re.findall(r"^  (\w[\w-]*)  +\S", listing, re.MULTILINE)
    assert {"demo", "split", "analyze", "diff", "gate"} <= set(commands)
    readme = README.read_text(encoding="utf-8")
    missing = [name for name in commands if f"ragtrace {name}" not in readme]
    assert not missing


def test_version_is_printed(ragtrace):
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", ragtrace("--version").stdout)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("split", "nowhere.md"), "nowhere.md"),
        (("split", "a.txt", "--chunk-size", "0"), "chunk_size"),
        (("split", "a.txt", "--chunk-size", "many"), "--chunk-size"),
        (("split", "a.txt", "--length", "cl200k"), "cl200k"),
        (("split", "a.txt", "--format", "docx"), "docx"),
        (("sing",), "sing"),
        (("split", "--loud", "a.txt"), "--loud"),
        (("analyze", "t.jsonl"), "--eval-set"),
        (("analyze", "t.jsonl", "-e", "nowhere.json"), "nowhere.json"),
        (("analyze", "t.jsonl", "-e", "a.txt"), "a.txt"),
        (("analyze", "nowhere.jsonl", "-e", "e.json"), "nowhere.jsonl"),
        (("analyze", "t.jsonl", "-e", "e.json", "--chunks", "a.txt"), "a.txt"),
        (("analyze", "t.jsonl", "-e", "bad.json"), "item 2"),
        (("gate", "t.jsonl"), "--eval-set"),
        (("gate", "a.json"), "a.json"),
        (("demo", "--framework", "haystack"), "haystack"),
        (("analyze", "e.json", "-e", "e.json"), "no trace to judge"),
        (("inspect", "t.jsonl", "-e", "e.json"), "no trace to judge"),
        (("report", "t.jsonl", "-e", "e.json", "-o", "r.html"), "no trace to judge"),
        (("diff", "t.jsonl", "t.jsonl", "-e", "e.json"), "no trace to judge"),
        (("split", "a.txt", "-o", "nowhere/chunks.jsonl"), "there is no folder nowhere"),
        (("eval", "run", "e.json", "--chunks", "."), "a folder; give a file"),
        (("eval", "run", "nowhere.json", "--chunks", "a.txt"), "nowhere.json: no such file"),
        (("eval", "run", "e.json"), "--retriever"),
        (("eval", "run", "e.json", "--retriever", "nowhere:x"), "nowhere"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(ragtrace, tmp_path, arguments, named):
    (tmp_path / "a.txt").write_text("One. Two.")
    (tmp_path / "a.json").write_text('{"k": "five"}')
    (tmp_path / "t.jsonl").write_text("")
    (tmp_path / "e.json").write_text('[{"query": "q", "expected_chunk_ids": ["a#c0"]}]')
    (tmp_path / "bad.json").write_text('[{"query": "q", "expected_chunk_ids": ["a#c0"]}, {}]')
    result = ragtrace(*arguments)
    assert result.returncode == 2, result.stdout
    assert named in one_line(result)


def test_split_writes_a_line_a_chunk_and_reads_standard_input(ragtrace):
    result = ragtrace("split", "-", "--chunk-size", 4, given="One two. Three four.\r\n")
    assert result.returncode == 0
    header, *chunks = map(json.loads, result.stdout.splitlines())
    assert header["schema"] == "ragtrace-manifest/1"
    assert [chunk["text"] for chunk in chunks] == ["One two.", "Three four."]
    assert [chunk["chunk_id"] for chunk in chunks] == ["stdin#c0", "stdin#c1"]


def test_split_survives_a_file_it_cannot_read_and_names_it(ragtrace, tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nText.\n")
    (folder / "deep" / "b.txt").write_text("Plain text.")
    (folder / "c.md").write_bytes(b"\xff\xfe\x00 not text")
    result = ragtrace("split", folder, "-o", tmp_path / "chunks.jsonl")
    assert result.returncode == 1
    assert "c.md: not UTF-8 at byte 0" in result.stderr
    rows = [json.loads(line) for line in (tmp_path / "chunks.jsonl").read_text().splitlines()]
    assert [row["doc_id"] for row in rows[1:]] == ["a.md", "deep/b.txt"]
    assert rows[1]["heading_path"] == ["A"]


def test_what_split_writes_is_a_manifest(ragtrace, tmp_path):
    from ragtrace.index import read_manifest

    (tmp_path / "a.md").write_text("# A\n\nOne.\n\n# B\n\nTwo.\n")
    assert ragtrace("split", "a.md", "-o", "chunks.jsonl").returncode == 0
    manifest = read_manifest(tmp_path / "chunks.jsonl")
    assert [chunk.heading_path for chunk in manifest.chunks] == [("A",), ("B",)]


def test_split_tells_formats_by_their_suffix_and_keeps_the_text_of_html(ragtrace, tmp_path):
    from ragtrace.index import read_manifest

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.html").write_text("<h1>A</h1><p>One &amp; <b>two</b>.</p>")
    (tmp_path / "docs" / "b.go").write_text("package b\n\nfunc One() int {\n\treturn 1\n}\n")
    assert ragtrace("split", "docs", "-o", "chunks.jsonl", "--chunk-size", 12).returncode == 0
    manifest = read_manifest(tmp_path / "chunks.jsonl")
    page, *code = manifest.chunks
    assert manifest.documents["a.html"].text[page.start : page.end] == page.text
    assert page.text == "# A\n\nOne & two."
    assert {chunk.kind for chunk in code} == {"code"}
    assert code[-1].heading_path == ("One",)


@pytest.mark.parametrize("arguments", [(), ("eval",)])
def test_a_group_without_a_command_shows_the_commands_as_its_help_does(ragtrace, arguments):
    result = ragtrace(*arguments)
    assert result.returncode == 2
    assert result.stderr == ragtrace(*arguments, "--help").stdout


def test_inspect_does_not_say_that_all_is_well_where_nothing_was_judged(ragtrace, tmp_path):
    (tmp_path / "a.txt").write_text("One two three.")
    (tmp_path / "asked.json").write_text('[{"query": "three", "gold": [{"quote": "One two"}]}]')
    (tmp_path / "other.json").write_text('[{"query": "four", "gold": [{"quote": "One two"}]}]')
    ragtrace("split", "a.txt", "-o", "chunks.jsonl")
    ragtrace("eval", "run", "asked.json", "--chunks", "chunks.jsonl", "--trace-path", "t.jsonl")
    result = ragtrace("inspect", "t.jsonl", "-e", "other.json")
    assert result.stdout.startswith("no question has both a trace and a usable label")
    assert ragtrace("inspect", "t.jsonl", "-e", "asked.json").stdout == "no question failed\n"


def test_split_says_where_the_chunks_are_and_keeps_standard_output_clean(ragtrace, tmp_path):
    (tmp_path / "a.txt").write_text("One two three.")
    result = ragtrace("split", "a.txt", "-o", "chunks.jsonl")
    assert (result.stdout, result.stderr) == ("", "chunks.jsonl: 1 of 1 documents split\n")


@pytest.mark.parametrize("columns", ["60", "80"])
def test_piped_output_is_as_wide_as_columns_says(ragtrace, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    (tmp_path / "a.txt").write_text("One two three.")
    (tmp_path / "e.json").write_text('[{"query": "three", "gold": [{"quote": "One two"}]}]')
    ragtrace("split", "a.txt", "-o", "chunks.jsonl")
    ragtrace("eval", "run", "e.json", "--chunks", "chunks.jsonl", "--trace-path", "t.jsonl")
    result = ragtrace("inspect", "t.jsonl", "-e", "e.json", "--all")
    assert len(result.stdout.splitlines()[0]) == int(columns)
