"""Decide which calls are kept: the same ones in every process, from a hash."""

from hashlib import blake2b
from typing import Literal

SampleBy = Literal["id", "query"]


def is_sampled(key: str, rate: float) -> bool:
    """Say whether the call with this key is among the share `rate` that is kept.

    >>> is_sampled("0123456789abcdef0123456789abcdef", 1.0)
    True
    """
    if rate >= 1.0:
        return True
    if rate <= 0.0:
        return False
    # Hashed, since the variant bits of a UUID would pin the fraction it stands for.
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) < rate * 2**64
