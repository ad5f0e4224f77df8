"""Text as people read it, where it stands in running text; tables, files and patterns keep the forms."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

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
