"""The command line in this process, as the `ragtrace` fixture."""

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ragtrace.cli import main


class Outcome(NamedTuple):
    """What a shell would see of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def ragtrace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Call the command as its entry point does, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, given: str = "") -> Outcome:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["ragtrace", *map(str, arguments)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as stop,
            ):
                main()
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode())
        return Outcome(int(stop.value.code or 0), *texts)

    return run
