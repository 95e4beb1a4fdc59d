"""The README's code runs, and its commands do what they say."""

import re
import shlex
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^>]*?) -->\n)?```(?P<info>\w*)\n(?P<body>.*?)```\n", re.DOTALL
)
BLOCKS = [(match["mark"] or "", match["info"], match["body"]) for match in BLOCK.finditer(README)]
SNIPPETS = [body for _, info, body in BLOCKS if info == "python"]
COMMANDS = [
    line for mark, _, body in BLOCKS if mark == "run" for line in body.splitlines() if line.strip()
]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_python_runs(snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "README.md", "exec"), {"__name__": "readme"})


def test_the_loop_runs_from_label_to_gate(ragtrace, tmp_path: Path) -> None:
    for mark, _, body in BLOCKS:
        if mark.startswith("file: "):
            path = tmp_path / mark.removeprefix("file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
    outputs = {}
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        assert program == "ragtrace"
        outcome = ragtrace(*arguments)
        assert outcome.returncode == 0, (command, outcome.stdout, outcome.stderr)
        outputs[arguments[0], arguments[1]] = outcome.stdout
    assert "cut" in outputs["analyze", "before.jsonl"]
    assert "won:" in outputs["diff", "before.jsonl"]
    assert "ok   floor" in outputs["gate", "after.jsonl"]


def test_the_test_command_is_where_ci_looks_for_it() -> None:
    [command] = [body.strip() for mark, _, body in BLOCKS if mark == "test command"]
    assert command.startswith("pip install -e '.[dev]' && pytest")
