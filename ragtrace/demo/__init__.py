"""See it work on real documents, with nothing to download and no key."""

from ragtrace.demo.corpus import load_documents, load_questions

__all__ = ["load_documents", "load_questions"]
