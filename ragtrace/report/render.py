"""Write the page."""

from collections.abc import Iterable, Mapping
from importlib.resources import files

from ragtrace.chunking import Chunk
from ragtrace.evaluation import Analysis, WhatIf
from ragtrace.report.page import lay_out
from ragtrace.tracing import Trace

TEMPLATE = "report.html.jinja"


def render_report(
    analysis: Analysis,
    *,
    title: str = "Retrieval report",
    traces: Mapping[str, Trace] | None = None,
    chunks: Iterable[Chunk] = (),
    documents: Mapping[str, str] | None = None,
    repairs: WhatIf | None = None,
    most: int = 50,
) -> str:
    """Write an analysis as one HTML file that needs no script, no font and no network.

    `traces` (by question id) show the hits, `chunks` their full text and the boundaries inside
    answers, `documents` what stands around them; `repairs` is what `what_if` found. At most so many
    lost questions are shown.
    """
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("ragtrace.report").joinpath(TEMPLATE).read_text(encoding="utf-8")
    page = lay_out(
        analysis,
        title=title,
        traces=traces or {},
        chunks=chunks,
        documents=documents or {},
        repairs=repairs,
        most=most,
    )
    return environment.from_string(source).render(page=page, analysis=analysis)
