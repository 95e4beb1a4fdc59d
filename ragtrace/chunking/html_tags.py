"""HTML as the converter should see it: what is no text is gone, and so is what only dresses text.

Markup is read once from the front, as browsers do. What looks like a tag that never ends is text.
"""

import re
from collections import Counter

_MARKUP = re.compile(
    r"""(?isx)
    (?P<comment> <!--(?:-?>|.*?(?:--!?>|\Z)) | </?[!?][^>]*+(?:>|\Z) | </(?![a-z])[^>]*+(?:>|\Z) )
    | <(?P<raw> script|style|iframe|noembed|noframes|title )(?=[\s/>])[^>]*+>
        .*?(?: </(?P=raw)(?=[\s/>])[^>]*+(?:>|\Z) | \Z )
    | <textarea(?=[\s/>])[^>]*+> (?P<typed> .*?) (?: </textarea(?=[\s/>])[^>]*+(?:>|\Z) | \Z )
    | <(?P<slash>/?)(?P<name>[a-z][^\s/>]*+)
        (?P<attributes> (?: [^>=]++ | =\s*+(?: "[^"]*" | '[^']*' )? )*+ ) (?P<end> > | \Z )
    | (?P<break> [\r\n]\s*+ )
    | <
    """
)
_ALT = re.compile(r"""(?is)(?<![^\s"'/])alt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""")

# Tags that change how text looks, or where it leads, but not what it says.
_DRESS = re.compile(
    r"a|abbr|acronym|b|bdi|bdo|big|cite|data|del|dfn|em|embed|font|i|ins|kbd|label|map|mark|nobr"
    r"|object|picture|q|s|samp|small|span|strike|strong|sub|sup|svg|time|tt|u|var|wbr"
)
_VOID = re.compile(r"area|base|br|col|hr|input|link|meta|param|source|track")
# Elements that close one another, so that however many stand unclosed none is inside the last.
_FLAT = re.compile(
    r"body|caption|colgroup|dd|dt|h[1-6]|head|html|li|optgroup|option|p|r[pt]|t(?:body|d|foot|h|head|r)"
)
# What Markdown has no word for becomes what reads the same; a term begins an item that holds what
# is said of it, so that the two stay together.
_RENAMED = {
    "caption": "p",
    "dd": "div",
    "dl": "ul",
    "dt": "li",
    "figcaption": "p",
    "legend": "p",
    "summary": "p",
}
# The converter leaves out what is nested deeper than a thousand elements; a table takes four.
_DEEPEST = 150


def simplify_html(html: str) -> str:
    """Return the HTML without scripts, comments, line breaks and tags that are no structure.

    >>> simplify_html("<p>A <b>bold</b> x < y<script>no()</script><img alt='map'>")
    '<p>A bold x &lt; y map '
    """
    return _MARKUP.sub(_Simplifier().rewrite, html)


class _Simplifier:
    """Rewrite one piece of markup after the other, and flatten what is nested too deep."""

    def __init__(self) -> None:
        self._depth = 0
        self._opened: Counter[str] = Counter()
        self._flattened: Counter[str] = Counter()

    def rewrite(self, markup: re.Match[str]) -> str:
        name = markup["name"]
        if name is None:
            return self._without_name(markup)
        if not markup["end"]:
            return markup[0].replace("<", "&lt;")
        name = name.lower()
        if _DRESS.fullmatch(name):
            return ""
        if name == "img":
            return _alternative(markup["attributes"])
        if _VOID.fullmatch(name):
            return markup[0]
        closes = bool(markup["slash"])
        if _FLAT.fullmatch(name):
            if self._flattened:
                return "<br>"
            if name == "dt" and closes:
                return ""
        elif not self._keeps(name, closes):
            return "<br>"
        return f"<{markup['slash']}{_RENAMED[name]}>" if name in _RENAMED else markup[0]

    def _without_name(self, markup: re.Match[str]) -> str:
        if markup["typed"] is not None:
            text = markup["typed"].replace("<", "&lt;")
            return f" {text} "
        if markup["break"]:
            return markup[0] if self._opened["pre"] else " "
        ends = markup[0].endswith(">") or markup[0].startswith("<!--")
        return "" if ends or markup["raw"] else markup[0].replace("<", "&lt;")

    def _keeps(self, name: str, closes: bool) -> bool:
        """Count what is open, and say whether a tag is within the depth that is kept."""
        if not closes:
            if self._depth >= _DEEPEST:
                self._flattened[name] += 1
                return False
            self._opened[name] += 1
            self._depth += 1
        elif self._flattened[name]:
            self._flattened -= Counter((name,))
            return False
        elif self._opened[name]:
            self._opened[name] -= 1
            self._depth -= 1
        return True


def _alternative(attributes: str) -> str:
    """Return what is said in place of a picture."""
    found = _ALT.search(attributes)
    text = next(filter(None, found.groups()), "") if found else ""
    return f" {text.replace('<', '&lt;')} " if text else " "
