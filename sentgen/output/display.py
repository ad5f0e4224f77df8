"""Values and texts for human readers: shortened, rounded, with signs for invisible characters.

Tables, files and patterns keep the forms of words; running text has the usual quotes and spaces. Logarithms
of probabilities are natural in the program, and decimal for readers: a table has the decimal one as `log10`,
or `log10_NAME`, and next to it the natural one under the name that the store and the functions use.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

#: Most characters of a value that are shown; words of a corpus may have thousands.
MOST_CHARACTERS = 300
#: Most letters of a word that are shown; names of documents and hashes are shorter.
MOST_OF_WORD = 120
#: Longer words may be broken in a cell of a table.
_MOST_UNBROKEN = 24
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONG_WORD = re.compile(rf"\S{{{MOST_OF_WORD + 1},}}")

LN10 = math.log(10)

#: Columns of tables with natural logarithms, for each of which there is a decimal one, too.
NATURAL = frozenset({"logp", "score", "weight", "backoff", "total", "log_likelihood", "log_posterior"})


def shown(value: object) -> str:
    """Return a value as text for readers: numbers are rounded, with commas between thousands.

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
    """Return a text, or the beginning and the length of one that is too long; likewise for its words.

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
    """Return a text with U+FFFD for each character that would change the direction of the text or hide it."""
    return _UNPRINTABLE.sub("\ufffd", text)


def is_number(value: object) -> bool:
    """Return whether a value belongs in a column of numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_long(text: str) -> bool:
    """Return whether a text has a word, such as an address, that has to be broken to fit a column."""
    return any(len(word) > _MOST_UNBROKEN for word in text.split())


def tail(text: str, most: int) -> str:
    """Return a name, or the end of one that is too long, as names in a corpus have the same beginning.

    >>> tail("relief-003-1", 16), tail("weblog-blogspot.com_20040409_053012-0008", 16)
    ('relief-003-1', '…409_053012-0008')
    """
    text = visible(text)
    return text if len(text) <= most else f"…{text[1 - most :]}"


def middle(text: str, most: int) -> str:
    """Return a name, without the middle if it is too long, as names of several corpora differ at both ends.

    >>> middle("relief-003", 16), middle("weblog-blogspot.com_20040409_053012", 16)
    ('relief-003', 'weblog-b…_053012')
    """
    text = visible(text)
    left = most // 2
    return text if len(text) <= most else f"{text[:left]}…{text[left + 1 - most :]}"


#: Double quotes of the Penn Treebank, with their printed signs.
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
#: These scripts with their punctuation, which has no blanks around it either.
_BESIDE = f"{_CLOSE}\u3000-\u303f\uff01-\uff20\uff3b-\uff65"
_NEEDLESS = re.compile(f"(?<=[{_BESIDE}]) | (?=[{_BESIDE}])")

#: Begin of an isolate from left to right and from right to left, and the end of both.
_ISOLATES, _END = ("\u2066", "\u2067"), "\u2069"


def readable(text: str) -> str:
    """Return a text with printed quotes in place of those of the Penn Treebank.

    >>> readable("`` Yes , '' it 's said")
    "“ Yes , ” it 's said"
    """
    for form, sign in _QUOTES:
        text = text.replace(form, sign)
    return text


def closed_up(text: str) -> str:
    """Return a sentence of tokens without the blanks that its script does not have.

    Sentences are changed only if most of their words are in such a script; blanks between words of other
    scripts stay. For stored sentences, the store knows the blanks (see `sentgen.lookups.base.surface`).

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
    # Each distinct character is looked up once, of which a page of text has about a hundred.
    strong = Counter[str]()
    for character, count in Counter(chain.from_iterable(texts)).items():
        strong[unicodedata.bidirectional(character)] += count
    return strong["R"] + strong["AL"] > strong["L"]


def isolate(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column in isolates, if it has text from right to left.

    Without isolates, a terminal that reorders text would join such words of neighboring cells, and swap them
    with the numbers next to them. Isolates take no space.

    >>> isolate(["وقال", "12"]) == ["\u2067وقال\u2069", "\u206712\u2069"]
    True
    >>> isolate(["said", "12"])
    ['said', '12']
    """
    if not any(map(_RIGHT_TO_LEFT.search, cells)):
        return list(cells)
    # Cells without letters have the direction of most of their column.
    mostly = is_right_to_left(cells)
    begins = (
        _ISOLATES[is_right_to_left([cell]) if any(map(str.isalpha, cell)) else mostly] for cell in cells
    )
    return [f"{begin}{cell}{_END}" if cell else "" for begin, cell in zip(begins, cells, strict=True)]


def decimal(natural: float) -> float:
    """Return the decimal logarithm for a natural one.

    >>> decimal(-2.302585092994046)
    -1.0
    """
    return natural / LN10


def natural(decimal: float) -> float:
    """Return the natural logarithm for a decimal one."""
    return decimal * LN10
