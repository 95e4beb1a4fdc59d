"""Sentences from spaCy, NLTK or pySBD, with the exact offsets that chunking needs.

Whatever a foreign segmenter returns, only the places where its sentences begin are taken from it:
a sentence reaches to the next beginning, so nothing is lost and no two overlap. Texts are handed
over in paragraphs, which keeps them below every length limit, and a line wrap is handed over as a
space.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from ragtrace.chunking.lines import split_blocks
from ragtrace.chunking.sentences import Span

if TYPE_CHECKING:
    from spacy.language import Language

# Far below spaCy's limit of a million characters, and what its trained pipelines like to hold.
_LONGEST_PIECE = 50_000
# Replaced one for one, so that offsets stay: wraps, and lone surrogates, which have no UTF-8 form.
_UNWELCOME = re.compile("[\n\r\ud800-\udfff]")
_PROBE = "One sentence. Another one."


class SpacySegmenter:
    """Take sentence boundaries from a spaCy pipeline.

    A language code makes a blank pipeline with spaCy's rule-based `sentencizer`; any loaded
    `Language` that sets sentence boundaries (`sentencizer`, `senter`, `parser`) is used as it is.
    Raises `ValueError` where it sets none, and `ImportError` where spaCy is not installed.

    >>> text = "Ciao. Come stai?"
    >>> [text[start:end] for start, end in SpacySegmenter("it")(text)]
    ['Ciao.', 'Come stai?']
    """

    def __init__(self, language: "str | Language" = "en") -> None:
        self._nlp = _blank_pipeline(language) if isinstance(language, str) else language
        self._code = language if isinstance(language, str) else None
        if not self._nlp(_PROBE).has_annotation("SENT_START"):
            raise ValueError(
                "the spaCy pipeline sets no sentence boundaries: add 'sentencizer', 'senter' or "
                "'parser' to it"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return SpacySegmenter, (self._code or self._nlp,)

    def __call__(self, text: str) -> list[Span]:
        """Return the sentences of `text` as spans."""
        return _segment(text, self._starts)

    def _starts(self, piece: str) -> Iterator[int]:
        return (sentence.start_char for sentence in self._nlp(piece).sents)


class SpanTokenizer(Protocol):
    """What NLTK's sentence tokenizers have in common."""

    def span_tokenize(self, text: str, /) -> Iterable[tuple[int, int]]:
        """Return the spans of the sentences of `text`."""
        ...


class NltkSegmenter:
    """Take sentence boundaries from an NLTK tokenizer, such as a `PunktSentenceTokenizer`.

    >>> from nltk.tokenize.punkt import PunktSentenceTokenizer
    >>> NltkSegmenter(PunktSentenceTokenizer())("It rained. We left.")
    [(0, 10), (11, 19)]
    """

    def __init__(self, tokenizer: SpanTokenizer) -> None:
        if not hasattr(tokenizer, "span_tokenize"):
            raise ValueError(
                f"{type(tokenizer).__name__} has no span_tokenize(): give an NLTK sentence "
                "tokenizer, such as nltk.tokenize.punkt.PunktSentenceTokenizer()"
            )
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> list[Span]:
        """Return the sentences of `text` as spans."""
        return _segment(text, self._starts)

    def _starts(self, piece: str) -> Iterator[int]:
        return (start for start, _ in self._tokenizer.span_tokenize(piece))


class PysbdSegmenter:
    """Take sentence boundaries from a `pysbd.Segmenter(..., clean=False)`.

    Its sentences are looked up in the text one after the other, so `char_span` may be on or off;
    `clean=True` rewrites the text and is refused with a `ValueError`.
    """

    def __init__(self, segmenter: Any) -> None:
        if not hasattr(segmenter, "segment"):
            raise ValueError(
                f"{type(segmenter).__name__} has no segment(): give a pysbd.Segmenter()"
            )
        if getattr(segmenter, "clean", False):
            raise ValueError("pysbd rewrites the text with clean=True: give clean=False")
        self._segmenter = segmenter

    def __call__(self, text: str) -> list[Span]:
        """Return the sentences of `text` as spans."""
        return _segment(text, self._starts)

    def _starts(self, piece: str) -> Iterator[int]:
        at = 0
        for sentence in self._segmenter.segment(piece):
            words = str(getattr(sentence, "sent", sentence)).strip()
            found = piece.find(words, at) if words else -1
            if found >= 0:
                yield found
                at = found + len(words)


def _blank_pipeline(code: str) -> "Language":
    try:
        import spacy
    except ImportError as error:
        raise ImportError(
            "SpacySegmenter needs spacy: pip install 'ragtrace-kit[spacy]'"
        ) from error
    try:
        nlp = spacy.blank(code)
    except ImportError as error:
        raise ValueError(
            f"spaCy cannot make a pipeline for language {code!r} ({str(error).splitlines()[0]}): "
            "give a code such as 'en', or a loaded Language"
        ) from error
    nlp.add_pipe("sentencizer")
    return nlp


def _segment(text: str, starts_of: Callable[[str], Iterable[int]]) -> list[Span]:
    """Return the sentences of a text, given where they start in each piece of it."""
    spans: list[Span] = []
    for start, end in _split_pieces(text):
        piece = _UNWELCOME.sub(_stand_in, text[start:end])
        cuts = [start]
        for offset in starts_of(piece):
            if cuts[-1] < start + offset < end:
                cuts.append(start + offset)
        cuts.append(end)
        spans.extend(_trimmed(text, a, b) for a, b in pairwise(cuts))
    return [span for span in spans if span[0] < span[1]]


def _split_pieces(text: str) -> Iterator[Span]:
    for start, end in split_blocks(text):
        while end - start > _LONGEST_PIECE:
            space = text.rfind(" ", start + 1, start + _LONGEST_PIECE)
            cut = space if space > 0 else start + _LONGEST_PIECE
            yield start, cut
            start = cut
        yield start, end


def _stand_in(match: re.Match[str]) -> str:
    return " " if match[0] in "\n\r" else "\ufffd"


def _trimmed(text: str, start: int, end: int) -> Span:
    sentence = text[start:end]
    return end - len(sentence.lstrip()), start + len(sentence.rstrip())
