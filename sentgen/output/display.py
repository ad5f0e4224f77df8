"""How values and text stand where people read them: shortened, rounded, with signs for what cannot be seen.

Tables, files and patterns keep the forms of words; running text is written as people write it. Logarithms of
probabilities are natural inside, and decimal for reading: a table has the decimal one as `log10`, or
`log10_NAME`, and beside it the natural one under the name that the store and the functions have for it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

#: Characters of one value that are shown; a corpus may hold words of thousands.
MOST_CHARACTERS = 300
#: Letters of one word; names of documents and hashes are shorter.
MOST_OF_WORD = 120
#: Letters of a word that a line of a table need not have room for.
_MOST_UNBROKEN = 24
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONG_WORD = re.compile(rf"\S{{{MOST_OF_WORD + 1},}}")

LN10 = math.log(10)

#: Columns of tables with natural logarithms, each of which stands beside its decimal one.
NATURAL = frozenset({"logp", "score", "weight", "backoff", "total", "log_likelihood", "log_posterior"})


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


#: What the Penn Treebank writes for double quotes, which have one sign for both ends on a typewriter.
_QUOTES = (("``", "“"), ("''", "”"))

#: Blocks of Unicode for scripts that run from right to left, such as Hebrew, Arabic, Syriac and Adlam.
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
#: Scripts that are written without blanks between words: Thai, Lao, Burmese, Khmer, Kana, Chinese characters.
_CLOSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3031-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9d"
    "\U00020000-\U0003ffff"
)
_CLOSE_LETTER = re.compile(f"[{_CLOSE}]")
#: The same with their punctuation, beside which no blank stands either.
_BESIDE = f"{_CLOSE}\u3000-\u303f\uff01-\uff20\uff3b-\uff65"
_NEEDLESS = re.compile(f"(?<=[{_BESIDE}]) | (?=[{_BESIDE}])")

#: Begin of an isolate from left to right and from right to left, and the end of both.
_ISOLATES, _END = ("\u2066", "\u2067"), "\u2069"


def readable(text: str) -> str:
    """Return a text with quotes as they are printed.

    >>> readable("`` Yes , '' it 's said")
    "“ Yes , ” it 's said"
    """
    for form, sign in _QUOTES:
        text = text.replace(form, sign)
    return text


def closed_up(text: str) -> str:
    """Return a sentence of tokens without the blanks that its script does not write.

    Only where most of its words are of such a script; between words of other scripts in it blanks stay. Of
    sentences that a store has, it knows their blanks (see `sentgen.lookups.base.surface`).

    >>> closed_up("我 在 2020 年 买 了 iPhone SE 。"), closed_up("The word 我 们 is Chinese .")
    ('我在2020年买了iPhone SE。', 'The word 我 们 is Chinese .')
    """
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    close = sum(_CLOSE_LETTER.search(word) is not None for word in words)
    return _NEEDLESS.sub("", text) if 2 * close > len(words) else text


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Return whether most of the letters in some texts belong to scripts that run from right to left.

    >>> is_right_to_left(["وقال ذلك", "UN"]), is_right_to_left(["وقال", "Reuters"])
    (True, False)
    """
    # Each character is looked up once: a page of text has a hundred different ones.
    strong = Counter[str]()
    for character, count in Counter(chain.from_iterable(texts)).items():
        strong[unicodedata.bidirectional(character)] += count
    return strong["R"] + strong["AL"] > strong["L"]


def isolate(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column so that a terminal which turns text around leaves columns in their order.

    Without isolates, words from right to left in neighboring cells would run together, and change places
    with the numbers beside them. Isolates take no room; columns without such words stay as they are.

    >>> isolate(["وقال", "12"]) == ["\u2067وقال\u2069", "\u206712\u2069"]
    True
    >>> isolate(["said", "12"])
    ['said', '12']
    """
    if not any(map(_RIGHT_TO_LEFT.search, cells)):
        return list(cells)
    # Signs and numbers alone run as most of their column does.
    mostly = is_right_to_left(cells)
    return [f"{_ISOLATES[_runs(cell, mostly)]}{cell}{_END}" if cell else "" for cell in cells]


def _runs(text: str, otherwise: bool) -> bool:
    """Return whether a text runs from right to left; what has no letters, as the others do."""
    return is_right_to_left([text]) if any(map(str.isalpha, text)) else otherwise


def decimal(natural: float) -> float:
    """Return a decimal logarithm.

    >>> decimal(-2.302585092994046)
    -1.0
    """
    return natural / LN10


def natural(decimal: float) -> float:
    """Return a natural logarithm."""
    return decimal * LN10
