"""A prompt gets the best hits there is room for, whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.postprocessing import Hit, fit_budget


def hits_of(*texts: str, ranks: tuple[int, ...] = ()) -> list[Hit]:
    return [
        Hit(chunk_id=str(at), text=text, rank=ranks[at] if ranks else 0)
        for at, text in enumerate(texts)
    ]


def kept(hits: list[Hit], limit: int, **settings: str) -> list[str]:
    return [hit.text for hit in fit_budget(hits, limit, "characters", **settings)]


def test_the_best_come_first_and_one_too_long_leaves_room_for_the_next() -> None:
    hits = hits_of("aaaa", "bbbbbbbb", "cc")
    assert kept(hits, 8) == ["aaaa", "cc"]
    assert kept(hits, 7) == ["aaaa"]
    assert kept(hits, 7, separator="") == ["aaaa", "cc"]


def test_ranks_say_what_is_best_and_the_order_given_stays() -> None:
    assert kept(hits_of("aaaa", "bbbb", "cccc", ranks=(3, 1, 2)), 10) == ["bbbb", "cccc"]


def test_nothing_fits_nothing_is_kept() -> None:
    assert kept(hits_of("aaaa"), 3) == []
    assert kept([], 3) == []


def test_tokens_are_the_default() -> None:
    assert len(fit_budget(hits_of("One two three."), 4)) == 1
    assert fit_budget(hits_of("One two three."), 3) == []


def test_a_budget_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_length"):
        fit_budget([], 0)


@given(st.lists(st.text("ab", max_size=9), max_size=8), st.integers(1, 40))
def test_what_is_kept_fits_and_nothing_left_out_would_have_fitted(
    texts: list[str], limit: int
) -> None:
    left = kept(hits_of(*texts), limit)
    used = len("\n\n".join(left))
    assert used <= limit
    if len(left) < len(texts):
        rest = list(texts)
        for text in left:
            rest.remove(text)
        between = 2 if left else 0
        assert used + between + min(map(len, rest)) > limit
