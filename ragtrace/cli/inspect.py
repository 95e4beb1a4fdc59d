"""`ragtrace inspect`: the failing questions from close up, retrieval only."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from ragtrace.cli.options import ChunksOption, DocumentsOption, EvalSetOption, KOption, RunOption

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ragtrace.chunking import Chunk
    from ragtrace.evaluation import QuestionResult
    from ragtrace.tracing import Trace, TraceHit


def inspect_command(
    traces: Annotated[str, typer.Argument(help="A trace file, folder or glob.")],
    eval_set: EvalSetOption = None,
    chunks: ChunksOption = None,
    documents: DocumentsOption = None,
    k: KOption = 5,
    run: RunOption = None,
    question: Annotated[
        str | None, typer.Option("--question", "-q", help="Only questions that hold this text.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also questions that were answered.")
    ] = False,
) -> None:
    """Show each failing question: its answer, and every hit in rank order with its full text."""
    from ragtrace.cli.inputs import read_chunks, read_texts
    from ragtrace.cli.output import console
    from ragtrace.cli.runs import require_traces
    from ragtrace.evaluation import analyze, collect, load_eval_set

    if eval_set is None:
        raise ValueError("name the labelled questions with --eval-set")
    questions = load_eval_set(eval_set)
    held = read_chunks(chunks) if chunks else ()
    texts = read_texts([str(documents)]) if documents else None
    analysis = analyze(traces, questions, chunks=held or None, documents=texts, k=k, run=run)
    require_traces(analysis, traces)
    latest = collect(traces, questions, k=k, run=run).latest
    by_id = {chunk.chunk_id: chunk for chunk in held}
    out = console()
    shown = 0
    for result in analysis.questions:
        wanted = question is None or question.casefold() in result.query.casefold()
        if wanted and (result.lost or everything):
            shown += 1
            show_question(result, latest[result.question_id], by_id, texts or {}, out)
    if not analysis.questions:
        out.print("no question has both a trace and a usable label; 'ragtrace analyze' says why")
    elif not shown:
        out.print("no such question failed" if question else "no question failed")


def show_question(
    result: "QuestionResult",
    trace: "Trace",
    chunks: "Mapping[str, Chunk]",
    documents: Mapping[str, str],
    console: "Console",
) -> None:
    """Print one question with its gold passages and its hits."""
    from rich.rule import Rule
    from rich.text import Text

    from ragtrace.cli.rendering import print_question

    console.print(Rule(), width=min(console.width, 80))
    print_question(result, console)
    gold: list[str] = []
    for span in result.spans:
        label = span.label
        text = label.quote or ""
        document = documents.get(label.doc_id or "")
        if document is not None and label.start is not None:
            text = document[label.start : label.end]
        gold.append(text)
        place = f"{label.doc_id} {label.start}-{label.end}" if label.doc_id else label.chunk_id
        console.print(Text(f"\nanswer, {place}", style="bold"))
        console.print(Text(text, style="reverse"))
    for hit in trace.hits:
        console.print(Text(f"\n{heading_of(hit)}", style="bold"))
        chunk = chunks.get(hit.chunk_id)
        full = chunk.text if chunk is not None else hit.text or hit.snippet
        console.print(bounded(full, gold))
        if chunk is None and hit.text is None:
            console.print(Text("  (the first characters; --chunks shows all of it)", style="dim"))


def heading_of(hit: "TraceHit") -> str:
    """Write rank, id, score and heading path in one line."""
    parts = [f"{hit.rank}.", hit.chunk_id]
    if hit.score is not None:
        parts.append(f"score {hit.score:.4g}")
    if hit.heading_path:
        parts.append(" > ".join(hit.heading_path))
    return "  ".join(parts)


def bounded(text: str, gold: list[str]) -> "Text":
    """Show a chunk between marks of its boundaries, what it holds of the answer in reverse."""
    from rich.text import Text

    from ragtrace.report.passages import held_part

    shown = Text("⟦" + text + "⟧")
    for passage in gold:
        held = held_part(text, passage)
        at = text.find(held) if held else -1
        if at >= 0:
            shown.stylize("reverse", at + 1, at + 1 + len(held))
    return shown
