"""Text as people read it, where it stands in running text; tables, files and patterns keep the forms."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

#: What the Penn Treebank writes for double quotes, which have one sign for both ends on a typewriter.
_QUOTES = (("``", "“"), ("''", "”"))


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

    >>> is_right_to_left(["وقال", "Reuters"]), is_right_to_left(["1999", "."])
    (False, False)
    >>> is_right_to_left(["وقال ذلك", "UN"])
    True
    """
    # By character, so that each is looked up once.
    found = Counter(character for text in texts for character in text)
    strong = Counter[str]()
    for character, count in found.items():
        strong[unicodedata.bidirectional(character)] += count
    return strong["R"] + strong["AL"] > strong["L"]
