"""`ragtrace manifest`: find the place of chunks that somebody already has."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragtrace.cli.options import ColumnOption, JsonOption, StoreOption

if TYPE_CHECKING:
    from ragtrace.index import Located
    from ragtrace.tracing.hit import Hit

REASONS = {
    "empty": "hold no text",
    "document-gone": "name a document that is not in the folder",
    "text-changed": "are no longer in their document",
    "not-found": "are in no document",
    "extra-copy": "are held more often than the documents hold them",
}


def manifest_command(
    documents: Annotated[Path, typer.Option(help="The folder the index was built from.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the manifest goes.")],
    chunks: Annotated[
        list[str] | None,
        typer.Argument(help="Exported chunks: .jsonl, .csv, .tsv, .parquet; - is stdin."),
    ] = None,
    store: StoreOption = None,
    column: ColumnOption = None,
    most: Annotated[int, typer.Option(help="How many lost chunks to show.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Locate chunks in their documents; with the manifest all of ragtrace works on that index."""
    from ragtrace.cli.chunk_sources import read_given
    from ragtrace.cli.inputs import read_texts
    from ragtrace.cli.output import print_json
    from ragtrace.index import locate_chunks, write_manifest

    texts = read_texts([str(documents)])
    located = locate_chunks(as_hits(read_given(chunks or (), store, column or ())), texts)
    if not located.chunks and not located.unlocated:
        raise ValueError(f"no chunk in {', '.join(chunks or [store or ''])}")
    if located.chunks:
        write_manifest(located.chunks, output, documents=texts)
    if as_json:
        print_json(
            {
                "located": len(located.chunks),
                "how": located.how,
                "reasons": located.reasons,
                "unlocated": located.unlocated,
            }
        )
    else:
        print_located(located, output, most)
    if not located.chunks:
        raise typer.Exit(1)


def as_hits(given: Iterable[Any]) -> "Iterator[Hit]":
    """Read chunks of a store or the rows of a file as hits."""
    from ragtrace.index import read_stored_hits

    for stored in read_stored_hits(as_stored(item) for item in given):
        yield stored.hit


def as_stored(item: Any) -> Any:
    """Bring the row of a file into the shape that stores give: id, text, metadata.

    >>> as_stored({"chunk_id": "7", "page_content": "Hi", "source": "a.md"})
    {'id': '7', 'text': 'Hi', 'metadata': {'source': 'a.md'}}
    """
    if not isinstance(item, Mapping):
        return item
    rest = dict(item)
    nested = rest.pop("metadata", None)
    texts = [rest.pop(name, None) for name in ("text", "content", "page_content")]
    names = [rest.pop(name, None) for name in ("chunk_id", "id", "id_")]
    return {
        "id": next((name for name in names if name is not None), None),
        "text": next((text for text in texts if isinstance(text, str)), ""),
        "metadata": rest | (dict(nested) if isinstance(nested, Mapping) else {}),
    }


def print_located(located: "Located", output: Path, most: int) -> None:
    """Print what was found and how, and what was not and why."""
    total = len(located.chunks) + len(located.unlocated)
    typer.echo(f"{len(located.chunks):,} of {total:,} chunks located")
    for how, count in located.how.items():
        typer.echo(f"  {count:,} {'exactly' if how == 'exact' else f'by {how}'}")
    for reason, count in located.reasons.items():
        typer.echo(f"  {count:,} {REASONS[reason]} ({reason})")
    for each in located.unlocated[:most]:
        name = each.hit.doc_id or each.hit.chunk_id
        typer.echo(f"    {each.reason}: {name}: {' '.join(each.hit.text.split())[:70]}")
    if len(located.unlocated) > most:
        typer.echo(f"    and {len(located.unlocated) - most:,} more; --json has all")
    if located.chunks:
        typer.echo(f"manifest in {output}")
    else:
        typer.echo("nothing to write: are these the documents the index was built from?")
