import importlib

import pytest

from tests.contract.side import Side

SIDES = ("langchain", "llama_index")


def load_side(name: str) -> Side:
    return importlib.import_module(f"tests.contract.{name}_side").side


@pytest.fixture(params=SIDES)
def side(request: pytest.FixtureRequest) -> Side:
    return load_side(request.param)


@pytest.fixture
def sides() -> list[Side]:
    return [load_side(name) for name in SIDES]
