"""The signs that stand for an apostrophe: rules know the straight one, and tokens keep what was written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

#: An apostrophe where a letter follows and a letter or digit precedes, with an accent or without: curly, of
#: modifier letters, full width, prime, or typed as an accent.
_WITHIN: Final = re.compile("(?<=[\\w\u0300-\u036f])[‘’‛＇ʼʻ`´′ʹ՚](?=[^\\W\\d_])")


def straightened(text: str) -> str:
    """Return a text of the same length with straight apostrophes within words.

    >>> straightened("l’été, don`t, ‘so’")
    "l'été, don't, ‘so’"
    """
    return text if text.isascii() and "`" not in text else _WITHIN.sub("'", text)


def as_written(words: Iterable[str], text: str) -> list[str]:
    """Return words that are parts of a text but for some of their characters, as they stand in it.

    >>> as_written(["l'", "été", "!"], "l’été !")
    ['l’', 'été', '!']
    """
    at, found = 0, []
    for word in words:
        while text[at].isspace():
            at += 1
        found.append(text[at : at + len(word)])
        at += len(word)
    return found
