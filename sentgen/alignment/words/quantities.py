"""Numbers, amounts, money, dates and times of day in a text, and whether two of them are equal.

Only values that a text gives are compared: without conversion of currencies, or guesses from today's date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Final, Literal

from sentgen.alignment.words.dates import MONTHS, SHORT_DAYS, SHORT_MONTHS, WEEKDAYS, DateParts, Moment
from sentgen.alignment.words.number_words import (
    CARDINALS,
    ORDINALS,
    PARTS,
    SCALES,
    Hedge,
    Numeral,
    hedge,
    listed,
    word_at,
)
from sentgen.alignment.words.units import (
    CALENDAR,
    CALENDAR_ROOM,
    CURRENCIES,
    EXACT,
    MONEY,
    SIGNS,
    Amount,
    UnitValue,
    glued_amount,
    money,
    unit_at,
)
from sentgen.alignment.words.word_classes import FUNCTION_WORDS

_ORDERED: Final = re.compile(r"(\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)(?:-.*)?")
_MULTIPLES: Final = {"twice": 2, "thrice": 3} | {f"{word}fold": number for word, number in CARDINALS.items()}
#: *One* is not a number behind these words, nor in front of a function word.
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


def _begins_amount(word: str) -> bool:
    """Return whether an amount may begin with a word in lower case, or right before it."""
    if word in _WORDS or word[0] in CURRENCIES:
        return True
    first, hyphen, _ = word.partition("-")
    return bool(hyphen) and first in _WORDS


_WORDS: Final = frozenset((*CARDINALS, *ORDINALS, *SCALES, *PARTS, *_MULTIPLES, *SIGNS, "half")) | frozenset(
    "½⅓⅔¼¾⅕⅛"
)


def _read_amount(words: Sequence[str], lower: Sequence[str], at: int, *, least: int = 0) -> Amount | None:
    """Return the amount that begins at a word, or at the article before it.

    ``lower`` are the words in lower case, ``least`` is the first word that is in no earlier quantity.
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
    number = Numeral.at(lower, at)
    if number is None:
        return glued_amount(words, lower, at)
    if word[0] in "-−" and word_at(lower, at - 1) == "%":  # *4%-27%*
        number = number._replace(value=abs(number.value))
    if (part := _times_part(lower, at, number)) is not None:
        return part
    return _with_unit(words, lower, at, number)


def _numbers_an_item(lower: Sequence[str], at: int) -> bool:
    """Return whether a number is a reference or the number of a list item: *[ 12 ]*, *( 2 )*, *1 )*."""
    before, after = word_at(lower, at - 1), word_at(lower, at + 1)
    if after == "]":
        return before == "["
    if after not in _CLOSING or not lower[at].isdecimal() or len(lower[at]) > 1:
        return False
    # Not the last word of brackets that began before it.
    return before in _OPENING or not _OPENING & set(lower[max(0, at - 10) : at])


def _of_a_name(words: Sequence[str], at: int) -> bool:
    """Return whether a number belongs to a name before it: *COVID - 19*."""
    name = word_at(words, at - 2)
    return word_at(words, at - 1) == "-" and name.isupper() and name.isalpha()


def _with_unit(words: Sequence[str], lower: Sequence[str], at: int, number: Numeral) -> Amount | None:
    """Return a number with the unit behind it; *one* only where it is a count."""
    unit, end = unit_at(words, lower, number.end, number)
    # *One day he left.*
    if lower[at : at + 2] == ["one", "day"] and word_at(lower, at - 1) not in FUNCTION_WORDS:
        return None
    if unit is None and lower[at] in ("one", "1") and (share := _one_in(lower, at)) is not None:
        return share
    if unit is None and lower[at] == "one" and number.end == at + 1 and not _counts(words, lower, at):
        return None
    return _and_more(words, lower, Amount(at, end, number.value, number.step, unit))


def _counts(words: Sequence[str], lower: Sequence[str], at: int) -> bool:
    before, after = word_at(lower, at - 1), word_at(lower, at + 1)
    capital = words[at][0].isupper() and at > 0 and before[-1:].isalnum()
    return not (
        capital
        or before in _NO_ONE
        or after in FUNCTION_WORDS
        or after in ("another", "day", "way")
        or not after.replace("-", "").isalpha()
        # A verb whose subject is *one*.
        or (after.endswith("s") and not after.endswith(("ss", "us", "is", "as")))
    )


def _one_in(lower: Sequence[str], at: int) -> Amount | None:
    """Read *one in five*."""
    if word_at(lower, at + 1) != "in" or at + 2 >= len(lower):
        return None
    whole = Numeral.at(lower, at + 2)
    if whole is None or not 2 <= whole.value <= 1000 or UnitValue.find(word_at(lower, whole.end)) is not None:
        return None
    return Amount(at, whole.end, 1 / whole.value, EXACT)


def _and_more(words: Sequence[str], lower: Sequence[str], first: Amount) -> Amount:
    """Add the smaller unit of *5 feet 10 inches*, *1 hour and 20 minutes*."""
    if first.unit is None or first.unit.kind not in ("time", "length", "mass"):
        return first
    next_at = first.end + (word_at(lower, first.end) in ("and", ","))
    rest = Numeral.at(lower, next_at) if next_at < len(lower) else None
    if rest is None or rest.value < 1:
        return first
    unit, end = unit_at(words, lower, rest.end, rest)
    if unit is None or unit.kind != first.unit.kind or unit.size * rest.value >= first.unit.size:
        return first
    figure = first.figure + rest.value * unit.size / first.unit.size
    return first._replace(end=end, figure=figure, step=rest.step * unit.size / first.unit.size)


def _ordinal(lower: Sequence[str], at: int) -> Amount | None:
    """Read *third*, *3rd*, *twenty-first*, *third-largest*; not *at first*, nor *First, ...*."""
    word = lower[at]
    match = _ORDERED.fullmatch(word)
    if match is not None:
        return Amount(at, at + 1, Fraction(match[1].replace(",", "")), Fraction(1), ordinal=True)
    whole = word.replace("-", "", 1)
    number = ORDINALS.get(whole)
    if number is None:
        first, _, tail = word.partition("-")
        # *First-hand* and *second-rate* are no ordinals.
        if tail not in _RANKS:
            return None
        number = ORDINALS[first]
    before, after = word_at(lower, at - 1), word_at(lower, at + 1)
    if number <= 5 and _adverb(before, after, first=number == 1):
        return None
    return Amount(at, at + 1, Fraction(number), Fraction(1), ordinal=True)


def _adverb(before: str, after: str, *, first: bool) -> bool:
    """Return whether an ordinal is an adverb: *at first*, *who first came*, *Second, we*."""
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
        number = Numeral.at(lower, start) if article else None
        return None if number is None else _with_unit(words, lower, start, _all_of(lower, start, number))
    if word == "half" and (number := Numeral.at(lower, at)) is not None:
        return _with_unit(words, lower, at, number)
    if word == "half" and word_at(lower, at + 1) in ("a", "an", "-"):
        half = Numeral(Fraction(1, 2), Fraction(1, 10), at + 2)
        unit, end = unit_at(words, lower, at + 2, half)
        return None if unit is None else Amount(at, end, half.value, half.step, unit)
    if (word == "half" and _is_part(lower, at)) or (article and word_at(lower, at + 1) == "of"):
        return Amount(start, at + 1, Fraction(1, PARTS[word]), EXACT)
    return None


def _is_part(lower: Sequence[str], at: int) -> bool:
    """Return whether *half of* is the fraction, and not one of two halves: *the second half of*."""
    before = word_at(lower, at - 1)
    return word_at(lower, at + 1) in _FRACTIONED and before not in ORDINALS and before not in _OTHERS


def _all_of(lower: Sequence[str], at: int, number: Numeral) -> Numeral:
    """Add the following number words: *a hundred and five*."""
    whole = Numeral.at(["one", *lower[at + 1 : at + 10]], 0)
    return number if whole is None else whole._replace(end=whole.end + at)


def _times_part(lower: Sequence[str], at: int, number: Numeral) -> Amount | None:
    """Read *two thirds*, *three quarters of*, *one half*."""
    word = word_at(lower, number.end)
    part_at = number.end + 1 if word == "-" else number.end
    below = PARTS.get(word_at(lower, part_at))
    if below is None or number.value.denominator > 1 or not 0 < number.value < below:
        return None
    plural = lower[part_at].endswith("s")
    if plural != (number.value > 1) or (below == 4 and word_at(lower, part_at + 1) not in ("of", "the")):
        return None
    return Amount(at, part_at + 1, number.value / below, EXACT)


Kind = Literal["number", "ordinal", "percent", "measure", "money", "date", "time"]
Comparison = Literal["equal", "near", "different", "incomparable"]
#: Largest difference of approximate numbers, as a share of the larger one.
_ROOM: Final = Fraction(1, 20)
#: Largest difference by rounding, as a share: two years are not two and a half.
_ROUNDED: Final = Fraction(1, 10)
_TO: Final = frozenset(("to", "-", "–", "—", "or"))
_DATE_WORDS: Final = frozenset((*MONTHS, *WEEKDAYS, *SHORT_MONTHS, *SHORT_DAYS, "noon", "midnight"))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, amount, date or time of day in a text.

    Attributes:
        start: offset of the first word, from 0.
        end: offset behind the last word. Unit and currency belong to the quantity, *about* does not.
        kind: ``number``, ``ordinal``, ``percent``, ``measure``, ``money``, ``date``, ``time`` of day.
        value: the number in the base unit of what is measured (meters, grams, seconds, bytes ...), the first
            of a range, the year of a date that is a year alone; ``None`` for other dates.
        high: the last of a range.
        figure: the number as it is written, without its unit.
        step: the worth of the last digit of the value: a hundred thousand in *1.2 million*.
        size: the unit in base units.
        unit: what is measured, such as ``length``, ``percent`` or ``dollar``; empty for bare numbers.
        hedge: ``about``, ``more`` (than, or at least), ``less``, or nothing, as the text says.
        readings: the possible readings of a date or time, each as parts by name.
    """

    start: int
    end: int
    kind: Kind
    value: Fraction | None = None
    high: Fraction | None = None
    figure: Fraction | None = None
    step: Fraction = Fraction(1)
    size: Fraction = Fraction(1)
    unit: str = ""
    hedge: Hedge = ""
    readings: tuple[DateParts, ...] = ()

    def compare(self, right: Quantity) -> Comparison:
        """Compare two quantities.

        ``equal``: the parts that both have are equal. ``near``: one is approximate by its hedge and they
        differ by at most 5 %; or one is a bound, such as *more than 1,000*, that the other meets and is close
        to; or one is the other, rounded to its own digits; or one is in the range of the other.
        ``different``: they contradict each other. ``incomparable``: they measure different things, or one has
        no unit and the same figure.

        >>> one, other = quantities("about 1,200 people were 1,187 people".split())
        >>> one.compare(other)
        'near'
        """
        years = all(one.kind == "date" and one.value is not None for one in (self, right))
        if self.readings and right.readings and not (years and (self.high or right.high)):
            answers = {_compare_parts(*parts) for parts in product(self.readings, right.readings)}
            return next(answer for answer in ("equal", "different", "incomparable") if answer in answers)
        if self.value is None or right.value is None or (self.kind == "ordinal") != (right.kind == "ordinal"):
            return "incomparable"
        if self.unit == right.unit:
            return _compare_values(self, right)
        if self.unit and right.unit:
            return "incomparable"
        if self.figure == right.figure and self.high is right.high is None:
            return "incomparable"
        share, bare = (self, right) if self.unit else (right, self)
        # A half equals 50 %; one does not equal 100 %.
        part = share.unit == "percent" and bare.value is not None and bare.value.denominator > 1
        return _compare_values(self, right) if part else "different"


def quantities(words: Sequence[str]) -> list[Quantity]:
    """Return the quantities of a text in their order; none shares a word with another.

    >>> [(one.kind, str(one.value), one.unit) for one in quantities("a dozen for $ 3 million".split())]
    [('number', '12', ''), ('money', '3000000', 'dollar')]
    """
    lower = [word.lower() for word in words]
    # Most words of a text begin no quantity, and few are different.
    starts = {word for word in set(lower) if word and _begins(word)}
    result = list[Quantity]()
    end = 0
    for at, word in enumerate(lower):
        if word in starts and at >= end and (quantity := _read(words, lower, at, end)) is not None:
            result.append(quantity)
            end = quantity.end
    return _with_units_of_ranges(lower, result)


def _begins(word: str) -> bool:
    if word.isalpha():
        return word in _DATE_WORDS or _begins_amount(word)
    return any(map(str.isdigit, word)) or word.rstrip(".") in _DATE_WORDS or _begins_amount(word)


def _read(words: Sequence[str], lower: Sequence[str], at: int, least: int) -> Quantity | None:
    if (dated := Moment.at(words, lower, at)) is not None:
        return _date(at, dated)
    result = _read_amount(words, lower, at, least=least)
    if result is None:
        return None
    if result.ordinal:
        return _amount(result, "")
    large = result.figure >= 10 or result.unit is not None
    return _amount(result, result.hedge or hedge(lower, result.start, result.end, large=large))


def _date(at: int, dated: Moment) -> Quantity:
    first, last = dated.years or (None, None)
    return Quantity(
        at,
        dated.end,
        "time" if dated.readings and "hour" in dated.readings[0] else "date",
        value=None if first is None else Fraction(first),
        high=None if last is None or last == first else Fraction(last),
        figure=None if first is None else Fraction(first),
        readings=dated.readings,
    )


def _amount(amount: Amount, how_exact: Hedge) -> Quantity:
    kind: Kind = "ordinal" if amount.ordinal else "number"
    size, unit = Fraction(1), ""
    if amount.unit is not None:
        unit, size = amount.unit
        kind = "percent" if unit == "percent" else "money" if unit in MONEY else "measure"
    high = None if amount.high is None else amount.high * size
    return Quantity(
        amount.start,
        amount.end,
        kind,
        amount.figure * size,
        high,
        amount.figure,
        amount.step * size,
        size,
        unit,
        how_exact,
    )


def _with_units_of_ranges(lower: Sequence[str], ordered: list[Quantity]) -> list[Quantity]:
    """Give the first number of *2 to 3 million dollars* the scale and unit of the last."""
    for index, (first, last) in enumerate(pairwise(ordered)):
        joined = lower[first.end : last.start]
        between = joined == ["and"] and lower[max(0, first.start - 1) : first.start] in (
            ["between"],
            ["from"],
        )
        if len(joined) == 1 and (between or joined[0] in _TO):
            ordered[index] = _as_last(
                first, last, set(lower[first.start : first.end]), lower[last.start : last.end]
            )
    return ordered


def _as_last(first: Quantity, last: Quantity, own: Set[str], others: Sequence[str]) -> Quantity:
    """Return the first number of a range with unit and scale of the last, where it has none of its own."""
    if (
        first.figure is None
        or last.figure is None
        or first.kind not in ("number", last.kind)
        or first.readings
    ):
        return first
    scale = next((SCALES[word] for word in others if word in SCALES), 1)
    # *From 500 to 2 million* says what it means.
    if own & SCALES.keys() or first.figure >= last.figure / scale:
        scale = 1
    kind, unit, size = (
        (first.kind, first.unit, first.size)
        if first.unit or not last.unit
        else (last.kind, last.unit, last.size)
    )
    figure = first.figure * scale
    step = first.step / first.size * scale * size
    return replace(first, kind=kind, unit=unit, size=size, figure=figure, value=figure * size, step=step)


def _compare_parts(left: DateParts, right: DateParts) -> Comparison:
    shared = left.keys() & right.keys()
    if not shared:
        return "incomparable"
    return "equal" if all(left[name] == right[name] for name in shared) else "different"


def _compare_values(left: Quantity, right: Quantity) -> Comparison:
    if {left.hedge, right.hedge} == {"more", "less"}:
        return "different"
    (low, high), (other_low, other_high) = _range(left), _range(right)
    if (low, high) == (other_low, other_high):
        return "equal"
    if low != high or other_low != other_high:
        within = low <= other_low <= other_high <= high or other_low <= low <= high <= other_high
        return "near" if within else "different"
    if (left.size in CALENDAR) != (right.size in CALENDAR) and left.unit == right.unit == "time":
        return "near" if abs(low - other_low) <= CALENDAR_ROOM * max(low, other_low) else "different"
    return (
        "near"
        if _is_near(left, low, right, other_low) or _is_near(right, other_low, left, low)
        else "different"
    )


def _range(quantity: Quantity) -> tuple[Fraction, Fraction]:
    low = quantity.value or Fraction(0)
    return low, low if quantity.high is None else quantity.high


def _is_near(left: Quantity, value: Fraction, right: Quantity, other_value: Fraction) -> bool:
    """Return whether the first quantity may be an inexact or rounded form of the second."""
    above, tolerance = other_value - value, _ROOM * max(abs(value), abs(other_value))
    step = _shown(left, value)
    if left.hedge in ("more", "less"):
        # *More than 1,000* is near 1,187, and not 990.
        return 0 <= (above if left.hedge == "more" else -above) <= max(step, tolerance)
    if left.hedge and abs(above) <= tolerance:
        return True
    # Half a step up or down, as ways of rounding differ.
    return step > right.step and abs(above) * 2 <= step and abs(above) <= _ROUNDED * abs(other_value)


def _shown(quantity: Quantity, value: Fraction) -> Fraction:
    """Return the worth of the last significant digit of a number: in *about 1,200* a hundred."""
    step = quantity.step
    while quantity.hedge and value and step >= quantity.size and value % (10 * step) == 0:
        step *= 10
    return step
