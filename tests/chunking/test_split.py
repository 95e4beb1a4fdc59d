"""The front door: settings that make no sense are refused in one line, texts never are."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ragtrace.chunking import Chunk, split
from tests.chunking.judging import check_chunks


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"chunk_size": 0}, "chunk_size is 0"),
        ({"chunk_size": "512"}, "chunk_size is '512': give a whole number"),
        ({"chunk_size": 5.5}, "chunk_size is 5.5: give a whole number"),
        ({"overlap_sentences": -1}, "overlap_sentences is -1"),
        ({"chunk_overlap": -1}, "chunk_overlap is -1"),
        ({"chunk_size": 5, "chunk_overlap": 5}, "chunk_overlap 5 is not smaller"),
        ({"chunk_overlap": 5, "overlap_sentences": 1}, "overlap_sentences and chunk_overlap"),
        ({"window": 3, "overlap_sentences": 1}, "overlap_sentences and window"),
        ({"step": 1}, "step is given without window"),
        ({"window": 0}, "window is 0"),
        ({"window": 2, "step": 3}, "step is 3"),
        ({"window": 2, "step": 0}, "step is 0"),
        ({"format": "pdf"}, "format is 'pdf': give one of 'prose', 'markdown'"),
        ({"oversize": "drop"}, "oversize is 'drop'"),
        ({"sections": "none"}, "sections is 'none'"),
        ({"language": "python"}, "only code has one"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split("", **settings)


@pytest.mark.parametrize("text", [None, b"One.", ["One."], Path("a.md")])
def test_what_is_not_a_string_is_refused_and_not_read_as_empty(text: object) -> None:
    with pytest.raises(ValueError, match=f"text is a {type(text).__name__}: give a string"):
        split(text)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("form", ["prose", "markdown"])
@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t", "\u2028\u00a0"])
def test_a_text_without_characters_has_no_chunks(text: str, form: str) -> None:
    assert split(text, format=form) == []


@pytest.mark.parametrize("form", ["prose", "markdown"])
@pytest.mark.parametrize("text", ["x", "\ufeff", "\ud800", "\x00", "。", "#", "```", "|", ">", "-"])
def test_a_lone_mark_is_one_chunk(text: str, form: str) -> None:
    [chunk] = split(text, format=form)
    assert (chunk.text, chunk.start, chunk.end, chunk.index) == (text, 0, len(text), 0)


def test_a_text_that_fits_is_one_chunk_without_the_white_space_around_it() -> None:
    [chunk] = split("\n Hello there. \n", doc_id="a")
    assert chunk == Chunk("a", 0, 2, 14, "Hello there.", heading_paths=((),), length=3)


def test_special_tokens_are_text() -> None:
    [chunk] = split("Ends with <|endoftext|>")
    assert chunk.text == "Ends with <|endoftext|>"


def test_a_title_stands_in_front_of_every_chunk_within_the_budget() -> None:
    text = "One sentence. Another sentence. A third sentence."
    chunks = split(text, chunk_size=40, length="characters", title="Guide")
    assert len(chunks) == 2
    assert all(chunk.content.startswith("Guide\n\n") for chunk in chunks)
    check_chunks(text, chunks, 40, len)


def test_threads_make_equal_chunks() -> None:
    text = "# A\n\nOne sentence. Another one.\n\n- a\n- b\n" * 40
    expected = split(text, format="markdown", chunk_size=50)
    results: list[list[Chunk]] = []

    def work() -> None:
        results.append(split(text, format="markdown", chunk_size=50))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 6


def test_chunks_do_not_depend_on_the_process() -> None:
    code = (
        "from ragtrace.chunking import split\n"
        "text = '# A\\n\\nOne sentence. Another one.\\n\\n- a\\n- b\\n' * 20\n"
        "print([c.start for c in split(text, format='markdown', chunk_size=50)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


HOSTILE = {
    "one line of words": "word and more " * 714_286,
    "one line of one letter": "a" * 10_000_000,
    "quotes": ">" * 50_000,
    "brackets": "[" * 100_000,
    "unclosed fence": "```python\n" + "value = call(argument, other=1)  # note\n" * 250_000,
    "blank lines": " \n" * 3_000_000,
    "deep list": "".join("  " * depth + "- a\n" for depth in range(600)),
    "open mathematics": "$$\n" * 300_001,
    "flat list": "- item one\n" * 200_000,
    "table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200_000,
    "marks on one letter": "a" + "\u0301" * 500_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["prose", "markdown"])
def test_long_inputs_stay_small_and_whole(name: str, form: str) -> None:
    text = HOSTILE[name]
    chunks = split(text, format=form)
    assert max((chunk.length for chunk in chunks), default=0) <= 512
    kept = sum(len("".join(chunk.text.split())) for chunk in chunks)
    assert kept == len("".join(text.split()))
