"""The rule segmenter: what ends a sentence, what does not, and that nothing is lost."""

import pickle
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragtrace.chunking import RuleSegmenter

SEGMENTER = RuleSegmenter()


def sentences(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in RuleSegmenter(language)(text)]


# Each row lists the sentences of a text in which they are joined by one space.
SPACED = {
    "titles": [
        "Prof. Adeyemi met Ms. Kowalczyk and Rev. Tuck at noon.",
        "Capt. Ruiz waited with Lt. Gov. Hahn.",
        "Mt. Elgon and Ft. Hood are far apart.",
        "MR. BELL SHOUTED.",
    ],
    "initials": [
        "The novel by R. K. Narayan won over E.B. White.",
        "Ask J. Alvarez, not M.T. Osei.",
        "We were three, Ann and Bob and I.",
        "They take vitamin C.",
        "It helps.",
    ],
    "latin short forms": [
        "Some tools, e.g. a rake, i.e. the old one, stay outside.",
        "Cf. the note, viz. the last.",
        "Roughly ca. 40 came, incl. two dogs.",
    ],
    "acronyms": [
        "She moved to the U.K. last spring.",
        "He left the U.S. Navy in May.",
        "We flew back to the U.S.",
        "The trip was long.",
        "Her Ph.D. thesis took years.",
    ],
    "times and dates": [
        "The shop opens at 9 a.m. on weekdays and shuts at 6 p.m. sharp.",
        "It rained on Jan. 3 and again in Dec. 2021.",
        "We close at 8 p.m.",
        "The bar stays open.",
    ],
    "companies and streets": [
        "Harlow & Sons Ltd. shipped the crates.",
        "The parcel went to 12 Elm St. on Monday.",
        "It came back from Elm St.",
        "The label was wet.",
        "The Fed. Reserve, says the Fed.",
        "They lowered rates.",
        "St. Clair and Mt. Hood saw rain.",
        "He works for Brandt Inc. and likes it.",
        "Nobody sued Acme Corp.",
        "It had gone.",
        "Rice, beans, etc. were sold out.",
        "They sold maps, globes, etc.",
        "Nobody came.",
    ],
    "numbers and versions": [
        "Version 3.11.2 costs $4.50 per seat.",
        "The rate fell by .5 to 2.75.",
        "Then it rose.",
        "Update to v1.0.0-rc.2 first.",
        "That took 12.",
        "The rest took 20.",
    ],
    "addresses and files": [
        "Open settings.local.json in src/app.config.ts now.",
        "Read https://docs.example.com/v2.1/index.html?x=1.5&y=a.b for more.",
        "Write to help.desk@mail.example.co.uk.",
        "Node.js and ASP.NET both call foo.bar() there.",
        "See www.example.org.",
        "It has all.",
    ],
    "ellipses": [
        "He paused... and then went on.",
        "I thought... well, never mind.",
        "She never came back....",
        "The door stayed shut.",
        "Wait … what is that?",
        "The end was near . . . .",
        "Nobody knew.",
    ],
    "runs of stops": ["Really?!", "Yes!!!", "Are you sure??", "No."],
    "dialogue": [
        'The guard said, "The bridge is down."',
        '"Take the ferry," she told him.',
        '"Does it run at night?" he asked.',
        '"It does!" said the guard.',
        "He nodded.",
        '"Then we wait."',
        "“Must we?” asked the child.",
        "‘We must.’",
        '"Where to?" Marta said.',
    ],
    "brackets": [
        "The lamp (it was new) broke.",
        "(Nobody had touched it.)",
        "She asked why (he had no idea).",
        "He sells boats (He used to build them as well.) to tourists.",
        "[Laughter.]",
        "They went on.",
    ],
    "science": [
        "Okoro et al. [2011] and Lund et al. 2019 agree.",
        "See Figs. 2 and 3, Eq. 14, Tab. 2 and Sec. 5.1.",
        "The survey is in Vol. 8, No. 2, pp. 17–29.",
        "Growth stalled (cf. Ref. [9]).",
        "The claim was confirmed.[12]",
        "It was repeated (Brandt et al., 2003).",
        "Meyer, K., ed. (1998), On Rivers, 3rd edition.",
        "It has 90 plates.",
    ],
    "law": [
        "In Harper v. Lindgren, 512 U.S. 84, the court agreed.",
        "See 17 U.S.C. § 107 and Fed. R. Civ. P. 12(b)(6).",
        "Art. 6 and para. 3 apply.",
    ],
    "figures of speech": [
        "Was it No. 7?",
        "He said no.",
        "The answer is no.",
        "It stays no. 1 in the list.",
    ],
    "capitals": ["STOP THE ENGINE.", "CALL THE U.S. OFFICE AT ONCE!", "DO NOT WAIT."],
    "names with a mark": ["She worked at Yahoo! in the nineties.", "It was fun!"],
    "careless typing": ["i went home early.", "it was cold.", "did you stay?", "you should."],
    "other marks": ["Is it so‽", "It is…", "Who knows⁇"],
    "notes and marks of emphasis": ["This is **bold.**", "*So is this.*", "And `this`."],
    "numbered paragraph": ["1. Turn the key.", "Then push.", "The lid opens."],
    "subsections": ["4.2. Results are shown below.", "(ii) They hold.", "b) Some do not."],
    "Spanish": ["¿Dónde está?", "¡Aquí!", "El Sr. Gil y la Sra. Paz llegaron.", "Vale."],
    "Russian": ["Он пришёл.", "Она ушла, т.е. уехала.", "Где они?"],
    "Greek": ["Ήρθε.", "Έφυγε."],
    "Arabic": ["أين الكتاب؟", "هو هنا.", "شكرا!"],
    "Hindi": ["वह घर गया।", "फिर वह सो गया।"],
}
# The same, joined by nothing.
UNSPACED = {
    "Japanese": ["猫が寝ている。", "起こしますか？", "「いいえ。」と母が言った。", "税は8.5％だ。"],
    "Chinese": ["火车晚点了！", "你几点到？", "“我马上走。”她说。", "票价2.5元。", "好。"],
    "closing brackets": ["雨だ（強い）。", "「帰る。」", "風も強い！？"],
}
# What stands in one text, with any white space between the sentences.
IN_ONE_TEXT = [
    ("Wrapped lines do not\nend a sentence. Nor does\nthis one.", 2),
    ("The first paragraph has no stop\n\nNor has the second", 2),
    ("Windows lines\r\nwrap too.\r\n\r\nAnd break.", 2),
    ("Steps:\n- open the lid\n- pour\n- close it", 4),
    ("1) wash the rice 2) boil it 3) eat", 3),
    ("a. The lid b. The bowl c. The rim", 3),
    ("• 1. The lid • 2. The bowl", 2),
    ("Getting started\nThis part of the guide tells how the service is set up and then run.", 2),
    ("Mail me.\n-----------\nJo Marsh", 3),
    ("He came on the 3rd - a Monday\n- and left again the next day without a word.", 1),
    ("I saw it.You did not. She left.", 3),
    ("Use queue.Queue and System.Out here.", 1),
    ("so we looked at the pump and it was fine and then somebody said check the tank", 1),
    ("Great work! :) Thanks.", 2),
    ("", 0),
    (" \n\n\t ", 0),
    ("x", 1),
    ("...", 1),
    ("\ufeffHello there. Bye.", 2),
    ("\ud800 goes. It stays.", 2),
    ("<|endoftext|> is text. So what?", 2),
]
LANGUAGES = [
    (
        "de",
        ["Wir sahen z. B. Herrn Dr. Roth.", "Am 3. Oktober war frei.", "Das lief bzw. lag vor."],
    ),
    ("de", ["Im 19. Jahrhundert gab es das nicht.", "„Wirklich?“ fragte er.", "„Ja.“", "Gut."]),
    ("fr", ["M. Petit et Mme Roux sont là.", "« Bonjour ! » dit-elle.", "Voir p. 12."]),
    ("it", ["Il sig. Bo e la dott. Re parlano.", "È vero?", "Sì."]),
    ("nl", ["Dhr. Vos woont o.a. in Delft.", "Zij ook."]),
    ("pl", ["Np. Jan mieszka na ul. Długiej.", "Tak."]),
    ("pt", ["O Sr. Lima e a Sra. Paz saíram.", "Sim."]),
    ("zz", ["An unknown code does no harm.", "See."]),
]


@pytest.mark.parametrize("kind", SPACED)
def test_sentences_are_told_apart(kind: str) -> None:
    assert sentences(" ".join(SPACED[kind])) == SPACED[kind]


@pytest.mark.parametrize("kind", SPACED)
def test_a_hard_line_wrap_changes_nothing(kind: str) -> None:
    text = " ".join(SPACED[kind])
    wrapped = "\n".join(wrap(text, 40))
    assert [sentence.split() for sentence in sentences(wrapped)] == [
        sentence.split() for sentence in sentences(text)
    ]


def wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines


@pytest.mark.parametrize("kind", UNSPACED)
def test_scripts_without_spaces_end_sentences_too(kind: str) -> None:
    assert sentences("".join(UNSPACED[kind])) == UNSPACED[kind]


@pytest.mark.parametrize(("text", "count"), IN_ONE_TEXT)
def test_lines_lists_and_oddities_give_so_many_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count, sentences(text)


@pytest.mark.parametrize(("language", "expected"), LANGUAGES)
def test_a_language_adds_its_abbreviations(language: str, expected: list[str]) -> None:
    assert sentences(" ".join(expected), language) == expected


def test_segmenters_are_values() -> None:
    segmenter = RuleSegmenter("de")
    copy = pickle.loads(pickle.dumps(segmenter))
    assert copy == segmenter
    assert hash(copy) == hash(segmenter)
    assert copy != RuleSegmenter()
    assert repr(segmenter) == "RuleSegmenter(language='de')"
    assert copy("Es gilt z.B. das.") == [(0, 17)]


HOSTILE = st.text(
    st.sampled_from(".!?…。\"'”“()[]«» \n\r\t\u2029\ud800-–*_•=#:;,aAbI1é字と的") | st.characters(),
    max_size=60,
)
WORDS = st.lists(
    st.sampled_from(
        ["Dr.", "The", "cat", "sat.", "U.S.", "He", "\"Why?\"", "1.", "2)", "-", "\n", "\n\n", "a.",
         "e.g.", "No.", "5", "etc.", "(See", "p.", "3.)", "...", "I", "said", "---", "###", "x.y"]
    ),
    max_size=30,
).map(" ".join)  # fmt: skip


@given(HOSTILE | WORDS)
@settings(max_examples=300)
@example(".\u2029.")
@example("a.\n\n\n")
def test_spans_are_ordered_trimmed_and_cover_the_text(text: str) -> None:
    spans = SEGMENTER(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        at = end
    assert not text[at:].strip()
    assert SEGMENTER(text) == spans


@given(WORDS)
@settings(max_examples=100)
def test_paragraphs_do_not_see_each_other(text: str) -> None:
    alone = sentences(text)
    assert sentences(f"Before it.\n\n{text}") == ["Before it.", *alone]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [".", "\"", "(", ".\"", ". .", ".[", ".[1", "x.", "word ", " ", "\n", "\r", ".:)", "1) 2)", "-",
     "。", "字", "A.", "_", "?" , "a\n", "(.", ". \u00a0"],
)  # fmt: skip
def test_no_input_takes_more_than_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        started = time.perf_counter()
        SEGMENTER(text)
        return time.perf_counter() - started

    # Four times as much may take eight times as long on a busy machine, not sixteen times.
    assert seconds(4_000_000) < 10 * max(seconds(1_000_000), 0.02)
