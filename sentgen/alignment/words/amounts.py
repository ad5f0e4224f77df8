"""Numbers of a text with their units: counts, ordinals, percentages, measures, money."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sentgen.alignment.words.function_words import FUNCTION_WORDS
from sentgen.alignment.words.glued_numbers import EXACT, Amount, glued, money, unit_at
from sentgen.alignment.words.number_words import (
    CARDINALS,
    ORDINALS,
    PARTS,
    SCALES,
    Numeral,
    listed,
    numeral,
    word_at,
)
from sentgen.alignment.words.units import CURRENCIES, SIGNS, UnitValue, unit_value

_ORDERED: Final = re.compile(r"(\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)(?:-.*)?")
_MULTIPLES: Final = {"twice": 2, "thrice": 3} | {f"{word}fold": number for word, number in CARDINALS.items()}
#: *One* counts nothing behind these, and in front of no function word.
_NO_ONE: Final = frozenset(
    listed(
        "no any every some this that which each the another 's ’s these those only such good bad first last "
        "next wrong right new old other best number if when as where how what because while until than"
    )
)
#: *First* is no ordinal behind these.
_ADVERBS: Final = frozenset(
    listed("at was were is are been be being has had have when who that which we i he she it they you to")
)
_OPENING: Final = frozenset(("(", "-lrb-"))
_CLOSING: Final = frozenset((")", "-rrb-"))
_RANKS: Final = frozenset(
    listed("largest biggest highest lowest best most place quarter year round century day time person")
)
_OTHERS: Final = frozenset(listed("other last latter former better top bottom upper lower"))
_FRACTIONED: Final = frozenset(listed("of the its their his her our my your these those this that all"))


def begins_amount(word: str) -> bool:
    """Say whether an amount may begin with a word, given in lower case, or have begun right before it."""
    if word in _WORDS or word[0] in CURRENCIES:
        return True
    first, hyphen, _ = word.partition("-")
    return bool(hyphen) and first in _WORDS


_WORDS: Final = frozenset((*CARDINALS, *ORDINALS, *SCALES, *PARTS, *_MULTIPLES, *SIGNS, "half")) | frozenset(
    "½⅓⅔¼¾⅕⅛"
)


def amount(words: Sequence[str], lower: Sequence[str], at: int, *, least: int = 0) -> Amount | None:
    """Return the amount that begins at a word, or at the article before it.

    Args:
        words: The text,
        lower: and in lower case.
        at: The offset of a word of it.
        least: The offset of the first word that belongs to nothing else.
    """
    word = lower[at]
    if _numbers_an_item(lower, at) or _of_a_name(words, at):
        return None
    if word in SIGNS or word[0] in CURRENCIES:
        return money(words, lower, at, least)
    if word in _MULTIPLES:
        return Amount(at, at + 1, Fraction(_MULTIPLES[word]), Fraction(1), UnitValue("times", Fraction(1)))
    if _ORDERED.fullmatch(word) or word.partition("-")[0] in ORDINALS or word.replace("-", "", 1) in ORDINALS:
        return _part_of(lower, at, least) or _ordinal(lower, at)
    if word in PARTS or word in SCALES:
        return _behind_article(words, lower, at, least)
    found = numeral(lower, at)
    if found is None:
        return glued(words, lower, at)
    if word[0] in "-−" and word_at(lower, at - 1) == "%":  # *4%-27%*
        found = found._replace(value=abs(found.value))
    if (part := _times_part(lower, at, found)) is not None:
        return part
    return _counted(words, lower, at, found)


def _numbers_an_item(lower: Sequence[str], at: int) -> bool:
    """Say whether a number stands for a reference or an item of a list: *[ 12 ]*, *( 2 )*, *1 )*."""
    before, after = word_at(lower, at - 1), word_at(lower, at + 1)
    if after == "]":
        return before == "["
    if after not in _CLOSING or not lower[at].isdecimal() or len(lower[at]) > 1:
        return False
    # Not the last word of brackets that began before it.
    return before in _OPENING or not _OPENING & set(lower[max(0, at - 10) : at])


def _of_a_name(words: Sequence[str], at: int) -> bool:
    """Say whether a number belongs to a name before it: *COVID - 19*."""
    name = word_at(words, at - 2)
    return word_at(words, at - 1) == "-" and name.isupper() and name.isalpha()


def _counted(words: Sequence[str], lower: Sequence[str], at: int, found: Numeral) -> Amount | None:
    """Return a number with the unit behind it; *one* only where it counts something."""
    unit, end = unit_at(words, lower, found.end, found)
    # *One day he left.*
    if lower[at : at + 2] == ["one", "day"] and word_at(lower, at - 1) not in FUNCTION_WORDS:
        return None
    if unit is None and lower[at] in ("one", "1") and (share := _one_in(lower, at)) is not None:
        return share
    if unit is None and lower[at] == "one" and found.end == at + 1 and not _counts(words, lower, at):
        return None
    return _and_more(words, lower, Amount(at, end, found.value, found.step, unit))


def _counts(words: Sequence[str], lower: Sequence[str], at: int) -> bool:
    before, after = word_at(lower, at - 1), word_at(lower, at + 1)
    capital = words[at][0].isupper() and at > 0 and before[-1:].isalnum()
    return not (
        capital
        or before in _NO_ONE
        or after in FUNCTION_WORDS
        or after in ("another", "day", "way")
        or not after.replace("-", "").isalpha()
        # A verb that *one* is the subject of.
        or (after.endswith("s") and not after.endswith(("ss", "us", "is", "as")))
    )


def _one_in(lower: Sequence[str], at: int) -> Amount | None:
    """Read *one in five*."""
    if word_at(lower, at + 1) != "in" or at + 2 >= len(lower):
        return None
    whole = numeral(lower, at + 2)
    if whole is None or not 2 <= whole.value <= 1000 or unit_value(word_at(lower, whole.end)) is not None:
        return None
    return Amount(at, whole.end, 1 / whole.value, EXACT)


def _and_more(words: Sequence[str], lower: Sequence[str], found: Amount) -> Amount:
    """Add the smaller unit of *5 feet 10 inches*, *1 hour and 20 minutes*."""
    if found.unit is None or found.unit.kind not in ("time", "length", "mass"):
        return found
    place = found.end + (word_at(lower, found.end) in ("and", ","))
    rest = numeral(lower, place) if place < len(lower) else None
    if rest is None or rest.value < 1:
        return found
    unit, end = unit_at(words, lower, rest.end, rest)
    if unit is None or unit.kind != found.unit.kind or unit.size * rest.value >= found.unit.size:
        return found
    figure = found.figure + rest.value * unit.size / found.unit.size
    return found._replace(end=end, figure=figure, step=rest.step * unit.size / found.unit.size)


def _ordinal(lower: Sequence[str], at: int) -> Amount | None:
    """Read *third*, *3rd*, *twenty-first*, *third-largest*; not *at first*, nor *First, ...*."""
    word = lower[at]
    found = _ORDERED.fullmatch(word)
    if found is not None:
        return Amount(at, at + 1, Fraction(found[1].replace(",", "")), Fraction(1), ordinal=True)
    whole = word.replace("-", "", 1)
    number = ORDINALS.get(whole)
    if number is None:
        first, _, tail = word.partition("-")
        # *First-hand* and *second-rate* count nothing.
        if tail not in _RANKS:
            return None
        number = ORDINALS[first]
    before, after = word_at(lower, at - 1), word_at(lower, at + 1)
    if number <= 5 and _adverb(before, after, first=number == 1):
        return None
    return Amount(at, at + 1, Fraction(number), Fraction(1), ordinal=True)


def _adverb(before: str, after: str, *, first: bool) -> bool:
    """Say whether an ordinal counts nothing: *at first*, *who first came*, *Second, we*."""
    if not before[-1:].isalnum():
        return after in (",", ":") or (first and (after in FUNCTION_WORDS or not after))
    # *Her voice first attracted us.*
    return first and (before in _ADVERBS or (before not in FUNCTION_WORDS and after.endswith(("ed", "ing"))))


def _part_of(lower: Sequence[str], at: int, least: int) -> Amount | None:
    """Read *a third of*; *a third party* is none."""
    below = PARTS.get(lower[at])
    if below is None or word_at(lower, at + 1) != "of" or at - 1 < least or lower[at - 1] not in ("a", "an"):
        return None
    return Amount(at - 1, at + 1, Fraction(1, below), EXACT)


def _behind_article(words: Sequence[str], lower: Sequence[str], at: int, least: int) -> Amount | None:
    """Read *a dozen*, *half of*, *half a million*, *a quarter of*; not *dozens*, nor *a few hundred*."""
    word = lower[at]
    article = at > least and lower[at - 1] in ("a", "an")
    start = at - 1 if article else at
    if word in SCALES:
        found = numeral(lower, start) if article else None
        return None if found is None else _counted(words, lower, start, _all_of(lower, start, found))
    if word == "half" and (found := numeral(lower, at)) is not None:
        return _counted(words, lower, at, found)
    if word == "half" and word_at(lower, at + 1) in ("a", "an", "-"):
        half = Numeral(Fraction(1, 2), Fraction(1, 10), at + 2)
        unit, end = unit_at(words, lower, at + 2, half)
        return None if unit is None else Amount(at, end, half.value, half.step, unit)
    if (word == "half" and _is_part(lower, at)) or (article and word_at(lower, at + 1) == "of"):
        return Amount(start, at + 1, Fraction(1, PARTS[word]), EXACT)
    return None


def _is_part(lower: Sequence[str], at: int) -> bool:
    """Say whether a half is said to be of something, and is not one of two: *the second half of*."""
    before = word_at(lower, at - 1)
    return word_at(lower, at + 1) in _FRACTIONED and before not in ORDINALS and before not in _OTHERS


def _all_of(lower: Sequence[str], at: int, found: Numeral) -> Numeral:
    """Add what follows: *a hundred and five*."""
    whole = numeral(["one", *lower[at + 1 : at + 10]], 0)
    return found if whole is None else whole._replace(end=whole.end + at)


def _times_part(lower: Sequence[str], at: int, found: Numeral) -> Amount | None:
    """Read *two thirds*, *three quarters of*, *one half*."""
    word = word_at(lower, found.end)
    place = found.end + 1 if word == "-" else found.end
    below = PARTS.get(word_at(lower, place))
    if below is None or found.value.denominator > 1 or not 0 < found.value < below:
        return None
    plural = lower[place].endswith("s")
    if plural != (found.value > 1) or (below == 4 and word_at(lower, place + 1) not in ("of", "the")):
        return None
    return Amount(at, place + 1, found.value / below, EXACT)
