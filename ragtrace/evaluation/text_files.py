"""Read a text file, compressed or from standard input."""

import gzip
import sys
from pathlib import Path


def read_text(name: str) -> str:
    """Read a text file, `.gz` and `-` included, without its byte order mark."""
    if name == "-":
        return sys.stdin.read().removeprefix("\ufeff")
    data = Path(name).read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}: not UTF-8 at byte {error.start}; save the file as UTF-8"
        ) from None
    except (gzip.BadGzipFile, EOFError):
        raise ValueError(f"{name}: the compressed file is damaged") from None
