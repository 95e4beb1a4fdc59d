"""One direction of imports, downwards; the frameworks stay behind their adapters."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ragtrace"

# Highest first: a layer may import from the layers after it, never from those before it.
LAYERS = (
    "cli",
    "demo",
    "langchain",
    "llama_index",
    "report",
    "evaluation",
    "index",
    "postprocessing",
    "boundary",
    "tracing",
    "chunking",
)
HOMES = {
    "langchain": ("langchain", "langchain_core", "langchain_text_splitters", "langchain_classic"),
    "llama_index": ("llama_index", "llama_index_instrumentation"),
}


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write it out"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0]
    if layer not in LAYERS:
        return
    above = LAYERS[: LAYERS.index(layer)]
    if layer == "llama_index":
        above = ("cli", "langchain")
    forbidden = {f"ragtrace.{name}" for name in above}
    bad = {
        name
        for name in imports_of(path)
        if any(name == f or name.startswith(f + ".") for f in forbidden)
    }
    assert not bad, f"{path} imports upwards: {sorted(bad)}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_frameworks_are_imported_only_by_their_adapter(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0]
    for home, packages in HOMES.items():
        if layer == home:
            continue
        bad = {name for name in imports_of(path) if name.split(".")[0] in packages}
        assert not bad, f"{path} imports {sorted(bad)}"


def test_importing_ragtrace_loads_no_framework() -> None:
    code = (
        "import sys, ragtrace, ragtrace.chunking, ragtrace.tracing\n"
        "bad = [m for m in ('langchain_core', 'llama_index', 'spacy', 'numpy.testing')"
        " if m in sys.modules]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
