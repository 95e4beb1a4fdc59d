"""What was written about an index is read back, and what is wrong with a file is named."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtrace.chunking import Chunk
from ragtrace.index import (
    DatabaseManifest,
    Manifest,
    describe_chunks,
    document_record,
    read_manifest,
    write_manifest,
)
from ragtrace.postprocessing import merge_adjacent

TEXT = "Keys rotate. Logs are kept. Reports go out."
CHUNKS = [
    Chunk("guide", 0, 0, 12, TEXT[0:12], prefix="Guide\n\n", heading_path=("Guide",)),
    Chunk("guide", 1, 13, 27, TEXT[13:27]),
    Chunk("guide", 2, 28, 43, TEXT[28:43]),
    Chunk("other", 0, 0, 5, "Hello"),
]


@pytest.fixture(params=["chunks.jsonl", "chunks.jsonl.gz", "chunks.sqlite"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def lines(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "chunks.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows))
    return path


def test_everything_said_of_an_index_is_read_back(path: Path) -> None:
    record = document_record(
        "guide",
        TEXT,
        version="2",
        updated_at=1.5,
        permissions=["staff", "admin", "staff"],
        metadata={"title": "Guide", "page": 3},
    )
    write_manifest(
        CHUNKS, path, splitter="prose:1", settings={"chunk_size": 20}, documents={"guide": record}
    )
    manifest = read_manifest(path)
    assert manifest.header.splitter == "prose:1"
    assert manifest.header.settings == {"chunk_size": 20}
    assert [chunk.chunk_id for chunk in manifest.chunks] == [chunk.chunk_id for chunk in CHUNKS]
    first = manifest.by_id["guide#c0"]
    assert first.content == "Guide\n\nKeys rotate."
    assert (first.splitter, first.doc_version, first.updated_at) == ("prose:1", "2", 1.5)
    assert first.permissions == ("admin", "staff")
    assert first.metadata == {"title": "Guide", "page": 3}
    assert manifest.by_id["other#c0"].permissions == ()
    assert manifest.documents["guide"].length == len(TEXT)
    assert manifest.text_of("guide") is None


def test_texts_are_kept_when_asked_for(path: Path) -> None:
    write_manifest(CHUNKS, path, documents={"guide": TEXT}, keep_texts=True)
    assert read_manifest(path).text_of("guide") == TEXT


def test_writing_what_was_read_writes_the_same(path: Path) -> None:
    write_manifest(CHUNKS, path, splitter="prose:1")
    again = path.with_name("again" + "".join(path.suffixes))
    write_manifest(read_manifest(path).chunks, again, splitter="prose:1")
    assert read_manifest(again).chunks == read_manifest(path).chunks
    if path.suffix == ".jsonl":
        assert again.read_bytes() == path.read_bytes()


def test_the_same_chunks_give_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl.gz"
    write_manifest(CHUNKS, path)
    written = path.read_bytes()
    write_manifest(CHUNKS, path)
    assert path.read_bytes() == written


AnyManifest = Manifest | DatabaseManifest


@pytest.fixture(params=["memory", "database"])
def manifest(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyManifest]:
    if request.param == "memory":
        yield Manifest(CHUNKS)
        return
    write_manifest(CHUNKS, tmp_path / "chunks.db")
    with DatabaseManifest(tmp_path / "chunks.db") as database:
        yield database


def test_chunks_are_found_by_id_document_span_and_neighbour(
    manifest: AnyManifest,
) -> None:
    assert [chunk.index for chunk in manifest.of_document("guide")] == [0, 1, 2]
    assert manifest.of_document("nothing") == []
    assert [chunk.index for chunk in manifest.covering("guide", 11, 14)] == [0, 1]
    assert manifest.covering("guide", 12, 13) == []
    before, after = manifest.neighbours("guide#c1")
    assert before is not None
    assert after is not None
    assert (before.index, after.index) == (0, 2)
    assert manifest.neighbours("guide#c0")[0] is None
    assert len(manifest.by_id) == 4
    assert list(manifest.by_id) == [chunk.chunk_id for chunk in CHUNKS]
    assert "nothing#c0" not in manifest.by_id
    assert [chunk.chunk_id for chunk in manifest.chunks] == [chunk.chunk_id for chunk in CHUNKS]


def test_merging_takes_missing_chunks_from_a_manifest(
    manifest: AnyManifest,
) -> None:
    hits = [manifest.chunk_at("guide", 0), manifest.chunk_at("guide", 2)]
    [merged] = merge_adjacent(
        [hit for hit in hits if hit is not None], fill_gap=1, chunk_at=manifest.chunk_at
    )
    assert merged.text == TEXT
    assert merged.filled_ids == ("guide#c1",)
    assert manifest.chunk_at("guide", 9) is None


def test_a_chunk_that_is_not_its_documents_text_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="'guide#c1' is not the text of document 'guide' at 13-27"):
        write_manifest(CHUNKS, path, documents={"guide": TEXT.replace("Logs", "Dogs")})


def test_nothing_is_replaced_by_half_a_manifest(path: Path) -> None:
    write_manifest(CHUNKS[:1], path)
    with pytest.raises(ValueError, match="two chunks have the id 'guide#c0'"):
        write_manifest([*CHUNKS, CHUNKS[0]], path)
    assert len(read_manifest(path).chunks) == 1
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_plain_list_of_chunks_is_a_manifest(tmp_path: Path) -> None:
    row = {"chunk_id": "guide#1", "text": "Logs", "start": 13, "end": 17, "page": 3}
    [chunk] = read_manifest(lines(tmp_path, "", row)).chunks
    assert (chunk.chunk_id, chunk.doc_id, chunk.index) == ("guide#1", "guide", 1)
    assert chunk.content_hash


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"schema": "ragtrace-manifest/2"}', "line 2: schema is 'ragtrace-manifest/2'"),
        ('{"chunk_id": "guide#1", "text": "Logs"}', "line 2: chunk has no 'start' and 'end'"),
        (
            '{"chunk_id": "x", "text": "y", "start": 0, "end": 1}',
            "line 2: chunk id 'x' has no index",
        ),
        ('{"chunk_id": "a#0", "text": 7, "start": 0, "end": 1}', r"line 2: .*\$\.text"),
        ("{not json", "line 2: "),
        ("[]", "line 2: expected a JSON object"),
    ],
)
def test_what_is_wrong_with_a_line_is_named(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_manifest(lines(tmp_path, {"schema": "ragtrace-manifest/1"}, row))


def test_a_repeated_id_is_named(tmp_path: Path) -> None:
    row = {"chunk_id": "guide#1", "text": "Logs", "start": 13, "end": 17}
    with pytest.raises(ValueError, match=r"chunks.jsonl: two chunks have the id 'guide#1'"):
        read_manifest(lines(tmp_path, row, row))


def test_half_a_gzip_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl.gz"
    write_manifest(CHUNKS, path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="not a whole gzip file"):
        read_manifest(path)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chunks.db"
    path.write_bytes(b"nothing of the kind, and long enough to be looked at" * 9)
    with pytest.raises(ValueError, match="not a manifest"):
        DatabaseManifest(path)
    with pytest.raises(FileNotFoundError):
        DatabaseManifest(tmp_path / "absent.db")


@given(st.text(max_size=20), st.text(st.characters(), max_size=5), st.booleans())
def test_any_text_survives(text: str, prefix: str, surrogate: bool) -> None:
    from tempfile import TemporaryDirectory

    text += "\ud800" if surrogate else ""
    [chunk] = describe_chunks([Chunk("d\n#", 0, 0, len(text), text, prefix=prefix)])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chunks.jsonl"
        write_manifest([chunk], path)
        assert read_manifest(path).chunks == (chunk,)
