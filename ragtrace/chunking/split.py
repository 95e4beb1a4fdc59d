"""Split a document into chunks."""

import logging
from collections.abc import Iterator
from numbers import Integral
from typing import Literal

from ragtrace.chunking.chunk import Chunk
from ragtrace.chunking.decoration import Decorator
from ragtrace.chunking.entries import Piece
from ragtrace.chunking.lengths import Length, length_function, make_ruler
from ragtrace.chunking.outline import Parser, fill_gaps
from ragtrace.chunking.packing import PackSettings
from ragtrace.chunking.prose import outline_prose
from ragtrace.chunking.sentences import RuleSegmenter, Segmenter
from ragtrace.chunking.windows import WindowPacker

FORMATS = ("prose", "markdown", "html", "code")

_SEGMENTER = RuleSegmenter()  # has no state, but takes a while to make
_log = logging.getLogger("ragtrace")


def split(
    text: str,
    *,
    format: str | Parser = "prose",  # noqa: A002 - the word users know, and a fixed name
    language: str | None = None,
    chunk_size: int = 512,
    overlap_sentences: int = 0,
    chunk_overlap: int | None = None,
    window: int | None = None,
    step: int | None = None,
    length: Length = "cl100k_base",
    oversize: Literal["split", "keep"] = "split",
    sections: Literal["separate", "merge"] = "separate",
    title: str | None = None,
    prepend_heading_path: bool = False,
    segmenter: Segmenter | None = None,
    doc_id: str = "document",
) -> list[Chunk]:
    """Split a text into chunks of at most `chunk_size`, cutting where it hurts least.

    `format` is `"prose"`, `"markdown"`, `"html"`, `"code"` (with `language`) or a parser, a
    function from a text to an `Outline`. `length` says what `chunk_size` counts: tokens of a
    tiktoken encoding, `"characters"`, `"words"`, or what a function or tokenizer returns for
    `Chunk.content`. Neighbours share `overlap_sentences` sentences, or as many as fit in
    `chunk_overlap` units; or every chunk is a `window` of sentences that begins `step` after the
    last. With `oversize="keep"` a sentence, table or fence over the budget stays whole. With
    `sections="merge"` a chunk may hold several sections. `title` and, if asked for, the heading
    path stand in front of every chunk, within the budget. White space at the ends of a chunk
    is in no chunk.

    Raises `ValueError` for settings that make no sense, never for what the text holds.

    >>> for chunk in split("Dr. Smith left. He ran.", chunk_size=16, length="characters"):
    ...     print(chunk.start, chunk.end, chunk.text)
    0 15 Dr. Smith left.
    16 23 He ran.
    """
    if not isinstance(text, str):
        raise ValueError(f"text is a {type(text).__name__}: give a string, one document a call")
    _check_sizes(chunk_size, overlap_sentences, chunk_overlap, window, step)
    _check_choice("oversize", oversize, ("split", "keep"))
    _check_choice("sections", sections, ("separate", "merge"))
    length_function(length)
    parse = _parser_for(format, language)
    if format == "html":
        from ragtrace.chunking.html import convert_html

        text = convert_html(text)
    if not text or text.isspace():
        return []
    ruler = make_ruler(length, text)
    decorator = Decorator(
        ruler, chunk_size, title=title, shows_path=prepend_heading_path, doc_id=doc_id
    )
    settings = PackSettings(
        chunk_size,
        keep_oversize=oversize == "keep",
        separate=sections == "separate",
        overlap_sentences=overlap_sentences,
        overlap_units=chunk_overlap or 0,
    )
    outline = parse(text)
    blocks = outline.blocks
    if not outline.complete:
        blocks = list(fill_gaps(text, blocks, 0, len(text)))
    packer = WindowPacker(text, ruler, settings, segmenter or _SEGMENTER, decorator)
    if window is None:
        pieces = packer.pack(blocks)
    else:
        pieces = packer.pack_windows(blocks, window, step or window)
    chunks = list(_number(text, pieces, doc_id))
    _report_oversize(chunks, chunk_size)
    return chunks


def _number(text: str, pieces: Iterator[Piece], doc_id: str) -> Iterator[Chunk]:
    for index, piece in enumerate(pieces):
        yield Chunk(
            doc_id,
            index,
            piece.start,
            piece.end,
            text[piece.start : piece.end],
            piece.prefix,
            piece.suffix,
            piece.path,
            piece.paths,
            piece.kind,
            piece.length,
        )


def _report_oversize(chunks: list[Chunk], chunk_size: int) -> None:
    over = [chunk for chunk in chunks if chunk.length > chunk_size]
    if over:
        _log.warning(
            "%d of %d chunks are over chunk_size %d and stay whole; the first is %s, of length %d",
            len(over),
            len(chunks),
            chunk_size,
            over[0].chunk_id,
            over[0].length,
        )


def _parser_for(form: str | Parser, language: str | None) -> Parser:
    if callable(form):
        return form
    _check_choice("format", form, FORMATS)
    if language is not None and form != "code":
        raise ValueError(f"language {language!r} is given with format {form!r}: only code has one")
    if form in ("markdown", "html"):
        from ragtrace.chunking.markdown import outline_markdown  # pyromark takes time to load

        return outline_markdown
    if form == "prose":
        return outline_prose
    from ragtrace.chunking.code import code_parser

    return code_parser(language or "")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} is {value!r}: give one of {expected}")


def _check_sizes(
    chunk_size: int,
    overlap_sentences: int,
    chunk_overlap: int | None,
    window: int | None,
    step: int | None,
) -> None:
    if not isinstance(chunk_size, Integral):
        raise ValueError(f"chunk_size is {chunk_size!r}: give a whole number")
    if chunk_size < 1:
        raise ValueError(f"chunk_size is {chunk_size}: give at least 1")
    if overlap_sentences < 0:
        raise ValueError(f"overlap_sentences is {overlap_sentences}: an overlap is never negative")
    if chunk_overlap is not None:
        if chunk_overlap < 0:
            raise ValueError(f"chunk_overlap is {chunk_overlap}: an overlap is never negative")
        if chunk_overlap >= chunk_size:
            raise ValueError(
                f"chunk_overlap {chunk_overlap} is not smaller than chunk_size {chunk_size}"
            )
    if window is None and step is not None:
        raise ValueError("step is given without window: say how many sentences a window holds")
    if window is not None and window < 1:
        raise ValueError(f"window is {window}: give at least 1 sentence")
    if step is not None and window is not None and not 1 <= step <= window:
        raise ValueError(f"step is {step}: give 1 to window {window}, or sentences would be lost")
    ways = {
        "overlap_sentences": overlap_sentences,
        "chunk_overlap": chunk_overlap,
        "window": window,
    }
    given = [name for name, value in ways.items() if value]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are given: they are two ways to overlap, give one")
