"""The JSON Schema of the trace line, made from the structs that write it.

`python -m ragtrace.tracing.json_schema` writes the file that ships with the package.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from ragtrace.tracing.schema import SCHEMA, Trace

SCHEMA_FILE = Path(__file__).with_name("ragtrace-1.schema.json")


def make_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of `ragtrace/1`, in which a newer version's keys are allowed."""
    (reference,), parts = msgspec.json.schema_components([Trace], ref_template="#/$defs/{name}")
    for part in parts.values():
        # The structs refuse unknown keys only to find them quickly; a line may have some.
        part.pop("additionalProperties", None)
        part["properties"].pop("extra", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:ragtrace:{SCHEMA}",
        "title": SCHEMA,
        **reference,
        "$defs": parts,
    }


def schema_text() -> str:
    """Return the schema as it stands in the file."""
    return json.dumps(make_json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
