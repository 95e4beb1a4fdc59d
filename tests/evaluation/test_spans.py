from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.evaluation.spans import covers, holds, intersect, total, touches, unite

SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda s: (s[0], s[0] + s[1])), max_size=6
)


def points(spans):
    return {at for start, end in spans for at in range(start, end)}


@settings(max_examples=120, deadline=None)
@given(SPANS, SPANS)
def test_spans_behave_as_sets_of_characters(first, second):
    assert points(unite(first)) == points(first)
    assert total(unite(first)) == len(points(first))
    assert points(intersect(first, second)) == points(first) & points(second)


@settings(max_examples=120, deadline=None)
@given(SPANS, st.integers(0, 30), st.integers(20, 60))
def test_what_holds_a_span_covers_it_and_touches_it(spans, start, length):
    gold = (start, start + length)
    for span in spans:
        if holds(span, gold):
            assert covers([span], gold)
            assert touches(span, gold)
    if covers(spans, gold):
        assert any(touches(span, gold) for span in spans)


def test_up_to_two_characters_may_be_missing_at_each_end_of_a_long_span():
    assert holds((12, 98), (10, 100))
    assert not holds((13, 98), (10, 100))
    assert not holds((11, 14), (10, 14))


def test_white_space_between_two_parts_may_be_missing_but_no_words():
    text = "One two." + " " * 10 + "Three four." + " five"
    assert covers([(0, 8), (18, 29)], (0, 29), text)
    assert not covers([(0, 8), (19, 29)], (0, 29), text)
    assert not covers([(0, 8), (18, 29)], (0, 29))
