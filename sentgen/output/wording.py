"""Numbers in sentences."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

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


def in_other_characters(wanted: str, others: Iterable[str]) -> str:
    """Say by which characters those that look like what was asked for differ from it; empty if none does.

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
    """Return the characters of a string that another one does not have."""
    return " ".join(f"U+{ord(character):04X}" for character in dict.fromkeys(text) if character not in other)


#: How much less than the nearest name one may be like a word that was mistyped.
_LESS = 0.15


def quantity(number: int, noun: str, many: str = "") -> str:
    """Say a number with its noun, or with what stands for it; ``many`` where that is not ``noun`` with an s.

    >>> quantity(1, "tree"), quantity(2000, "tree"), quantity(0, "corpus", "corpora")
    ('1 tree', '2,000 trees', '0 corpora')
    """
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def are(number: int) -> str:
    """Return the verb for a number of things: ``is`` or ``are``."""
    return "is" if number == 1 else "are"


def either(names: Sequence[str]) -> str:
    """Name things of which one is meant.

    >>> either(["a"]), either(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def near(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that may be meant by one that there is not, capital or small.

    What is much less like it than the nearest one is not meant.

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
    """Say which name may be meant in place of one that there is not, else a few of those that there are.

    >>> instead("gnre", ["genre", "year"]), instead("x", ["genre", "year", "speaker"], most=2)
    ('did you mean genre?', 'there are genre, year and 1 more')
    """
    names = list(known)
    if close := near(name, names):
        return f"did you mean {either(close)}?{in_other_characters(name, close)}"
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"there are {', '.join(names[:most])}{more}" if names else "there are none"
