"""Lengths: exact on the joined string, whatever counts, and no network where none is needed."""

import os
import subprocess
import sys

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.chunking import length_function, split
from ragtrace.chunking.lengths import make_ruler
from ragtrace.chunking.tokens import load_encoding
from tests.chunking.judging import hostile_texts

ENCODINGS = ("cl100k_base", "o200k_base")


class Tokenizer:
    """Count as Hugging Face tokenizers do: an object that encodes, with special tokens or not."""

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [0] * (len(text.split()) + 2 * add_special_tokens)


class Encoding:
    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


class FastTokenizer:
    def encode(self, text: str, add_special_tokens: bool = True) -> Encoding:
        return Encoding([0] * (len(text) + add_special_tokens))


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("characters", 9),
        ("words", 2),
        ("cl100k_base", 2),
        (len, 9),
        (lambda text: text.count("w"), 2),
        (Tokenizer(), 2),
        (FastTokenizer(), 9),
    ],
)
def test_a_length_is_a_name_a_function_or_a_tokenizer(length: object, expected: int) -> None:
    assert length_function(length)("two words") == expected


def test_a_tiktoken_encoding_object_counts_too() -> None:
    encoding = load_encoding("o200k_base")
    assert length_function(encoding)("<|endoftext|>") == len(
        encoding.encode("<|endoftext|>", disallowed_special=())
    )


def test_an_unknown_name_lists_the_choices() -> None:
    with pytest.raises(ValueError, match=r"unknown length 'cl200k'.*cl100k_base.*'characters'"):
        split("text", length="cl200k")


@pytest.mark.parametrize("length", [None, 3, ["words"]])
def test_what_is_no_length_is_refused(length: object) -> None:
    with pytest.raises(ValueError, match="length is"):
        split("text", length=length)


def test_a_function_that_returns_no_number_is_named() -> None:
    with pytest.raises(ValueError, match=r"length function returned 1\.5"):
        split("text", length=lambda text: 1.5)


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=hostile_texts, places=st.tuples(st.integers(0, 400), st.integers(0, 400)))
@settings(max_examples=200)
def test_any_span_is_counted_exactly(name: str, text: str, places: tuple[int, int]) -> None:
    start, end = sorted(min(place, len(text)) for place in places)
    ruler = make_ruler(name, text)
    count = length_function(name)
    assert ruler.measure(start, end) == count(text[start:end])
    assert ruler.measure(start, end, "Guide\n\n", "\n```") == count(
        "Guide\n\n" + text[start:end] + "\n```"
    )


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
@settings(max_examples=100)
def test_counts_are_those_of_tiktoken(name: str, text: str) -> None:
    encoding = load_encoding(name)
    assert length_function(name)(text) == len(encoding.encode(text, disallowed_special=()))


def test_counts_of_long_runs_stay_exact_for_each_chunk() -> None:
    text = "Start here. " + "ab" * 9_000 + " and " + "漢" * 8_000 + " end."
    for chunk in split(text, chunk_size=100):
        encoding = load_encoding("cl100k_base")
        assert chunk.length == len(encoding.encode(chunk.content, disallowed_special=())) <= 100


def test_loading_a_table_leaves_the_environment_as_it_was() -> None:
    before = dict(os.environ)
    load_encoding.cache_clear()
    load_encoding("cl100k_base")
    assert dict(os.environ) == before


def test_a_table_that_cannot_be_had_is_one_clear_line(tmp_path: object) -> None:
    # An empty folder named by the user wins over the bundled tables; the proxy leads nowhere.
    code = (
        "from ragtrace.chunking import split\n"
        "try:\n    split('text', length='cl100k_base')\n"
        "except ValueError as error:\n    print(error)\n"
    )
    nowhere = "http://127.0.0.1:9"
    environment = os.environ | {
        "TIKTOKEN_CACHE_DIR": str(tmp_path),
        "HTTPS_PROXY": nowhere,
        "https_proxy": nowhere,
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert "'cl100k_base'" in done.stdout
    assert "TIKTOKEN_CACHE_DIR" in done.stdout
    assert "'characters'" in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_the_names_are_those_of_the_installed_tiktoken() -> None:
    with pytest.raises(ValueError, match=tiktoken.list_encoding_names()[0]):
        length_function("none such")
