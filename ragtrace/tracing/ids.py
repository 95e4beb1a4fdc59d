"""Ids of traces: 32 hexadecimal digits, wherever they come from."""

import os
import re
from hashlib import blake2b
from typing import Any
from uuid import UUID

_HEX = re.compile("[0-9a-f]{32}")


def new_id() -> str:
    """Return a random id, safe after a fork."""
    return os.urandom(16).hex()


def trace_id(value: Any) -> str:
    """Return a framework's id as 32 hex digits, always the same for the same id.

    UUIDs keep their digits; any other name is hashed.

    >>> trace_id("01234567-89ab-cdef-0123-456789abcdef")
    '0123456789abcdef0123456789abcdef'
    """
    if isinstance(value, UUID):
        return value.hex
    digits = str(value)
    if _HEX.fullmatch(digits):
        return digits
    plain = digits.replace("-", "").lower()
    if _HEX.fullmatch(plain):
        return plain
    return blake2b(digits.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
