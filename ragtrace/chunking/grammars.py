"""The programming languages that can be read, and the tree-sitter grammars that read them."""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language

# The package of each grammar, and the function in it where there is more than one.
_GRAMMARS = {
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "python": ("tree_sitter_python", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}


@lru_cache(maxsize=len(_GRAMMARS))
def load_grammar(language: str) -> "Language":
    """Load the grammar of a language.

    Raises `ValueError` for a language that is not known and `ImportError` where its grammar is not
    installed.
    """
    if language not in _GRAMMARS:
        raise ValueError(f"language is {language!r}: give one of {', '.join(_GRAMMARS)}")
    package, function = _GRAMMARS[language]
    try:
        from tree_sitter import Language

        grammar = import_module(package)
    except ImportError as error:
        raise ImportError(
            f"language {language!r} needs {package.replace('_', '-')}: "
            "pip install 'ragtrace-kit[code]'"
        ) from error
    return Language(getattr(grammar, function)())
