"""Take an object of the user's own: `module:name`, from where the command is called."""

import importlib
import inspect
import sys
from typing import Any


def load_object(option: str, name: str) -> Any:
    """Return what `module:name` names. Raises `ValueError` where it leads nowhere."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ValueError(f"{option} {name}: expected module:name")
    sys.path.insert(0, "")  # the user's own module lies where the command is called
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        raise ValueError(f"{option} {name}: {error}") from None
    except AttributeError:
        raise ValueError(f"{option} {name}: {module_name} has no {attribute!r}") from None
    finally:
        sys.path.remove("")


def made(found: Any, methods: tuple[str, ...]) -> Any:
    """Return an object as it is, and call what takes nothing and has none of these methods."""
    if not callable(found) or any(hasattr(found, method) for method in methods):
        return found
    needed = [
        parameter
        for parameter in inspect.signature(found).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return found if needed else found()
