"""How a component's settings are checked, written down and read back."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from llama_index.core.bridge.pydantic import BeforeValidator, PlainSerializer, ValidationError
from llama_index.core.schema import BaseComponent


class CheckedSettings(BaseComponent):
    """Refuse wrong settings when a component is made, in one line each."""

    if not TYPE_CHECKING:  # type checkers read the signature from the fields

        def __init__(self, **settings: Any) -> None:
            cls = type(self)
            unknown = sorted(set(settings) - set(cls.model_fields))
            if unknown:
                known = ", ".join(sorted(cls.model_fields))
                raise ValueError(f"{cls.__name__} has no {', '.join(unknown)}: it takes {known}")
            try:
                super().__init__(**settings)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                field = ".".join(str(part) for part in first["loc"])
                raise ValueError(f"{cls.__name__}: {field}: {_reason(first)}") from None
            self._check()

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serialises the component under."""
        return f"ragtrace.{cls.__name__}"

    def _check(self) -> None:
        """Raise `ValueError` for settings that do not go together."""


def _reason(error: Any) -> str:
    return str(error.get("ctx", {}).get("error") or error["msg"])


def _write_function(value: Any) -> Any:
    """Name a function, so that a cache key tells two of them apart."""
    if value is None or isinstance(value, str):
        return value
    kind: Any = type(value)
    name = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '')}"
    if _is_found(value, name):
        return {"function": name}
    if hasattr(value, "__code__") or kind.__repr__ is object.__repr__:
        # A lambda or closure says nothing about itself: better a cache that never hits than one
        # that takes it for another.
        return {"function": f"{name}@{id(value):x}"}
    return {"function": repr(value)}


def _is_found(value: Any, name: str) -> bool:
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is value


def _refuse_name(value: Any) -> Any:
    # A name read from a file is not looked up: settings must not decide which code runs.
    if isinstance(value, dict) and "function" in value:
        raise ValueError(
            f"was the function {value['function']!r}, which a dictionary cannot hold: "
            "pass it again by keyword, from_dict(data, ...)"
        )
    return value


Function = Annotated[Any, BeforeValidator(_refuse_name), PlainSerializer(_write_function)]
"""A setting that may be a function; a dictionary keeps its name, and pickle the function."""
