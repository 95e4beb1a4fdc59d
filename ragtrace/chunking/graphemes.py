"""Characters as a reader sees them: where a text may be cut without tearing one."""

import re
import unicodedata

_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINER = "\u200d"
_REACH = 64  # code points: marks piled higher than that are no writing


def replace_surrogates(text: str, replacement: str) -> str:
    """Return a text that can be encoded; one without lone surrogates is returned as it is."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _SURROGATE.sub(replacement, text)
    return text


def grapheme_cut(text: str, start: int, at: int) -> int:
    r"""Return the last place at or before `at`, after `start`, that tears no character.

    Returns `start` where there is none: what begins there reaches beyond `at`.

    >>> grapheme_cut("ae\u0301b", 0, 2)
    1
    """
    floor = max(start, at - _REACH)
    position = at
    while position > floor and not _may_cut(text, position):
        position -= 1
    if position > floor or floor == start:
        return position
    return at


def grapheme_end(text: str, start: int, end: int) -> int:
    """Return where the character that begins at `start` ends."""
    position = start + 1
    while position < end and position - start < _REACH and not _may_cut(text, position):
        position += 1
    return position


def _may_cut(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return not (before == "\r" and after == "\n")
    if after == _JOINER or before == _JOINER or _extends(after):
        return False
    if "\udc00" <= after <= "\udfff":
        return not "\ud800" <= before <= "\udbff"
    if _is_regional(before) and _is_regional(after):
        return _flags_before(text, at) % 2 == 0
    return not _is_hangul_syllable(before, after)


def _extends(character: str) -> bool:
    """Say whether the character belongs to the one before it: marks, selectors, skin tones."""
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or character == "\u200c"
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    count = 0
    while count < _REACH and count < at and _is_regional(text[at - 1 - count]):
        count += 1
    return count


def _is_hangul_syllable(before: str, after: str) -> bool:
    if not "\u1100" <= after <= "\u11ff":
        return False
    return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
