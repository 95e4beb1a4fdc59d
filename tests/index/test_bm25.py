"""The embedded retriever finds what shares words with the query, the same way every time."""

import pytest

from ragtrace.chunking import Chunk
from ragtrace.index import Bm25Retriever

TEXTS = (
    "Set max_length to bound the response.",
    "The HTTPServer reads maxLength from its settings.",
    "超时时间为三十秒。",
    "Keys rotate once a month.",
    "Keys rotate once a month.",
)
RETRIEVER = Bm25Retriever(Chunk("d", at, 0, len(text), text) for at, text in enumerate(TEXTS))


def found(query: str, top_k: int = 5) -> list[int | None]:
    return [hit.chunk_index for hit in RETRIEVER.search(query, top_k)]


def test_identifiers_are_found_whole_and_by_their_parts() -> None:
    assert found("max_length")[0] == 0
    assert found("maxLength")[0] == 1
    assert set(found("length")) == {0, 1}
    assert found("http server") == [1]


def test_a_script_without_spaces_is_found() -> None:
    assert found("超时") == [2]


def test_ties_keep_the_order_of_the_chunks() -> None:
    assert found("keys rotate") == [3, 4]
    assert found("keys rotate", 1) == [3]


def test_hits_say_where_they_stand() -> None:
    [hit] = RETRIEVER.search("HTTPServer", 1)
    assert (hit.chunk_id, hit.doc_id, hit.rank) == ("d#c1", "d", 1)
    assert (hit.start, hit.end, hit.text) == (0, len(TEXTS[1]), TEXTS[1])
    assert isinstance(hit.score, float)
    assert hit.score > 0


def test_more_than_there_is_gives_what_there_is() -> None:
    assert len(RETRIEVER.search("keys", 100)) == 2


@pytest.mark.parametrize("query", ["", "?!", "zebra"])
def test_a_query_without_known_words_finds_nothing(query: str) -> None:
    assert RETRIEVER.search(query) == []


def test_the_decoration_of_a_chunk_is_searched_but_not_returned() -> None:
    [hit] = Bm25Retriever([Chunk("d", 0, 0, 5, "It is", prefix="Timeouts\n\n")]).search("timeouts")
    assert hit.text == "It is"


@pytest.mark.parametrize("texts", [[], [""], ["---", ""]])
def test_an_index_without_words_finds_nothing(texts: list[str]) -> None:
    chunks = [Chunk("d", at, 0, len(text), text) for at, text in enumerate(texts)]
    assert Bm25Retriever(chunks).search("keys") == []


def test_a_top_k_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="top_k"):
        RETRIEVER.search("keys", 0)
