"""Foreign segmenters: their boundaries, our offsets."""

import builtins
import pickle
from collections.abc import Callable
from typing import Any

import pysbd
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize.punkt import PunktSentenceTokenizer

from ragtrace.chunking import (
    NltkSegmenter,
    PysbdSegmenter,
    RuleSegmenter,
    Segmenter,
    SpacySegmenter,
)

SEGMENTERS: dict[str, Segmenter] = {
    "spacy": SpacySegmenter("en"),
    "spacy-chinese": SpacySegmenter("zh"),
    "nltk": NltkSegmenter(PunktSentenceTokenizer()),
    "pysbd": PysbdSegmenter(pysbd.Segmenter(language="en", clean=False)),
    "pysbd-spans": PysbdSegmenter(pysbd.Segmenter(language="en", clean=False, char_span=True)),
}
each_segmenter = pytest.mark.parametrize("segmenter", SEGMENTERS.values(), ids=SEGMENTERS)


@each_segmenter
def test_sentences_come_with_exact_offsets(segmenter: Segmenter) -> None:
    text = "  It rained.  \n\nWe stayed\nin. \ud800 Then\r\nit stopped! \n"
    found = [text[start:end] for start, end in segmenter(text)]
    assert found[:2] == ["It rained.", "We stayed\nin."]
    assert "".join("".join(found).split()) == "".join(text.split())


@each_segmenter
def test_empty_and_white_texts_have_no_sentences(segmenter: Segmenter) -> None:
    assert segmenter("") == segmenter(" \n\n \t") == []


@each_segmenter
def test_segmenters_can_be_sent_to_another_process(segmenter: Segmenter) -> None:
    text = "One came. Two left."
    assert pickle.loads(pickle.dumps(segmenter))(text) == segmenter(text) == [(0, 9), (10, 19)]


@given(st.text(st.sampled_from(" .!?ab\"')(A1\n\r\ud800。字"), max_size=40))
@settings(max_examples=60)
def test_spans_are_ordered_and_cover_whatever_the_text(text: str) -> None:
    for segmenter in SEGMENTERS.values():
        at = 0
        for start, end in segmenter(text):
            assert at <= start < end
            assert not text[at:start].strip()
            assert text[start:end].strip() == text[start:end]
            at = end
        assert not text[at:].strip()


def test_a_text_longer_than_spacy_takes_is_handed_over_in_pieces() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 60_000
    text = "word " * 30_000
    assert (
        "".join(text[start:end] for start, end in SpacySegmenter(nlp)(text)).count("word") == 30_000
    )


def test_a_pipeline_that_was_trained_or_told_otherwise_is_used_as_it_is() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": [";"]})
    assert SpacySegmenter(nlp)("One. Two; three.") == [(0, 9), (10, 16)]


def test_a_segmenter_that_returns_nonsense_loses_nothing() -> None:
    class Careless:
        def span_tokenize(self, text: str) -> list[tuple[int, int]]:
            return [(5, 9), (2, 4), (5, 7), (len(text) + 9, len(text) + 20)]

    assert NltkSegmenter(Careless())("Here is a text.") == [(0, 4), (5, 15)]


def test_a_pipeline_without_boundaries_is_refused() -> None:
    with pytest.raises(ValueError, match="no sentence boundaries"):
        SpacySegmenter(spacy.blank("en"))


def test_an_unknown_language_code_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match="language 'qq'") as caught:
        SpacySegmenter("qq")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NltkSegmenter(object()), "span_tokenize"),  # type: ignore[arg-type]
        (lambda: PysbdSegmenter(object()), "segment"),
        (lambda: PysbdSegmenter(pysbd.Segmenter(clean=True)), "clean=False"),
    ],
)
def test_objects_that_cannot_segment_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_missing_spacy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_spacy(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "spacy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_spacy)
    with pytest.raises(ImportError, match=r"pip install 'ragtrace-kit\[spacy\]'"):
        SpacySegmenter("en")


def test_the_rules_keep_the_protocol_too() -> None:
    segmenter: Segmenter = RuleSegmenter()
    assert segmenter("One came. Two left.") == [(0, 9), (10, 19)]
