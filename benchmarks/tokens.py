"""tiktoken without a network, for the peers that are measured."""

import os
from importlib.util import find_spec
from pathlib import Path


def use_bundled_tables() -> None:
    """Point tiktoken at the cl100k_base and o200k_base tables that llama-index-core carries."""
    spec = find_spec("llama_index")
    for folder in spec.submodule_search_locations or [] if spec else []:
        tables = Path(folder) / "core" / "_static" / "tiktoken_cache"
        if tables.exists():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(tables))
