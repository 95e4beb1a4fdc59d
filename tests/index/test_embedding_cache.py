"""No text is embedded twice, and no vector is mistaken for another's."""

from pathlib import Path
from threading import Thread

import pytest

from ragtrace.index import EmbeddingCache


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 0.1] for text in texts]


def never(texts: list[str]) -> list[list[float]]:
    raise AssertionError(f"embedded {texts}")


def test_vectors_outlive_the_process_and_are_the_same_the_second_time(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    cache = EmbeddingCache(path, "lengths")
    first = cache.embed(["a", "bb\ud800"], lengths)
    cache.close()
    again = EmbeddingCache(path, "lengths")
    assert again.embed(["bb\ud800", "a"], never) == first[::-1]
    again.close()


def test_another_model_has_other_vectors(tmp_path: Path) -> None:
    one, two = (EmbeddingCache(tmp_path / "vectors.db", name) for name in ("one", "two"))
    one.embed(["a"], lengths)
    assert two.embed(["a"], lambda texts: [[7.0]]) == [[7.0]]
    one.close()
    two.close()


def test_nothing_to_embed_calls_nobody() -> None:
    cache = EmbeddingCache(":memory:", "m")
    assert cache.embed([], never) == []
    cache.close()


def test_a_wrong_number_of_vectors_is_named_and_not_kept() -> None:
    cache = EmbeddingCache(":memory:", "m")
    with pytest.raises(ValueError, match="1 embeddings came back for 2 texts"):
        cache.embed(["a", "b"], lambda texts: [[1.0]])
    assert cache.embed(["a", "b"], lengths) == cache.embed(["a", "b"], never)
    cache.close()


def test_threads_may_share_a_cache() -> None:
    cache = EmbeddingCache(":memory:", "m")
    texts = ["x" * size for size in range(1, 30)]
    results: list[list[list[float]]] = []
    threads = [Thread(target=lambda: results.append(cache.embed(texts, lengths))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(result == results[0] for result in results)
    cache.close()
