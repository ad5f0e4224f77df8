"""How values stand on a page, and how words become patterns and links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from sentgen.lookups.cql.search import is_cql

#: Characters of one value that are shown; a corpus may hold words of thousands.
MOST_CHARACTERS = 300
MOST_OF_WORD = 60
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONG_WORD = re.compile(rf"\S{{{MOST_OF_WORD + 1},}}")
_SPECIAL = re.compile(r"[\\*?/]")
_REGEX = re.compile(r'[\\.?*+|()\[\]{}^$"]')
_SVG_ID = re.compile(r'<g id="sentence-\d+"')


def shown(value: object) -> str:
    """Return a value for reading: numbers rounded, with commas between thousands.

    >>> shown(12345), shown(0.000123456), shown(1234.5), shown(None), shown(True), shown(["a", 1])
    ('12,345', '0.000123', '1,234', '–', 'yes', 'a, 1')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _rounded(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return shortened(", ".join(map(shown, value)))
    if isinstance(value, Mapping):
        return shortened(", ".join(f"{key}: {shown(item)}" for key, item in value.items()))
    return shortened(str(value))


def _rounded(value: float) -> str:
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if size >= 1 or not size else f"{value:.4f}" if size >= 0.001 else f"{value:.3g}"


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text, or its beginning with its length if it is too long; the same for a word in it.

    >>> shortened("camp"), shortened("no camp", 3), shortened("x" * 5000)[57:]
    ('camp', 'no … (7 characters)', 'xxx… (5,000 characters)')
    """
    return _cut(_LONG_WORD.sub(lambda found: _cut(found[0], MOST_OF_WORD), visible(text)), most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def ending(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text, or its end if it is too long."""
    text = _LONG_WORD.sub(lambda found: _cut(found[0], MOST_OF_WORD), visible(text))
    return text if len(text) <= most else f"…{text[-most:]}"


def tail(text: str, most: int) -> str:
    """Return a name, or its end if it is too long: names of one corpus begin alike.

    >>> tail("relief-003-1", 16), tail("weblog-blogspot.com_20040409_053012-0008", 16)
    ('relief-003-1', '…409_053012-0008')
    """
    text = visible(text)
    return text if len(text) <= most else f"…{text[1 - most :]}"


def visible(text: str) -> str:
    """Return a text with a sign for each character that would turn or hide the text around it."""
    return _UNPRINTABLE.sub("\ufffd", text)


def is_number(value: object) -> bool:
    """Return whether a value belongs in a column of numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def heading(column: str) -> str:
    """Return the name of a column for reading.

    >>> heading("per_million")
    'per million'
    """
    return column.replace("_", " ")


def link(path: str, **query: Any) -> str:
    """Return a URL; what is empty is left out.

    >>> link("/word", word="R&D", corpus="", page=2)
    '/word?word=R%26D&page=2'
    """
    given = {key: value for key, value in query.items() if value not in (None, "", [])}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def literal_pattern(word: str) -> str:
    """Return the word pattern that only this word matches.

    >>> literal_pattern("5*/2")
    '5\\\\*\\\\/2'
    """
    return _SPECIAL.sub(r"\\\g<0>", word)


def token_pattern(value: str, attribute: str = "word") -> str:
    """Return the token pattern for a word, lemma or tag; empty if there can be none, as it holds a blank.

    >>> token_pattern("camp"), token_pattern("NOUN", "upos"), token_pattern("lemma:x"), token_pattern("a b")
    ('camp', 'upos:NOUN', 'word:lemma:x', '')
    >>> token_pattern("[sic]")
    'word:[sic]'
    """
    if not value or len(value.split()) != 1:
        return ""
    bare = attribute == "word" and ":" not in value and not is_cql(value)
    prefix = "" if bare else f"{attribute}:"
    return prefix + literal_pattern(value)


def cql_value(text: str) -> str:
    """Return the string of CQL that only this text matches.

    >>> print(cql_value('camp'), cql_value('5"?'))
    "camp" "5\\"\\?"
    """
    escaped = _REGEX.sub(r"\\\g<0>", text)
    return f'"{escaped}"'


def phrase_pattern(words: Sequence[str]) -> str:
    """Return the pattern for words one after the other; empty if one of them cannot be asked for."""
    patterns = ["" if word in ("<s>", "</s>") else token_pattern(word) for word in words]
    pattern = " ".join(patterns) if all(patterns) else ""
    return f"word:{pattern}" if is_cql(pattern) else pattern


def ngram_pattern(row: Mapping[str, Any]) -> str:
    """Return the pattern for the words ``w1`` to ``w5`` of a row, as `phrase_pattern` does."""
    return phrase_pattern([row[name] for name in ("w1", "w2", "w3", "w4", "w5") if name in row])


def inline_svg(svg: str) -> str:
    """Return a drawing of ours without ids, so that several can stand on one page."""
    return _SVG_ID.sub("<g", svg)
