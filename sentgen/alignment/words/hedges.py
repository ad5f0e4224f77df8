"""How exact a text says that a number is: *about*, *more than*, *up to*."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from sentgen.alignment.words.number_words import listed, word_at

Hedge = Literal["", "about", "more", "less"]
_HEDGES: Final[tuple[tuple[Hedge, str], ...]] = (
    ("about", "~ ≈ about around nearly almost approximately approx approx. roughly some circa ca."),
    ("more", "> ≥ >= ⩾ exceeding"),
    ("less", "< ≤ <= ⩽"),
)
_WORDS: Final = {word: hedge for hedge, words in _HEDGES for word in listed(words)}
#: What stands at a number without a blank.
SIGNS: Final[dict[str, Hedge]] = {word: hedge for word, hedge in _WORDS.items() if not word[0].isalpha()} | {
    "+": "more"
}
#: Said of large numbers; of small ones more often of places: *over two years*, *under one roof*.
_PLACES: Final[dict[str, Hedge]] = {"over": "more", "above": "more", "under": "less", "below": "less"}
_PHRASES: Final[dict[tuple[str, str], Hedge]] = {
    ("more", "than"): "more", ("greater", "than"): "more", ("at", "least"): "more", ("just", "over"): "more",
    ("less", "than"): "less", ("fewer", "than"): "less", ("at", "most"): "less", ("up", "to"): "less",
    ("close", "to"): "about", ("many", "as"): "less", ("much", "as"): "less",
}  # fmt: skip
_BEHIND: Final[dict[tuple[str, str], Hedge]] = {
    ("or", "more"): "more", ("or", "less"): "less", ("or", "fewer"): "less", ("or", "so"): "about",
}  # fmt: skip
_TURNED: Final[dict[Hedge, Hedge]] = {"more": "less", "less": "more"}


def hedge(lower: Sequence[str], start: int, end: int, *, large: bool) -> Hedge:
    """Return how exact a text says that a number is, by the words before and behind it.

    Args:
        lower: The text in lower case.
        start: The offset of the first word of the number,
        end: and of the word behind it.
        large: Whether *over* is said of it, and not of a place or a time.

    >>> hedge("no more than ten".split(), 3, 4, large=True)
    'less'
    """
    first, *before = (word_at(lower, start - back) for back in (3, 2, 1))
    if (behind := _BEHIND.get((word_at(lower, end), word_at(lower, end + 1)))) is not None:
        return behind
    if (phrase := _PHRASES.get((before[0], before[1]))) is not None:
        return _TURNED.get(phrase, phrase) if first in ("no", "not") else phrase
    return _WORDS.get(before[1]) or (_PLACES.get(before[1], "") if large else "")
