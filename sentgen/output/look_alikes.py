"""Strings that look the same with other characters: composed or decomposed letters, curly apostrophes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sentgen.case_folding import fold

#: Signs of which one is typed for another, and what is not seen.
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u02b9\u2032\u00b4\u0060", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None),
    }
)


def looks(text: str) -> str:
    """Return what all strings that look like this one have in common.

    >>> looks("e\u0301t\u00e9") == looks("\u00e9te\u0301"), looks("don\u2019t"), looks("\ufb01n")
    (True, "don't", 'fin')
    """
    # Signs first: some of them are a blank and an accent by compatibility.
    return unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)


def in_other_characters(asked: str, meant: Iterable[str]) -> str:
    """Say by which characters those that look like what was asked for differ from it; empty if none does.

    >>> in_other_characters("\u00e9", ["e\u0301"])
    ' (it looks the same, with U+0065 U+0301 in place of U+00E9)'
    """
    for one in meant:
        if fold(one) != fold(asked) and fold(looks(one)) == fold(looks(asked)):
            here, there = (
                _codes(text, other) for text, other in ((fold(asked), fold(one)), (fold(one), fold(asked)))
            )
            replaced = f" in place of {here}" if here else ""
            return (
                f" (it looks the same, with {there}{replaced})"
                if there
                else f" (it looks the same, without {here})"
            )
    return ""


def _codes(text: str, other: str) -> str:
    """Return the characters of a string that another one does not have."""
    return " ".join(f"U+{ord(one):04X}" for one in dict.fromkeys(text) if one not in other)
