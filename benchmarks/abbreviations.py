"""Write `ragtrace/chunking/abbreviations.py` from spaCy's language data.

Run once, when a language is added: `python -m benchmarks.abbreviations`.
"""

import re
from pathlib import Path

import spacy

TARGET = Path(__file__).parents[1] / "ragtrace" / "chunking" / "abbreviations.py"
CODES = ("bg", "ca", "da", "de", "el", "es", "fi", "fr", "hu", "id", "it", "nb", "nl", "pt", "ro")
CODES += ("ru", "sl", "sr", "sv", "tr", "uk")
ABBREVIATION = re.compile(r"[^\W\d_][\w.’'-]{0,10}\.")
# spaCy keeps these whole for its own ends; as last words of a sentence they are common.
WORDS = {
    "da": "as din dit for fra kan sin skal til ved den det dem der man mod han hun her se os",
    "de": "am an in um ab art bar",
    "nb": "den det for fra til man",
    "sv": "den det",
}


def abbreviations(code: str) -> list[str]:
    """Return the language's abbreviations, small letters, without the last stop."""
    language = spacy.blank(code)
    found = {key for key in language.Defaults.tokenizer_exceptions if ABBREVIATION.fullmatch(key)}
    # Single Latin letters are in every list; initials have a rule of their own.
    words = {key[:-1].lower() for key in found if len(key) > 2 or key[0] > "\u024f"}
    return sorted(words - set(WORDS.get(code, "").split()))


def render(tables: dict[str, list[str]]) -> str:
    """Return the module's source."""
    lines = [
        '"""Abbreviations by language, small letters and without the last stop.',
        "",
        "Written by `benchmarks/abbreviations.py` from spaCy's language data (MIT); do not edit.",
        '"""',
        "",
        "ABBREVIATIONS_OF = {",
    ]
    for code, words in tables.items():
        lines.append(f'    "{code}": (')
        line = ""
        for word in words:
            if len(line) + len(word) > 84:
                lines.append(f'        "{line}"')
                line = ""
            line += f"{word} "
        lines += [f'        "{line.rstrip()}"', "    ),"]
    return "\n".join([*lines, "}", ""])


if __name__ == "__main__":
    tables = {code: words for code in CODES if (words := abbreviations(code))}
    TARGET.write_text(render(tables), encoding="utf-8")
    print({code: len(words) for code, words in tables.items()})
