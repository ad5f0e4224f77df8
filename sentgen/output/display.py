"""How values stand on a page: shortened, with signs for what cannot be seen, and numbers rounded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

#: Characters of one value that are shown; a corpus may hold words of thousands.
MOST_CHARACTERS = 300
#: Letters of one word; names of documents and hashes are shorter.
MOST_OF_WORD = 120
#: Letters of a word that a line of a table need not have room for.
_MOST_UNBROKEN = 24
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONG_WORD = re.compile(rf"\S{{{MOST_OF_WORD + 1},}}")
_SVG_WIDTH = re.compile(r'<svg [^>]*?\bwidth="([\d.]+)"')
#: Pixels of the widest drawings whose smallest letters, of 11 pixels, can still be read in boxes of 346 and
#: 1186 pixels.
_SHRINKABLE = {"small": 480, "medium": 1640}


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
        return _round(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return shorten(", ".join(map(shown, value)))
    if isinstance(value, Mapping):
        return shorten(", ".join(f"{key}: {shown(item)}" for key, item in value.items()))
    return shorten(str(value))


def _round(value: float) -> str:
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if size >= 1 or not size else f"{value:.4f}" if size >= 0.001 else f"{value:.3g}"


def shorten(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text, or its beginning with its length if it is too long; the same for a word in it.

    >>> shorten("camp"), shorten("no camp", 3), shorten("x" * 5000)[117:]
    ('camp', 'no … (7 characters)', 'xxx… (5,000 characters)')
    """
    return _cut(_LONG_WORD.sub(lambda match: _cut(match[0], MOST_OF_WORD), visible(text)), most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def last_part(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text, or its end if it is too long."""
    text = _LONG_WORD.sub(lambda match: _cut(match[0], MOST_OF_WORD), visible(text))
    return text if len(text) <= most else f"…{text[-most:]}"


def visible(text: str) -> str:
    """Return a text with a sign for each character that would turn or hide the text around it."""
    return _UNPRINTABLE.sub("\ufffd", text)


def is_number(value: object) -> bool:
    """Return whether a value belongs in a column of numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_long(text: str) -> bool:
    """Return whether a text has a word, such as an address, that has to be broken to fit a column."""
    return any(len(word) > _MOST_UNBROKEN for word in text.split())


def with_size_class(svg: str) -> str:
    """Return a drawing with a class: on what it can be read when it is made as narrow as its box.

    >>> with_size_class('<svg width="460" height="9"/>'), with_size_class('<svg width="9999" height="9"/>')
    ('<svg class="small" width="460" height="9"/>', '<svg class="wide" width="9999" height="9"/>')
    """
    width = _SVG_WIDTH.match(svg)
    kind = next((name for name, most in _SHRINKABLE.items() if width and float(width[1]) <= most), "wide")
    return svg.replace("<svg ", f'<svg class="{kind}" ', 1)


def tail(text: str, most: int) -> str:
    """Return a name, or its end if it is too long: names of one corpus begin alike.

    >>> tail("relief-003-1", 16), tail("weblog-blogspot.com_20040409_053012-0008", 16)
    ('relief-003-1', '…409_053012-0008')
    """
    text = visible(text)
    return text if len(text) <= most else f"…{text[1 - most :]}"


def middle(text: str, most: int) -> str:
    """Return a name without its middle if it is too long: both ends tell names of several corpora apart.

    >>> middle("relief-003", 16), middle("weblog-blogspot.com_20040409_053012", 16)
    ('relief-003', 'weblog-b…_053012')
    """
    text = visible(text)
    left = most // 2
    return text if len(text) <= most else f"{text[:left]}…{text[left + 1 - most :]}"
