"""Read a run: traces to analyse, or an analysis that was saved before."""

from pathlib import Path

import msgspec

from ragtrace.cli.inputs import read_chunks, read_texts
from ragtrace.evaluation import Analysis, EvalSet, analyze


def read_run(
    path: str,
    eval_set: EvalSet | None,
    *,
    chunks: Path | None,
    documents: Path | None,
    k: int,
    run: str | None = None,
) -> Analysis:
    """Analyse a trace file, or read what `ragtrace analyze --json` wrote.

    Raises `ValueError` where traces come without an eval set.
    """
    saved = read_saved(path)
    if saved is not None:
        return saved
    if eval_set is None:
        raise ValueError(f"{path} holds traces: name the labelled questions with --eval-set")
    return analyze(
        path,
        eval_set,
        chunks=read_chunks(chunks) if chunks else None,
        documents=read_texts([str(documents)]) if documents else None,
        k=k,
        run=run,
    )


def require_traces(analysis: Analysis, path: str) -> Analysis:
    """Return the analysis; raise `ValueError` where the files hold no trace at all to judge."""
    counts = analysis.traces
    if counts.read == 0:
        lines = f" ({counts.skipped} lines are something else)" if counts.skipped else ""
        raise ValueError(
            f"{path}: no trace to judge{lines}; give what TracedRetriever or 'ragtrace eval run'"
            " wrote, and with --run a run that it holds"
        )
    return analysis


def read_saved(path: str) -> Analysis | None:
    """Read a saved analysis; `None` where the file is something else.

    Raises `ValueError` for a file that says it is an analysis and is not.
    """
    file = Path(path)
    if path == "-" or not file.is_file() or file.suffix != ".json":
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=Analysis)
    except msgspec.ValidationError as error:
        raise ValueError(f"{path} is not what 'ragtrace analyze --json' writes: {error}") from None
    except msgspec.DecodeError:
        return None
