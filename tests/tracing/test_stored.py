"""What a store gives back becomes a hit; metadata about another text is not believed."""

from ragtrace.chunking.chunk import Chunk
from ragtrace.chunking.metadata import chunk_metadata
from ragtrace.tracing.stored import read_stored

CHUNK = Chunk(
    "guide", 3, 40, 45, "Hello", prefix="Guide > Intro\n\n", heading_path=("Guide", "Intro")
)
KEPT = chunk_metadata(CHUNK, "sentence-aligned:abc")


def test_a_stored_chunk_reads_back_without_its_decoration() -> None:
    hit = read_stored(CHUNK.content, KEPT, rank=1, score=0.5, own_id="uuid")
    assert (hit.chunk_id, hit.doc_id, hit.chunk_index) == ("guide#c3", "guide", 3)
    assert (hit.text, hit.start, hit.end) == ("Hello", 40, 45)
    assert hit.heading_path == ("Guide", "Intro")


def test_numbers_that_a_store_turned_into_floats_or_strings_are_read() -> None:
    kept = {**KEPT, "start_index": 40.0, "end_index": "45", "chunk_index": "3"}
    hit = read_stored(CHUNK.content, kept, rank=1)
    assert (hit.start, hit.end, hit.chunk_index) == (40, 45, 3)


def test_metadata_copied_to_another_text_is_not_believed() -> None:
    hit = read_stored(
        "Hello and a longer window",
        {**KEPT, "author": "Ada"},
        rank=1,
        own_id="own",
        doc_id="guide",
    )
    assert (hit.chunk_id, hit.doc_id) == ("own", "guide")
    assert (hit.start, hit.end, hit.chunk_index) == (None, None, None)
    assert hit.text == "Hello and a longer window"
    assert hit.metadata == {"author": "Ada"}


def test_without_offsets_the_hash_tells_whose_metadata_it_is() -> None:
    kept = chunk_metadata(CHUNK, "heading-path:abc", offsets=False)
    assert read_stored(CHUNK.content, kept, rank=1, own_id="own").chunk_id == "guide#c3"
    assert read_stored(CHUNK.content[:-1] + "0", kept, rank=1, own_id="own").chunk_id == "own"


def test_offsets_of_the_framework_count_only_when_they_fit_the_text() -> None:
    assert read_stored("Hello", {}, rank=1, span=(7, 12)).start == 7
    assert read_stored("Hello", {}, rank=1, span=(7, 99)).start is None
    assert read_stored("Hello", {"start_index": -1}, rank=1).start is None


def test_a_text_without_any_id_is_known_by_its_content() -> None:
    first = read_stored("Hello", {"source": "a.md"}, rank=1)
    assert first.chunk_id == read_stored("Hello", {}, rank=9).chunk_id != ""
    assert first.doc_id == "a.md"


def test_merged_ids_are_read_as_a_list_or_as_json() -> None:
    for value in (["a#c0", "a#c1"], '["a#c0", "a#c1"]'):
        assert read_stored("Hello", {"merged_ids": value}, rank=1).merged_ids == ("a#c0", "a#c1")
    assert read_stored("Hello", {"merged_ids": "torn ["}, rank=1).merged_ids == ()
