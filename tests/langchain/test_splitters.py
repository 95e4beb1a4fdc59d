"""What LangChain expects of a text splitter, asked of ours and, for comparison, of its own."""

import copy
import json
import logging
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_core.documents import Document
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter, TextSplitter

from ragtrace.langchain import DefinitionSplitter, HeadingPathSplitter, SentenceAlignedSplitter

PROSE = (
    "Dr. Smith arrived at 3 p.m. on Friday. He was late. Nobody minded, since the meeting "
    "had not begun. OK\n\nOK\n\nThe second paragraph repeats itself. He was late. He was late.\n"
)
MARKDOWN = "# Guide\n\nRead it.\n\n## Time > limits\n\nFive seconds. Or ten.\n\n```py\n# no\n```\n"
CODE = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"

Make = Callable[..., TextSplitter]


def sentence_aligned(**options: Any) -> TextSplitter:
    return SentenceAlignedSplitter(**{"chunk_size": 60, **options})


def heading_path(**options: Any) -> TextSplitter:
    return HeadingPathSplitter(**{"chunk_size": 60, **options})


def definition(**options: Any) -> TextSplitter:
    return DefinitionSplitter("python", **{"chunk_size": 60, **options})


def recursive(**options: Any) -> TextSplitter:
    return RecursiveCharacterTextSplitter(
        **{"chunk_size": 60, "chunk_overlap": 0, "add_start_index": True, **options}
    )


OURS = (sentence_aligned, heading_path, definition)


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture(params=OURS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


def documents_of(text: str, **metadata: Any) -> list[Document]:
    return [Document(page_content=text, metadata={"source": "s", **metadata})]


@pytest.mark.parametrize("text", [PROSE, MARKDOWN, CODE], ids=["prose", "markdown", "code"])
def test_start_index_is_exact_and_chunks_are_in_order(make: Make, text: str) -> None:
    chunks = make().split_documents(documents_of(text))
    starts = [chunk.metadata["start_index"] for chunk in chunks]
    assert starts == sorted(set(starts))
    covered = set()
    for chunk, start in zip(chunks, starts, strict=True):
        prefix, suffix = (chunk.metadata.get(f"{end}_length", 0) for end in ("prefix", "suffix"))
        body = chunk.page_content[prefix : len(chunk.page_content) - suffix]
        assert text[start : start + len(body)] == body
        assert chunk.metadata.get("end_index", start + len(body)) == start + len(body)
        covered |= set(range(start, start + len(body)))
    assert all(text[place].isspace() for place in set(range(len(text))) - covered)


def upstream(reason: str) -> list[Any]:
    """Ask LangChain's own splitter too, which does not do this, for the reason given."""
    fails = pytest.mark.xfail(strict=True, reason=reason)
    return [
        pytest.param(sentence_aligned, id="ours"),
        pytest.param(recursive, id="upstream", marks=fails),
    ]


@pytest.mark.parametrize("make", upstream("the first of two equal passages is found again"))
def test_repeated_text_keeps_its_own_place(make: Make) -> None:
    splitter = make(chunk_size=4, chunk_overlap=3)
    assert [c.metadata["start_index"] for c in splitter.create_documents(["note note"])] == [0, 5]


@pytest.mark.parametrize("make", upstream("the overlap, in words, is taken for characters"))
def test_an_overlap_in_words_leaves_the_offsets_exact(make: Make) -> None:
    text = "Alpha beta. Gamma delta. Epsilon zeta. Eta theta. Iota kappa. Lambda mu."
    splitter = make(chunk_size=6, chunk_overlap=4, length_function=words)
    chunks = splitter.create_documents([text])
    assert len(chunks) > 2
    for chunk in chunks:
        start = chunk.metadata["start_index"]
        assert text[start : start + len(chunk.page_content)] == chunk.page_content


@pytest.mark.parametrize("make", upstream("it knows separators, not sentences"))
def test_no_sentence_that_fits_is_cut(make: Make) -> None:
    chunks = make(chunk_size=90).split_text(PROSE)
    assert all(chunk.endswith((".", "OK")) for chunk in chunks)


@pytest.mark.parametrize(
    "options",
    [
        {"chunk_size": 0},
        {"chunk_size": -1},
        {"chunk_overlap": -1},
        {"chunk_overlap": 61},
        {"chunk_overlap": 5, "overlap_sentences": 1},
        {"id_style": "random"},
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options)).split("_")[-1]):
        sentence_aligned(**options)


def test_every_argument_of_the_base_class_is_taken_by_name(make: Make) -> None:
    splitter = make(
        chunk_size=50,
        chunk_overlap=10,
        length_function=len,
        keep_separator="end",
        add_start_index=True,
        strip_whitespace=True,
    )
    assert isinstance(splitter, TextSplitter)
    assert splitter.split_text(PROSE)
    assert (splitter._chunk_size, splitter._chunk_overlap) == (50, 10)
    assert splitter._length_function("four") == 4


def test_the_length_function_decides_and_measures_whole_chunks(make: Make) -> None:
    measured: list[str] = []

    def count(text: str) -> int:
        measured.append(text)
        return words(text)

    chunks = make(chunk_size=6, length_function=count).split_text(PROSE)
    assert max(map(words, chunks)) <= 6
    assert set(chunks) <= set(measured)
    assert max(map(words, make(chunk_size=6, length_function="words").split_text(PROSE))) <= 6


def test_tokens_are_counted_offline_by_default(make: Make) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    cls = type(make())
    extra = {"language": "python"} if cls is DefinitionSplitter else {}
    splitter = cls.from_tiktoken_encoder(chunk_size=12, **extra)
    assert type(splitter) is cls
    chunks = splitter.split_text(PROSE)
    assert len(chunks) > 3
    assert max(map(splitter._length_function, chunks)) <= 12
    assert splitter._length_function("a <|endoftext|> b") > 3
    assert tiktoken


def test_a_hugging_face_tokenizer_counts(make: Make) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    cls = type(make())
    extra = {"language": "python"} if cls is DefinitionSplitter else {}
    chunks = cls.from_huggingface_tokenizer(tokenizer, chunk_size=6, **extra).split_text(PROSE)
    assert max(map(words, chunks)) <= 6
    assert len(chunks) < len(PROSE.split())


def test_overlap_repeats_whole_sentences() -> None:
    text = "One is here. Two is here. Three is here. Four is here."
    by_count = sentence_aligned(chunk_size=30, overlap_sentences=1).split_text(text)
    by_length = sentence_aligned(chunk_size=30, chunk_overlap=14).split_text(text)
    assert by_count[:2] == ["One is here. Two is here.", "Two is here. Three is here."]
    assert by_length == by_count


def test_without_stripping_the_chunks_tile_the_text(make: Make) -> None:
    for text in (PROSE, MARKDOWN, CODE, "  leading\n\n" + PROSE + "\n\n  "):
        splitter = make(strip_whitespace=False)
        assert "".join(splitter.split_text(text)) == text
        stripped = [chunk.strip() for chunk in make().split_text(text)]
        assert [chunk.strip() for chunk in splitter.split_text(text)] == stripped
        for chunk in splitter.create_documents([text]):
            start, end = chunk.metadata["start_index"], chunk.metadata["end_index"]
            assert text[start:end] == chunk.page_content


def test_metadata_is_copied_deeply_and_documents_are_left_alone(make: Make) -> None:
    documents = documents_of(PROSE, nested={"a": [1]})
    before = copy.deepcopy(documents)
    first, second, *_ = make().split_documents(documents)
    first.metadata["nested"]["a"].append(2)
    assert second.metadata["nested"] == {"a": [1]}
    assert documents == before


@pytest.mark.parametrize("text", ["", " ", "\n\t\n"])
def test_nothing_makes_no_chunk(make: Make, text: str) -> None:
    assert make().split_text(text) == []
    assert make().create_documents([text]) == []
    assert make().create_documents([]) == []


def test_one_splitter_serves_many_calls_threads_and_processes(make: Make) -> None:
    splitter = make()
    expected = splitter.split_text(PROSE)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(splitter.split_text, [PROSE] * 16)) == [expected] * 16
    for twin in (copy.deepcopy(splitter), pickle.loads(pickle.dumps(splitter))):
        assert twin.split_text(PROSE) == expected


async def test_it_transforms_documents(make: Make) -> None:
    splitter = make()
    documents = documents_of(PROSE)
    expected = splitter.split_documents(iter(documents))
    assert splitter.transform_documents(documents) == expected
    assert await splitter.atransform_documents(documents) == expected


def test_it_works_as_child_and_parent_splitter(store: InMemoryVectorStore) -> None:
    retriever = ParentDocumentRetriever(
        vectorstore=store,
        docstore=InMemoryStore(),
        child_splitter=sentence_aligned(chunk_size=40),
        parent_splitter=heading_path(chunk_size=200),
    )
    retriever.add_documents([Document(page_content=MARKDOWN, metadata={"source": "guide.md"})])
    (best, *_) = retriever.invoke("Or ten.")
    assert best.metadata["heading_path"] == "Guide > Time \\> limits"
    assert MARKDOWN[best.metadata["start_index"] : best.metadata["end_index"]] == best.page_content


def test_metadata_is_flat_and_can_be_written_as_json(make: Make) -> None:
    for chunk in make().split_documents(documents_of(MARKDOWN)):
        json.dumps(chunk.metadata)
        assert all(isinstance(value, str | int) for value in chunk.metadata.values())


def test_a_unit_that_stays_too_long_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    text = "word " * 40 + "end."
    with caplog.at_level(logging.WARNING, "ragtrace"):
        kept = sentence_aligned(oversize="keep").split_text(text)
    assert kept == [text]
    assert any("60" in record.getMessage() for record in caplog.records)
    assert max(map(len, sentence_aligned().split_text(text))) <= 60


def test_documents_are_told_apart_by_key_id_or_source() -> None:
    splitter = sentence_aligned()
    by_source = splitter.split_documents(
        [
            Document(page_content="One.", metadata={"source": "a.pdf", "page": 0}),
            Document(page_content="Two.", metadata={"source": "a.pdf", "page": 1}),
            Document(page_content="Three.", id="own"),
        ]
    )
    assert [c.metadata["chunk_id"] for c in by_source] == [
        "a.pdf#page=0#c0",
        "a.pdf#page=1#c0",
        "own#c0",
    ]
    by_key = sentence_aligned(document_id="url").create_documents(["x"], [{"url": "http://x"}])
    assert by_key[0].metadata["doc_id"] == "http://x"
    by_function = sentence_aligned(document_id=lambda metadata: metadata["n"] * 2)
    assert by_function.create_documents(["x"], [{"n": "ab"}])[0].metadata["doc_id"] == "abab"
    with pytest.raises(ValueError, match="no 'url'"):
        sentence_aligned(document_id="url").create_documents(["x"])


def test_texts_without_any_id_are_named_after_themselves() -> None:
    splitter = sentence_aligned()
    first, second, third = splitter.create_documents(["Same.", "Same.", "Other."])
    assert len({c.metadata["chunk_id"] for c in (first, second, third)}) == 3
    assert splitter.create_documents(["Other."])[0].metadata == third.metadata


def test_ids_are_left_out_or_made_of_the_chunk_id() -> None:
    documents = documents_of("One.")
    assert sentence_aligned().split_documents(documents)[0].id is None
    assert sentence_aligned(id_style="chunk_id").split_documents(documents)[0].id == "s#c0"
    uuid = sentence_aligned(id_style="uuid5").split_documents(documents)[0].id
    assert uuid == sentence_aligned(id_style="uuid5").split_documents(documents)[0].id
    assert uuid is not None
    assert len(uuid) == 36


def test_offsets_can_be_left_out() -> None:
    (chunk,) = sentence_aligned(add_start_index=False).split_documents(documents_of("One."))
    assert "start_index" not in chunk.metadata
    assert "end_index" not in chunk.metadata


def test_chunks_of_chunks_keep_their_place_in_the_document() -> None:
    sections = heading_path(chunk_size=200).split_documents(documents_of(MARKDOWN))
    chunks = sentence_aligned(chunk_size=20).split_documents(sections)
    assert [c.metadata["chunk_index"] for c in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        start, end = chunk.metadata["start_index"], chunk.metadata["end_index"]
        assert MARKDOWN[start:end] == chunk.page_content
    assert chunks[-1].metadata["heading_path"] == "Guide > Time \\> limits"


def test_a_title_goes_in_front_of_every_chunk() -> None:
    splitter = heading_path(chunk_size=80, title_key="title", prepend_heading_path=True)
    chunks = splitter.split_documents(documents_of(MARKDOWN, title="Manual"))
    assert all(chunk.page_content.startswith("Manual") for chunk in chunks)
    assert all(
        chunk.page_content[chunk.metadata["prefix_length"] :]
        == MARKDOWN[chunk.metadata["start_index"] : chunk.metadata["end_index"]]
        for chunk in chunks
    )


def test_html_has_headings_and_no_offsets() -> None:
    pytest.importorskip("html_to_markdown")
    html = "<h1>Guide</h1><p>Read it.</p><h2>Time</h2><p>Five seconds.</p><script>no()</script>"
    chunks = heading_path(format="html", chunk_size=40).split_documents(documents_of(html))
    assert [c.metadata["heading_path"] for c in chunks] == ["Guide", "Guide > Time"]
    assert all("start_index" not in c.metadata for c in chunks)
    assert "no()" not in "".join(c.page_content for c in chunks)


def test_two_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 texts and 1 metadatas"):
        sentence_aligned().create_documents(["a", "b"], [{}])


def test_lone_surrogates_are_text() -> None:
    assert sentence_aligned().split_text("One \ud83e two.") == ["One \ud83e two."]


@given(
    st.lists(st.sampled_from(["One.", "Dr. X ran.", "\n\n", " ", "「は。」", "a" * 30, "🎉"])),
    st.integers(1, 40),
    st.booleans(),
)
@settings(max_examples=100)
def test_any_text_is_covered_within_the_budget(parts: list[str], size: int, strip: bool) -> None:
    text = "".join(parts)
    chunks = SentenceAlignedSplitter(chunk_size=size, strip_whitespace=strip).create_documents(
        [text]
    )
    for chunk in chunks:
        start, end = chunk.metadata["start_index"], chunk.metadata["end_index"]
        assert text[start:end] == chunk.page_content
        assert len(chunk.page_content.strip()) <= size
    joined = "".join(chunk.page_content for chunk in chunks)
    assert "".join(joined.split()) == "".join(text.split())
    if not strip and chunks:
        assert joined == text


def test_chunks_of_html_are_its_text_even_where_white_space_is_kept() -> None:
    splitter = HeadingPathSplitter(chunk_size=40, format="html", strip_whitespace=False)
    assert splitter.split_text("<h1>One</h1><p>Two</p>") == ["# One\n\nTwo"]
