"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

from sentgen.output.look_alikes import in_other_characters, looks

#: How much less than the nearest name one may be like a word that was mistyped.
_LESS = 0.15


def quantity(number: int, one: str, many: str = "") -> str:
    """Say a number with its noun, or with what stands for it; ``many`` where that is not ``one`` with an s.

    >>> quantity(1, "tree"), quantity(2000, "tree"), quantity(0, "corpus", "corpora")
    ('1 tree', '2,000 trees', '0 corpora')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


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
    if same := [one for one in names if one != name and looks(one) == looks(name)]:
        return same[:most]
    folded = {one.lower(): one for one in reversed(names)}
    close = get_close_matches(name.lower(), list(folded), n=most)
    alike = [SequenceMatcher(None, one, name.lower()).ratio() for one in close]
    return [folded[one] for one, ratio in zip(close, alike, strict=True) if ratio > alike[0] - _LESS]


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
