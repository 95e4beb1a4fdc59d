"""`ragtrace validate`: one number for an index, and an alarm when it moves."""

import time
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragtrace.cli.options import ColumnOption, JsonOption, StoreOption

if TYPE_CHECKING:
    from ragtrace.boundary import BoundaryReport
    from ragtrace.boundary.piece import Piece

USUAL_SHARE = 0.95


def validate_command(
    chunks: Annotated[
        list[str] | None,
        typer.Argument(help="Chunks: .jsonl, .csv, .tsv, .parquet, folders, globs; - is stdin."),
    ] = None,
    store: StoreOption = None,
    column: ColumnOption = None,
    documents: Annotated[
        Path | None, typer.Option(help="The folder the chunks were cut from: exact findings.")
    ] = None,
    markup: Annotated[
        str | None,
        typer.Option("--format", help="How to read the documents: prose | markdown | html | code."),
    ] = None,
    chunk_size: Annotated[
        int | None, typer.Option(help="What a chunk may hold, or the embedder reads.")
    ] = None,
    length: Annotated[
        str, typer.Option(help="Unit: a tiktoken encoding, characters, or words.")
    ] = "cl100k_base",
    max_rate: Annotated[
        list[str] | None,
        typer.Option(help="A limit, as no-sentence-end=5% or issue-rate=10%; repeatable."),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="An earlier --save: fail on what got worse.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the report, the next baseline.")] = None,
    attempt: Annotated[
        list[str] | None,
        typer.Option(
            "--try", help="Cut the documents anew: sentence-aligned | heading-path | recursive."
        ),
    ] = None,
    events: Annotated[
        Path | None, typer.Option(help="Append a summary and a sample of the issues, as JSONL.")
    ] = None,
    run: Annotated[str | None, typer.Option(help="A name for this run in the events.")] = None,
    prometheus: Annotated[
        Path | None, typer.Option(help="Write the figures in Prometheus' text format.")
    ] = None,
    most: Annotated[int, typer.Option(help="How many documents and kinds to show.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Check what the boundaries of chunks cut, lose or misplace, whoever made them."""
    from ragtrace.boundary import (
        SideBySide,
        check_limits,
        compare_reports,
        in_reading_order,
        parse_limit,
        read_report,
        to_events,
        to_json,
        to_prometheus,
        validate,
    )
    from ragtrace.cli.boundary_rendering import print_comparison, print_report, print_side_by_side
    from ragtrace.cli.candidates import candidate
    from ragtrace.cli.chunk_sources import read_given
    from ragtrace.cli.inputs import read_texts
    from ragtrace.cli.output import console

    limits = [parse_limit(text) for text in max_rate or ()]
    before = read_report(baseline) if baseline else None
    if attempt and documents is None:
        raise ValueError("--try cuts the documents anew: name their folder with --documents")
    texts = read_texts([str(documents)]) if documents else {}
    settings: dict[str, Any] = {
        "documents": texts,
        "chunk_size": chunk_size,
        "length": length if chunk_size is not None else None,
        "format": markup,
    }
    sizes = array("Q")
    given = read_given(chunks or (), store, column or ())
    if store is not None:
        given = iter(in_reading_order(given))  # stores have an order of their own
    report = validate(in_documents(counted(given, sizes), texts), **settings)
    if not report.chunks:
        raise ValueError(f"no chunk in {', '.join(chunks or [store or ''])}")
    reports: dict[str, BoundaryReport] = {"given": report}
    size, unit = (chunk_size, length) if chunk_size else (usual_size(sizes), "characters")
    for name in attempt or ():
        cut = candidate(name, chunk_size=size, length=unit)
        reports[name] = validate(
            (chunk for doc_id, text in texts.items() for chunk in cut(doc_id, text)), **settings
        )
    comparison = compare_reports(before, report) if before is not None else None
    broken = check_limits(report, limits)
    if save is not None:
        save.write_bytes(to_json(report))
    if events is not None:
        append_events(events, to_events(report, run=run), time.time())
    if prometheus is not None:
        from ragtrace.index.manifest_file import replacing

        with replacing(prometheus) as partial:
            partial.write_text(to_prometheus(report), encoding="utf-8")
    if as_json:
        print_reports(reports, comparison, broken)
    else:
        out = console()
        print_report(report, out, most=most)
        if attempt:
            print_side_by_side(SideBySide(reports), out, size=f"{size} {unit}")
        if comparison is not None:
            print_comparison(comparison, out)
        for one in broken:
            out.print(f"FAIL {one.limit.kind} {one.share:.1%} is over {one.limit.most:.1%}")
    if broken or (comparison is not None and not comparison.passed):
        raise typer.Exit(1)


def counted(chunks: Iterable[Any], sizes: "array[int]") -> "Iterator[Piece]":
    """Read chunks and note how long each is, in characters of what is embedded."""
    from ragtrace.boundary.piece import read_pieces

    for piece in read_pieces(chunks):
        sizes.append(len(piece.content))
        yield piece


def in_documents(pieces: "Iterable[Piece]", documents: Mapping[str, str]) -> "Iterator[Piece]":
    """Name each chunk's document as the folder does: an index may know it by a longer path."""
    import msgspec

    from ragtrace.index.library import Library

    library = Library(documents)
    for piece in pieces:
        known = library.resolve(piece.doc_id) if documents else None
        if known is None or known == piece.doc_id:
            yield piece
        else:
            yield msgspec.structs.replace(piece, doc_id=known)


def usual_size(sizes: "array[int]") -> int:
    """Return the length of which 95 % of the chunks are not longer."""
    return max(1, sorted(sizes)[int(USUAL_SHARE * (len(sizes) - 1))])


def append_events(path: Path, events: Iterable[dict[str, Any]], ts: float) -> None:
    """Append events to a file of JSON lines."""
    import msgspec

    with path.open("ab") as file:
        for event in events:
            file.write(msgspec.json.encode({"ts": ts, **event}) + b"\n")


def print_reports(reports: "Mapping[str, BoundaryReport]", comparison: Any, broken: Any) -> None:
    """Print the report for a program; beside it what was tried, compared and broken."""
    import msgspec

    from ragtrace.boundary import to_json
    from ragtrace.cli.output import print_json

    plain = {name: msgspec.Raw(to_json(report)) for name, report in reports.items()}
    if len(reports) == 1 and comparison is None and not broken:
        print_json(plain["given"])
    else:
        print_json({"reports": plain, "comparison": comparison, "broken_limits": broken})
