"""Read documents from the paths a person gives: files, folders, globs, `-`, gzip."""

import glob
import gzip
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ragtrace.chunking.chunk import Chunk

TEXT_SUFFIXES = {
    ".txt": "prose",
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".rst": "prose",
    ".html": "html",
    ".htm": "html",
    ".py": "code",
    ".js": "code",
    ".jsx": "code",
    ".ts": "code",
    ".tsx": "code",
    ".go": "code",
    ".rs": "code",
    ".java": "code",
    ".c": "code",
    ".h": "code",
    ".cc": "code",
    ".cpp": "code",
    ".hpp": "code",
}
LANGUAGES = {
    ".py": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".hpp": "cpp",
}


def find_files(patterns: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield every file with its document id: its path relative to the folder that was named.

    A folder is searched for files with a known suffix, a glob may hold `**`, `-` is standard
    input. Raises `ValueError` where a pattern names nothing.
    """
    for pattern in patterns:
        if pattern == "-":
            yield Path("-"), "stdin"
            continue
        path = Path(pattern)
        if path.is_dir():
            found = [
                (file, file.relative_to(path).as_posix())
                for file in sorted(path.rglob("*"))
                if suffix_of(file) in TEXT_SUFFIXES and file.is_file()
            ]
        elif path.exists():
            found = [(path, path.name)]
        else:
            # Path.glob takes no absolute pattern; this one takes what a shell would.
            names = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
            found = [(Path(name), Path(name).as_posix()) for name in names if Path(name).is_file()]
        if not found:
            raise ValueError(f"{pattern}: no such file, and no folder or glob that holds documents")
        yield from found


def suffix_of(path: Path) -> str:
    """Return the suffix that tells the format, the one before `.gz` where there is one."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def read_text(path: Path) -> str:
    r"""Return a document as it is, `\r\n` and a BOM included.

    Raises `ValueError` for bytes that are not UTF-8, `OSError` for what cannot be opened.
    """
    if path == Path("-"):
        data = sys.stdin.buffer.read()
    elif path.suffix == ".gz":
        with gzip.open(path) as file:
            data = file.read()
    else:
        data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 at byte {error.start}; convert it first") from None


def read_texts(patterns: Iterable[str]) -> dict[str, str]:
    """Return the text of every document that the paths name, by document id."""
    return {doc_id: read_text(path) for path, doc_id in find_files(patterns)}


def read_chunks(path: Path) -> tuple[Chunk, ...]:
    """Read the manifest of an index. Raises `ValueError` naming the file and line that is wrong."""
    from ragtrace.index import read_manifest

    return read_manifest(path).chunks
