"""Wording of messages: numbers with nouns, and names that may be meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

from sentgen.case_folding import fold

#: Look-alike signs, mapped to one of them, and invisible characters.
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u02b9\u2032\u00b4\u0060", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None),
    }
)


def looks(text: str) -> str:
    """Return a normal form, which strings that look the same share.

    >>> looks("e\u0301t\u00e9") == looks("\u00e9te\u0301"), looks("don\u2019t"), looks("\ufb01n")
    (True, "don't", 'fin')
    """
    # Signs first, as NFKC turns some of them into a blank and an accent.
    return unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)


def in_other_characters(wanted: str, others: Iterable[str]) -> str:
    """Return a note with the characters that differ in a name that looks the same; empty without one.

    >>> in_other_characters("\u00e9", ["e\u0301"])
    ' (it looks the same, with U+0065 U+0301 in place of U+00E9)'
    """
    for other in others:
        if fold(other) != fold(wanted) and fold(looks(other)) == fold(looks(wanted)):
            here, there = _codes(fold(wanted), fold(other)), _codes(fold(other), fold(wanted))
            replaced = f" in place of {here}" if here else ""
            return f" (it looks the same, {f'with {there}{replaced}' if there else f'without {here}'})"
    return ""


def _codes(text: str, other: str) -> str:
    """Return the code points of the characters of a string that are not in another string."""
    return " ".join(f"U+{ord(character):04X}" for character in dict.fromkeys(text) if character not in other)


#: Largest difference in similarity from the nearest name, for other names that may be meant.
_LESS = 0.15


def quantity(number: int, noun: str, many: str = "") -> str:
    """Return a number with its noun; ``many`` is the plural, if it is not ``noun`` with an s.

    >>> quantity(1, "tree"), quantity(2000, "tree"), quantity(0, "corpus", "corpora")
    ('1 tree', '2,000 trees', '0 corpora')
    """
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def are(number: int) -> str:
    """Return ``is`` or ``are`` for a number of things."""
    return "is" if number == 1 else "are"


def either(names: Sequence[str]) -> str:
    """Join names as alternatives.

    >>> either(["a"]), either(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def near(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names most similar to an unknown name, whatever their case.

    Names much less similar than the nearest one are left out.

    >>> near("GNRE", ["genre", "year"]), near("igest", ["lines", "ingest"])
    (['genre'], ['ingest'])
    """
    names = list(known)
    if same := [other for other in names if other != name and looks(other) == looks(name)]:
        return same[:most]
    folded = {other.lower(): other for other in reversed(names)}
    close = get_close_matches(name.lower(), list(folded), n=most)
    alike = [SequenceMatcher(None, other, name.lower()).ratio() for other in close]
    return [folded[other] for other, ratio in zip(close, alike, strict=True) if ratio > alike[0] - _LESS]


def instead(name: str, known: Iterable[str], most: int = 10) -> str:
    """Return a clause with the names that may be meant by an unknown name, else a few known names.

    >>> instead("gnre", ["genre", "year"]), instead("x", ["genre", "year", "speaker"], most=2)
    ('did you mean genre?', 'there are genre, year and 1 more')
    """
    names = list(known)
    if close := near(name, names):
        return f"did you mean {either(close)}?{in_other_characters(name, close)}"
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"there are {', '.join(names[:most])}{more}" if names else "there are none"
