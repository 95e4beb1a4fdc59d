"""A hit that says nothing new gives up its place, and only such a hit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.postprocessing import Hit, drop_near_duplicates

RULE = "Every key rotates once a month, and the owner of the service is told a week before that."
OTHER = "Reports go out on the first working day, signed by the person who closed the books."


def hit(name: str, text: str, **values: object) -> Hit:
    return Hit(chunk_id=name, text=text, **values)  # type: ignore[arg-type]


def kept(hits: list[Hit], **settings: object) -> list[str]:
    return [hit.chunk_id for hit in drop_near_duplicates(hits, **settings)]  # type: ignore[arg-type]


def test_a_copy_in_another_document_is_dropped() -> None:
    hits = [hit("a", RULE, doc_id="a"), hit("b", RULE.upper() + "\n", doc_id="b"), hit("c", OTHER)]
    assert kept(hits) == ["a", "c"]


def test_freed_places_are_filled_from_further_ranks() -> None:
    hits = [hit("a", RULE), hit("b", RULE), hit("c", RULE), hit("d", OTHER), hit("e", "Last.")]
    assert kept(hits, k=2) == ["a", "d"]
    assert kept(hits[:3], k=2) == ["a"]


def test_a_text_that_differs_in_a_number_is_kept() -> None:
    hits = [hit("old", f"{RULE} The limit is 30."), hit("new", f"{RULE} The limit is 40.")]
    assert kept(hits, threshold=0.5) == ["old", "new"]


def test_a_part_of_an_earlier_hit_is_dropped_but_the_longer_text_is_not() -> None:
    part, whole = hit("part", RULE), hit("whole", f"{RULE} {OTHER}")
    assert kept([whole, part]) == ["whole"]
    assert kept([part, whole]) == ["part", "whole"]


def test_overlap_siblings_are_judged_by_their_span() -> None:
    text = "".join(f"w{at} " for at in range(60))

    def at(start: int, end: int) -> Hit:
        return hit(f"{start}", text[start:end], doc_id="d", start=start, end=end)

    assert kept([at(0, 60), at(5, 62)]) == ["0"]
    assert kept([at(0, 60), at(40, 100)]) == ["0", "40"]
    assert kept([at(0, 60), at(50, 110), at(30, 80)]) == ["0", "50"], "covered by two together"


def test_the_same_span_of_another_document_or_version_is_no_sibling() -> None:
    first = hit("a", "abc def", doc_id="d", start=0, end=7)
    assert kept([first, hit("b", "uvw xyz", doc_id="e", start=0, end=7)]) == ["a", "b"]
    later = hit("b", "uvw xyz", doc_id="d", start=0, end=7, doc_version="2")
    assert kept([first, later]) == ["a", "b"]


def test_text_without_spaces_is_compared_by_characters() -> None:
    first = "超时时间为三十秒，之后请求会被取消。"
    assert kept(
        [hit("a", first), hit("b", first.replace("，", " ")), hit("c", "每月轮换一次密钥。")]
    ) == [
        "a",
        "c",
    ]


def test_hits_without_words_are_kept() -> None:
    assert kept([hit("a", "---"), hit("b", "***"), hit("c", "")]) == ["a", "b", "c"]


@pytest.mark.parametrize("wrong", [{"threshold": 0.0}, {"threshold": 1.5}, {"k": 0}])
def test_a_setting_that_cannot_be_meant_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        kept([], **wrong)


WORD = st.sampled_from(["one", "two", "three", "four", "five", "6", "7"])
WORDS = st.lists(WORD, max_size=12).map(" ".join)


@given(st.lists(WORDS, max_size=8), st.none() | st.integers(1, 4))
def test_the_first_stays_the_order_stays_and_nothing_is_left_to_drop(
    texts: list[str], k: int | None
) -> None:
    hits = [hit(str(at), text) for at, text in enumerate(texts)]
    left = drop_near_duplicates(hits, k=k)
    assert left[:1] == hits[:1]
    assert left == [each for each in hits if any(each is one for one in left)]
    assert drop_near_duplicates(left, k=k) == left
    assert k is None or len(left) <= k
