"""Options and settings that every test shares."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,  # machines are shared: a slow example is not a fault
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")

SHARED_CASES = Path(__file__).parents[2] / "shared" / "cases" / "cases_dev.json"
OWN_CASES = Path(__file__).parent / "acceptance" / "cases.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        type=Path,
        default=SHARED_CASES if SHARED_CASES.exists() else OWN_CASES,
        help="acceptance cases to run (default: the shared ones beside the project, else our own)",
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Name a trace file that does not exist yet."""
    return tmp_path / "traces.jsonl"


@pytest.fixture
def lines(path: Path) -> Callable[[], list[dict[str, Any]]]:
    """Read the trace file as it is at the moment."""

    def read() -> list[dict[str, Any]]:
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]

    return read
