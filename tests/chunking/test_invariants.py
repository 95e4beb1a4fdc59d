"""Hypothesis attacks what must be true of every text, in every format, under every setting."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtrace.chunking import Chunk, length_function, split
from tests.chunking.judging import check_chunks, hostile_texts

EXAMPLES = 250
LONG_RUN = 8000


def odd_length(text: str) -> int:
    """Count so that a longer text may be shorter, as stemming tokenizers do."""
    return len(text) - 3 * text.count("\n\n") - text.count("  ") + 1


def heavy_ends(text: str) -> int:
    return len(text.split()) + 5 * text.endswith(".") + 2


lengths = st.sampled_from(
    ["cl100k_base", "cl100k_base", "o200k_base", "characters", "words", odd_length, heavy_ends]
)
forms = st.sampled_from(["prose", "markdown"])
options = st.one_of(
    st.fixed_dictionaries({"overlap_sentences": st.integers(0, 3)}),
    st.fixed_dictionaries({"window": st.integers(2, 4), "step": st.integers(1, 2)}),
    st.fixed_dictionaries({"title": st.just("A title"), "prepend_heading_path": st.booleans()}),
    st.just({"chunk_overlap": 5}),
)


def attack(
    text: str,
    form: str,
    budget: int,
    length: str | Callable[[str], int],
    sections: Any,
    extra: dict[str, Any],
) -> list[Chunk]:
    budget = max(budget, extra.get("chunk_overlap", 0) + 1)
    chunks = split(text, format=form, chunk_size=budget, length=length, sections=sections, **extra)
    overlaps = bool({"overlap_sentences", "window", "chunk_overlap"} & set(extra))
    check_chunks(text, chunks, budget, length_function(length), overlaps=overlaps)
    return chunks


arguments = st.tuples(
    hostile_texts,
    forms,
    st.integers(1, 60),
    lengths,
    st.sampled_from(["separate", "merge"]),
    options,
)


@given(arguments)
@settings(max_examples=EXAMPLES)
def test_no_text_breaks_an_invariant(given_arguments: tuple[Any, ...]) -> None:
    attack(*given_arguments)


@pytest.mark.slow
@given(arguments)
@settings(max_examples=LONG_RUN)
def test_no_text_breaks_an_invariant_in_a_long_run(given_arguments: tuple[Any, ...]) -> None:
    attack(*given_arguments)


@given(st.text(max_size=200), forms, st.integers(1, 30))
@settings(max_examples=EXAMPLES)
def test_any_characters_are_split(text: str, form: str, budget: int) -> None:
    attack(text, form, budget, "cl100k_base", "separate", {})


@given(hostile_texts, forms, st.integers(5, 60))
@settings(max_examples=60)
def test_equal_input_gives_equal_chunks_that_survive_pickling(
    text: str, form: str, budget: int
) -> None:
    chunks = split(text, format=form, chunk_size=budget)
    assert split(text, format=form, chunk_size=budget) == chunks
    assert pickle.loads(pickle.dumps(chunks)) == chunks


@given(hostile_texts, st.integers(5, 60))
@settings(max_examples=120)
def test_a_chunk_of_separate_sections_holds_one_heading_path(text: str, budget: int) -> None:
    for chunk in split(text, format="markdown", chunk_size=budget):
        assert len(chunk.heading_paths) == 1
        assert chunk.heading_paths == (chunk.heading_path,)


@given(hostile_texts, st.integers(5, 60))
@settings(max_examples=120)
def test_oversize_keep_loses_nothing(text: str, budget: int) -> None:
    chunks = split(text, format="markdown", chunk_size=budget, oversize="keep")
    check_chunks(text, chunks, 10**9, length_function("cl100k_base"))
