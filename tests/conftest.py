"""Options and settings that every test shares."""

from pathlib import Path

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
