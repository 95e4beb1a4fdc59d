"""See, name and repair what goes wrong between your documents and your retriever.

The package itself imports nothing: take what you need from `ragtrace.chunking`,
`ragtrace.tracing`, `ragtrace.boundary`, `ragtrace.postprocessing`, `ragtrace.evaluation`,
`ragtrace.index`, and, for a framework, from `ragtrace.langchain` or `ragtrace.llama_index`.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
