"""A store that was filled some other way is told what it should forget."""

from types import SimpleNamespace

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core.schema import TextNode

from ragtrace.boundary import read_store
from ragtrace.index import find_stale
from ragtrace.index.stored_hits import read_stored_hits

RULE = "Every key rotates once a month, and the owner of the service is told {} before that."
DOCUMENTS = {"guide.md": f"# Keys\n\n{RULE.format('a week')}\n\nLogs are kept.\n"}


def item(name: str, text: str, **metadata: object) -> dict[str, object]:
    return {"id": name, "text": text, "metadata": metadata}


def test_what_stands_in_the_documents_is_not_stale() -> None:
    items = [item("1", RULE.format("a week"), source="guide.md"), item("2", "Logs are kept.")]
    report = find_stale(items, DOCUMENTS)
    assert report.ids == []
    assert str(report) == "0 of 2 chunks are stale: none"


def test_every_kind_of_stale_chunk_is_named() -> None:
    items = [
        item("now", RULE.format("a week"), source="guide.md"),
        item("old", RULE.format("a day"), source="guide.md"),
        item("changed", "Backups are made every night and kept for ten years.", source="guide.md"),
        item("gone", "Invoices go out on Monday.", source="billing.md"),
        item("twice", RULE.format("a week"), source="guide.md"),
        item("none", "Nothing of the kind."),
        item("empty", " \n"),
    ]
    report = find_stale(items, DOCUMENTS)
    assert {chunk.store_id: chunk.reason for chunk in report.stale} == {
        "old": "old-version",
        "changed": "text-changed",
        "gone": "document-gone",
        "twice": "extra-copy",
        "none": "not-found",
        "empty": "empty",
    }


def test_a_live_store_is_read_compared_and_cleaned() -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    texts = [RULE.format("a week"), RULE.format("a day"), "Logs are kept."]
    store.add_documents([Document(text, metadata={"source": "guide.md"}) for text in texts])
    report = find_stale(read_store(store), DOCUMENTS)
    store.delete(report.ids)
    left = {document.page_content for document in store.similarity_search("keys", k=9)}
    assert left == {texts[0], texts[2]}
    assert find_stale(read_store(store), DOCUMENTS).ids == []


def test_nodes_and_documents_are_read_with_their_ids() -> None:
    node = TextNode(text="One.", id_="n1", metadata={"doc_id": "a"})
    document = Document("Two.", id="d1", metadata={"doc_id": "a"})
    scored = SimpleNamespace(node=node, score=0.5)
    assert [each.store_id for each in read_stored_hits([node, document, scored])] == [
        "n1",
        "d1",
        "n1",
    ]


def test_something_else_is_named() -> None:
    with pytest.raises(ValueError, match="item 2 is a int"):
        list(read_stored_hits([item("1", "x"), 7]))
