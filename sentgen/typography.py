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


def isolated(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column so that a terminal which turns text around leaves columns in their order.

    Without isolates, words from right to left in neighboring cells would run together, and change places
    with the numbers beside them. Isolates take no room; columns without such words stay as they are.

    >>> isolated(["وقال", "12"]) == ["\u2067وقال\u2069", "\u206712\u2069"]
    True
    >>> isolated(["said", "12"])
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
