"""Numbers, amounts, money, dates and times of day in a text, and whether two of them say the same.

Only what a text says is compared: nothing is converted between currencies, nor guessed from today's date.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

from sentgen.alignment.words.amounts import amount, begins_amount
from sentgen.alignment.words.dates import (
    MONTHS,
    SHORT_DAYS,
    SHORT_MONTHS,
    WEEKDAYS,
    DateParts,
    Moment,
    moment,
)
from sentgen.alignment.words.glued_numbers import Amount
from sentgen.alignment.words.hedges import Hedge, hedge
from sentgen.alignment.words.number_words import SCALES
from sentgen.alignment.words.units import CALENDAR, CALENDAR_ROOM, MONEY

Kind = Literal["number", "ordinal", "percent", "measure", "money", "date", "time"]
Comparison = Literal["equal", "near", "different", "incomparable"]
#: Numbers that are said to be approximate may be off by this share of the larger.
_ROOM: Final = Fraction(1, 20)
#: What is rounded may be off by this share: two years are not two and a half.
_ROUNDED: Final = Fraction(1, 10)
_TO: Final = frozenset(("to", "-", "–", "—", "or"))
_DATE_WORDS: Final = frozenset((*MONTHS, *WEEKDAYS, *SHORT_MONTHS, *SHORT_DAYS, "noon", "midnight"))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, amount, date or time of day in a text.

    Attributes:
        start: offset of its first word, from 0,
        end: and of the word behind it. Unit and currency belong to it, *about* does not.
        kind: ``number``, ``ordinal``, ``percent``, ``measure``, ``money``, ``date``, ``time`` of day.
        value: its number in the base unit of what it measures (meters, grams, seconds, bytes ...), the first
            of a range, the year of a date that is a year alone; ``None`` for other dates.
        high: the last of a range.
        figure: its number as it is written, before the unit is reckoned in.
        step: what the last digit of the value is worth: a hundred thousand in *1.2 million*.
        size: what one of its unit is worth in the base unit.
        unit: what it measures, such as ``length``, ``percent`` or ``dollar``; empty for bare numbers.
        hedge: ``about``, ``more`` (than, or at least), ``less``, or nothing, as the text says.
        readings: for dates and times, all that they may mean, each by the names of its parts.
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

    @property
    def approximate(self) -> bool:
        """Whether the text says that it is not exact."""
        return bool(self.hedge)


def quantities(words: Sequence[str]) -> list[Quantity]:
    """Return the quantities of a text in their order; none shares a word with another.

    >>> [(one.kind, str(one.value), one.unit) for one in quantities("a dozen for $ 3 million".split())]
    [('number', '12', ''), ('money', '3000000', 'dollar')]
    """
    lower = [word.lower() for word in words]
    # Most words of a text are none, and few are different.
    starts = {word for word in set(lower) if word and _begins(word)}
    found = list[Quantity]()
    end = 0
    for at, word in enumerate(lower):
        if word in starts and at >= end and (one := _read(words, lower, at, end)) is not None:
            found.append(one)
            end = one.end
    return _with_units_of_ranges(lower, found)


def _begins(word: str) -> bool:
    if word.isalpha():
        return word in _DATE_WORDS or begins_amount(word)
    return any(map(str.isdigit, word)) or word.rstrip(".") in _DATE_WORDS or begins_amount(word)


def _read(words: Sequence[str], lower: Sequence[str], at: int, least: int) -> Quantity | None:
    if (dated := moment(words, lower, at)) is not None:
        return _date(at, dated)
    found = amount(words, lower, at, least=least)
    if found is None:
        return None
    if found.ordinal:
        return _amount(found, "")
    large = found.figure >= 10 or found.unit is not None
    return _amount(found, found.hedge or hedge(lower, found.start, found.end, large=large))


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


def _amount(found: Amount, how_exact: Hedge) -> Quantity:
    kind: Kind = "ordinal" if found.ordinal else "number"
    size, unit = Fraction(1), ""
    if found.unit is not None:
        unit, size = found.unit
        kind = "percent" if unit == "percent" else "money" if unit in MONEY else "measure"
    high = None if found.high is None else found.high * size
    return Quantity(
        found.start,
        found.end,
        kind,
        found.figure * size,
        high,
        found.figure,
        found.step * size,
        size,
        unit,
        how_exact,
    )


def _with_units_of_ranges(lower: Sequence[str], found: list[Quantity]) -> list[Quantity]:
    """Give the first number of *2 to 3 million dollars* what is said of the last."""
    for place, (one, other) in enumerate(pairwise(found)):
        joined = lower[one.end : other.start]
        between = joined == ["and"] and lower[max(0, one.start - 1) : one.start] in (["between"], ["from"])
        if len(joined) == 1 and (between or joined[0] in _TO):
            found[place] = _as_last(
                one, other, set(lower[one.start : one.end]), lower[other.start : other.end]
            )
    return found


def _as_last(one: Quantity, other: Quantity, own: Set[str], others: Sequence[str]) -> Quantity:
    """Return the first number of a range with unit and scale of the last, where it has none of its own."""
    if one.figure is None or other.figure is None or one.kind not in ("number", other.kind) or one.readings:
        return one
    scale = next((SCALES[word] for word in others if word in SCALES), 1)
    # *From 500 to 2 million* says what it means.
    if own & SCALES.keys() or one.figure >= other.figure / scale:
        scale = 1
    kind, unit, size = (
        (one.kind, one.unit, one.size) if one.unit or not other.unit else (other.kind, other.unit, other.size)
    )
    figure = one.figure * scale
    step = one.step / one.size * scale * size
    return replace(one, kind=kind, unit=unit, size=size, figure=figure, value=figure * size, step=step)


def compare(one: Quantity, other: Quantity) -> Comparison:
    """Say whether two quantities say the same.

    ``equal``: as far as both say. ``near``: one is said to be approximate and they differ by at most 5 %; or
    it is a bound, such as *more than 1,000*, that the other keeps and lies close to; or it is the other,
    rounded to the digits that it shows; or it lies in the range that the other is. ``different``: they cannot
    both be meant. ``incomparable``: they measure different things, or one has no unit and the same figure.

    >>> one, other = quantities("about 1,200 people were 1,187 people".split())
    >>> compare(one, other)
    'near'
    """
    if (
        one.readings
        and other.readings
        and not (_is_year(one) and _is_year(other) and (one.high or other.high))
    ):
        return _compare_dates(one, other)
    if one.value is None or other.value is None or (one.kind == "ordinal") != (other.kind == "ordinal"):
        return "incomparable"
    if one.unit == other.unit:
        return _compare_values(one, other)
    if one.unit and other.unit:
        return "incomparable"
    if one.figure == other.figure and one.high is other.high is None:
        return "incomparable"
    share, bare = (one, other) if one.unit else (other, one)
    # A half is 50 %; one is not 100 %.
    part = share.unit == "percent" and bare.value is not None and bare.value.denominator > 1
    return _compare_values(one, other) if part else "different"


def _is_year(one: Quantity) -> bool:
    return one.kind == "date" and one.value is not None


def _compare_dates(one: Quantity, other: Quantity) -> Comparison:
    answers = {_compare_parts(first, second) for first in one.readings for second in other.readings}
    return next(answer for answer in ("equal", "different", "incomparable") if answer in answers)


def _compare_parts(one: DateParts, other: DateParts) -> Comparison:
    shared = one.keys() & other.keys()
    if not shared:
        return "incomparable"
    return "equal" if all(one[name] == other[name] for name in shared) else "different"


def _compare_values(one: Quantity, other: Quantity) -> Comparison:
    if {one.hedge, other.hedge} == {"more", "less"}:
        return "different"
    (low, high), (other_low, other_high) = _range(one), _range(other)
    if (low, high) == (other_low, other_high):
        return "equal"
    if low != high or other_low != other_high:
        within = low <= other_low <= other_high <= high or other_low <= low <= high <= other_high
        return "near" if within else "different"
    if (one.size in CALENDAR) != (other.size in CALENDAR) and one.unit == other.unit == "time":
        return "near" if abs(low - other_low) <= CALENDAR_ROOM * max(low, other_low) else "different"
    return (
        "near"
        if _is_near(one, low, other, other_low) or _is_near(other, other_low, one, low)
        else "different"
    )


def _range(one: Quantity) -> tuple[Fraction, Fraction]:
    low = one.value or Fraction(0)
    return low, low if one.high is None else one.high


def _is_near(one: Quantity, value: Fraction, other: Quantity, other_value: Fraction) -> bool:
    """Say whether the first may stand for the second, being inexact, or showing fewer digits."""
    above, room = other_value - value, _ROOM * max(abs(value), abs(other_value))
    step = _shown(one, value)
    if one.hedge in ("more", "less"):
        # *More than 1,000* are 1,187 as well, and not 990.
        return 0 <= (above if one.hedge == "more" else -above) <= max(step, room)
    if one.hedge and abs(above) <= room:
        return True
    # Half a step up or down, which one rounds up and another to the even digit.
    return step > other.step and abs(above) * 2 <= step and abs(above) <= _ROUNDED * abs(other_value)


def _shown(one: Quantity, value: Fraction) -> Fraction:
    """Return what the last digit is worth that a number shows: in *about 1,200* the hundreds."""
    step = one.step
    while one.hedge and value and step >= one.size and value % (10 * step) == 0:
        step *= 10
    return step
