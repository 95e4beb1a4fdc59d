"""The `ragtrace` command: one module per command; each parses, calls one function, renders."""

from ragtrace.cli.app import main

__all__ = ["main"]
