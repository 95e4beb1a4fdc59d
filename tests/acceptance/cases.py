"""Read acceptance cases: generated texts and values that JSON cannot hold."""

import base64
import datetime
import hashlib
import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

Case = dict[str, Any]


def load_cases(path: Path) -> list[Case]:
    return json.loads(path.read_text(encoding="utf-8"))


def expand_text(given: Any) -> str:
    """Return the input text of a case: a string, or a small generator description."""
    if isinstance(given, str):
        return given
    if "$surrogate" in given:
        return decode_surrogates(given["$surrogate"])
    kind = given["generator"]
    if kind == "join":
        return "".join(expand_text(part) for part in given["parts"])
    if kind == "repeat":
        middle = given["unit"] * given["times"]
    elif kind == "sha256_base64":
        digests = (hashlib.sha256(str(n).encode()).digest() for n in range(given["count"]))
        middle = base64.b64encode(b"".join(digests)).decode()
    else:
        raise ValueError(f"unknown generator {kind!r}")
    return given.get("prefix", "") + middle + given.get("suffix", "")


def decode_surrogates(text: str) -> str:
    def decode(match: re.Match[str]) -> str:
        units = b"".join(
            int(unit, 16).to_bytes(2, "little") for unit in re.findall("[0-9a-fA-F]{4}", match[0])
        )
        return units.decode("utf-16-le", "surrogatepass")

    return re.sub(r"(?:\\u[0-9a-fA-F]{4})+", decode, text)


class Opaque:
    """An object that no serialiser knows."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<Opaque {self.name}>"


TAGS: dict[str, Callable[[Any], Any]] = {
    "$float32": np.float32,
    "$int64": np.int64,
    "$float": float,
    "$datetime": datetime.datetime.fromisoformat,
    "$date": datetime.date.fromisoformat,
    "$uuid": uuid.UUID,
    "$ndarray": np.array,
    "$path": PurePosixPath,
    "$set": set,
    "$bytes": bytes.fromhex,
    "$surrogate": decode_surrogates,
    "$object": Opaque,
}


def decode_values(value: Any) -> Any:
    """Replace every tagged value by the object it stands for."""
    if isinstance(value, list):
        return [decode_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "generator" in value:
        return expand_text(value)
    if len(value) == 1:
        [(tag, content)] = value.items()
        if tag in TAGS:
            return TAGS[tag](decode_values(content))
    return {key: decode_values(item) for key, item in value.items()}
