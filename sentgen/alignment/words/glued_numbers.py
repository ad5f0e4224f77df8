"""Numbers that are written together with what they count: *2km*, *$ 5m*, *10-year-old*, *2-3*, *p<0.05*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from sentgen.alignment.words.function_words import FUNCTION_WORDS
from sentgen.alignment.words.hedges import SIGNS as HEDGING_SIGNS
from sentgen.alignment.words.hedges import Hedge
from sentgen.alignment.words.number_words import (
    LETTERS,
    PARTS,
    SCALES,
    Numeral,
    digits,
    listed,
    simple_fraction,
    small_number,
    word_at,
)
from sentgen.alignment.words.units import DOLLARS, SIGNS, UnitValue, unit_value

#: What the last digit of a part is worth, so that 33 % is a third, rounded, and 40 % no half.
EXACT: Final = Fraction(1, 1000)
_RANGE: Final = re.compile(r"(\d[\d,]*(?:\.\d+)?)[-–—−](\d[\d,]*(?:\.\d+)?)([^\W\d]*%?)")
_SIGNED: Final = re.compile(r"(?:[^\W\d][\w-]*)?([<>≤≥=~≈]=?)(?=\.?\d)(.*)")
#: Units of two or more words by their first.
_LONG_UNITS: Final = frozenset(
    listed(
        "% per percent percentage square cubic metric degrees degree us u.s. kilometers kilometres miles °"
    )
)
#: What stands behind meters.
_METERS: Final = frozenset(listed("deep high long wide tall thick away above below race pool radius"))


class Amount(NamedTuple):
    """A number with its unit; ``step`` is what its last digit is worth, ``high`` the end of a range."""

    start: int
    end: int
    figure: Fraction
    step: Fraction
    unit: UnitValue | None = None
    high: Fraction | None = None
    ordinal: bool = False
    hedge: Hedge = ""


def unit_at(
    words: Sequence[str], lower: Sequence[str], at: int, number: Numeral
) -> tuple[UnitValue | None, int]:
    """Return the unit behind a number, and where it ends."""
    word = word_at(lower, at)
    if word in _LONG_UNITS:
        phrases = ("-".join(lower[at : at + size]).replace("°-c", "°c") for size in (3, 2))
        for size, phrase in zip((3, 2), phrases, strict=True):
            if (found := unit_value(phrase)) is not None:
                return found, min(at + size, len(words))
    if word == "-":
        # *10 - year - old*
        unit = word_at(words, at + 1)
        found = None if unit.endswith("s") else unit_value(unit, digits=number.digits)
        return (found, at + 2) if found else (None, at)
    if word == "m" and not _metric(lower, at):
        return None, at
    # *$ x = 0 $* is a formula.
    if word == "$":
        return None, at
    if word in ("x", "×") and word_at(lower, at + 1)[:1].isdigit():
        return None, at
    unit = word_at(words, at)
    found = unit_value(unit.removesuffix("-old"), digits=number.digits)
    return (found, at + 1) if found else (None, at)


def _metric(lower: Sequence[str], at: int) -> bool:
    """Say whether *m* may be meters: *5 m deep*; *5 m people* are millions."""
    after = word_at(lower, at + 1)
    return not after or after in _METERS or after in FUNCTION_WORDS or not after[0].isalnum()


def money(words: Sequence[str], lower: Sequence[str], at: int, least: int) -> Amount | None:
    """Read *$ 5 million*, *US $ 5m*, *€3bn*, *USD 5*."""
    sign, start = lower[at], at
    if sign not in SIGNS:
        sign = sign[0]
        found = _lettered(words[at][1:], at)
    else:
        if sign == "$" and at > least and lower[at - 1] in DOLLARS:
            sign, start = lower[at - 1] + sign, at - 1
        found = _lettered(words[at + 1], at + 1) if at + 1 < len(words) else None
    unit = unit_value(sign)
    # *$ 0 $* is a formula.
    if found is None or unit is None or (sign == "$" and word_at(lower, found[0].end) == "$"):
        return None
    number, high = found
    number = _scaled_by(lower, number)
    if high is not None:
        high *= number.value / found[0].value if found[0].value else 1
    return Amount(start, number.end, number.value, number.step, unit, high)


def _lettered(word: str, at: int) -> tuple[Numeral, Fraction | None] | None:
    """Read the number behind a currency: *3bn*, *5m*, *1.5*, *5-10*."""
    if (found := _range(word)) is not None and not found[3]:
        return Numeral(found[0], found[2], at + 1, digits=True), found[1]
    cut = digits(word)
    if cut is None:
        small = small_number(word.lower())
        return None if small is None else (Numeral(Fraction(small), Fraction(1), at + 1), None)
    value, step, tail = cut
    scale = {"": 1, "m": 10**6, "b": 10**9, "t": 10**12, **LETTERS}.get(tail.partition("-")[0])
    return None if scale is None else (Numeral(value * scale, step * scale, at + 1, digits=True), None)


def _scaled_by(lower: Sequence[str], number: Numeral) -> Numeral:
    word = word_at(lower, number.end)
    scale = 10**6 if word == "m" else SCALES.get(word.partition("-")[0])
    if word == "-" and (scale := SCALES.get(word_at(lower, number.end + 1))):  # *$ 5 - million*
        number = number._replace(end=number.end + 1)
    if scale is None:
        return number
    return number._replace(value=number.value * scale, step=number.step * scale, end=number.end + 1)


def glued(words: Sequence[str], lower: Sequence[str], at: int) -> Amount | None:
    """Read a word that has more than its number: *2km*, *1.2M*, *10-year-old*, *2-3*, *3/4*."""
    word = words[at]
    if (part := simple_fraction(word)) is not None:
        return Amount(at, at + 1, part, EXACT)
    if (signed := _SIGNED.fullmatch(word)) is not None:
        return _signed(signed[1], signed[2], at)
    if (found := _range(word)) is not None:
        low, high, step, tail = found
        both = Numeral(high, step, at + 1, digits=True)
        unit, end = (unit_value(tail), at + 1) if tail else unit_at(words, lower, at + 1, both)
        return Amount(at, end, low, step, unit, high) if unit or not tail else None
    cut = digits(word)
    if cut is None:
        return _hyphened(lower, at)
    value, step, tail = cut
    if tail in LETTERS:
        number = Numeral(value * LETTERS[tail], step * LETTERS[tail], at + 1, digits=True)
        unit, end = unit_at(words, lower, at + 1, number)
        return Amount(at, end, number.value, number.step, unit)
    if tail == "m" and not _metric(lower, at):
        return None
    if tail == "+" or tail[:1] == "±":
        unit, end = unit_at(words, lower, at + 1, Numeral(value, step, at + 1, digits=True))
        return Amount(at, end, value, step, unit, hedge=HEDGING_SIGNS.get(tail, ""))
    return _with_tail(at, value, step, tail)


def _signed(sign: str, rest: str, at: int) -> Amount | None:
    """Read *p<0.05*, *n=20*, *~5*."""
    cut = digits(rest)
    if cut is None:
        return None
    unit = unit_value(cut[2]) if cut[2] else None
    if cut[2] and unit is None:
        return None
    return Amount(at, at + 1, cut[0], cut[1], unit, hedge=HEDGING_SIGNS.get(sign, ""))


def _range(word: str) -> tuple[Fraction, Fraction, Fraction, str] | None:
    """Return both ends of *2-3x*, what the last digit is worth, and the rest; nothing for a score."""
    found = _RANGE.fullmatch(word)
    if found is None:
        return None
    low, high = digits(found[1]), digits(found[2])
    if low is None or high is None or low[2] or high[2] or not low[0] < high[0] <= 1000 * low[0]:
        return None
    return low[0], high[0], min(low[1], high[1]), found[3]


def _with_tail(at: int, value: Fraction, step: Fraction, tail: str) -> Amount | None:
    """Return what stands before a unit, or before a hyphen: *2km*, *10-year-old*, *2-party*."""
    if not tail.startswith("-"):
        # *90s* is a decade, or seconds.
        unit = unit_value(tail) or _ratio(tail) if tail != "s" or value % 10 else None
        return None if unit is None else Amount(at, at + 1, value, step, unit)
    joined = tail[1:]
    first = joined.partition("-")[0]
    if first in SCALES:
        return Amount(
            at, at + 1, value * SCALES[first], step * SCALES[first], unit_value(joined.partition("-")[2])
        )
    unit = unit_value(first) if first.isalpha() else None
    # *F-16*, *10-K*, *5-3*: of these nothing is counted.
    return Amount(at, at + 1, value, step, unit) if unit or (first.islower() and len(first) > 2) else None


def _ratio(tail: str) -> UnitValue | None:
    """Return the unit of *mg/kg*."""
    above, slash, below = tail.partition("/")
    unit = unit_value(above) if slash and below.isalnum() else None
    return None if unit is None else UnitValue(f"{unit.kind}/{below}", unit.size)


def _hyphened(lower: Sequence[str], at: int) -> Amount | None:
    """Read *two-year*, *twenty-five-year-old*, *half-hour*; not *one-way*, where nothing is counted."""
    pieces = lower[at].split("-")
    for size in (2, 1):
        small = small_number("-".join(pieces[:size]))
        value = Fraction(1, 2) if pieces[:size] == ["half"] else small
        if value is None or len(pieces) <= size:
            continue
        if pieces[size] in PARTS and len(pieces) == size + 1 and small:
            return Amount(at, at + 1, Fraction(small, PARTS[pieces[size]]), EXACT)
        if pieces[size] in ("and", "something", "to", "on", "by", "of"):
            return None
        found = _with_tail(at, Fraction(value), Fraction(1), "-" + "-".join(pieces[size:]))
        return None if found and found.unit is None and value <= 1 else found
    return None
