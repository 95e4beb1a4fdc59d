"""A hit can say where it stands, once."""

from ragtrace.chunking import strip_decoration
from ragtrace.postprocessing import Hit, add_heading_context

HIT = Hit(chunk_id="g#c3", text="It is 30 s.", heading_path=("Guide", "Timeouts"), start=9, end=20)


def test_title_and_path_stand_in_front_and_can_be_stripped_again() -> None:
    [hit] = add_heading_context([HIT], title="Manual")
    assert hit.text == "Manual > Guide > Timeouts\n\nIt is 30 s."
    assert strip_decoration(hit.text, hit.metadata["prefix_length"], 0) == HIT.text
    assert (hit.start, hit.end) == (9, 20)
    assert HIT.metadata == {}


def test_the_title_may_come_from_the_metadata_and_is_not_repeated() -> None:
    hit = Hit(chunk_id="a", text="x", heading_path=("Guide",), metadata={"title": "Guide"})
    assert add_heading_context([hit])[0].text == "Guide\n\nx"


def test_headings_that_the_text_begins_with_are_not_said_twice() -> None:
    own = Hit(
        chunk_id="a", text="## Timeouts ##\n\nIt is 30 s.", heading_path=("Guide", "Timeouts")
    )
    assert add_heading_context([own])[0].text == "Guide\n\n## Timeouts ##\n\nIt is 30 s."
    top = Hit(chunk_id="a", text="# Guide\n\n## Timeouts\n", heading_path=("Guide", "Timeouts"))
    assert add_heading_context([top]) == [top]


def test_adding_context_twice_is_adding_it_once() -> None:
    once = add_heading_context([HIT], title="Manual")
    assert add_heading_context(once, title="Manual") == once


def test_a_hit_with_nothing_to_add_is_returned_as_it_is() -> None:
    plain = Hit(chunk_id="a", text="x")
    assert add_heading_context([plain])[0] is plain
