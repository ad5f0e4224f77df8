"""Units of measure and currencies, and numbers written together with them: *2km*, *$ 5m*, *10-year-old*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from sentgen.alignment.words.number_words import (
    LETTERS,
    PARTS,
    SCALES,
    Hedge,
    Numeral,
    digits,
    listed,
    simple_fraction,
    small_number,
    word_at,
)
from sentgen.alignment.words.number_words import SIGNS as HEDGING_SIGNS
from sentgen.alignment.words.word_classes import FUNCTION_WORDS

#: Kind, size, and how it is written. Pounds are money or mass, which texts do not mix: they compare as
#: they are, and are not converted. Months and years have no exact length (`CALENDAR`), but twelve are one.
_TABLE: Final = """
percent 1/100 % percent pct per-cent
percentage-point 1 percentage-point percentage-points percent-points %-point %-points
length 1 m meter meters metre metres
length 1000 km kms kilometer kilometers kilometre kilometres
length 1/100 cm centimeter centimeters centimetre centimetres
length 1/1000 mm millimeter millimeters millimetre millimetres
length 1/1000000 µm μm um micrometer micrometers micron microns
length 1/1000000000 nm nanometer nanometers nanometre nanometres
length 1609344/1000 mile miles mi
length 9144/10000 yard yards yd yds
length 3048/10000 foot feet ft
length 254/10000 inch inches
mass 1 g gram grams gramme grammes
mass 1000 kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes
mass 1/1000 mg milligram milligrams
mass 1/1000000 µg μg ug mcg microgram micrograms
mass 1000000 tonne tonnes metric-ton metric-tons
ton 1 ton tons
ounce 1 ounce ounces oz
pound 1 £ pound pounds lb lbs gbp quid
pound 1/100 pence
time 1 s sec secs second seconds
time 1/1000 ms msec millisecond milliseconds
time 1/1000000 µs μs microsecond microseconds
time 60 min mins minute minutes
time 3600 h hr hrs hour hours
time 86400 day days
time 604800 week weeks wk wks
time 2629746 month months
time 31556952 year years yr yrs
time 315569520 decade decades
time 3155695200 century centuries
volume 1 l L liter liters litre litres
volume 1/1000 ml mL milliliter milliliters millilitre millilitres
volume 1/1000000 µl μl µL μL microliter microliters
gallon 1 gallon gallons
barrel 1 barrel barrels
area 1 m2 m² sqm square-meter square-meters square-metre square-metres
area 1000000 km2 km² square-kilometer square-kilometers square-kilometre square-kilometres
area 10000 ha hectare hectares
area 40468564224/10000000 acre acres
area 25899881103360000/10000000000 square-mile square-miles
area 9290304/100000000 square-foot square-feet sqft
volume 1000 cubic-meter cubic-meters cubic-metre cubic-metres m3 m³
speed 1000 km/h kph kmh kilometers-per-hour kilometres-per-hour
speed 1609344/1000 mph miles-per-hour
speed 3600 m/s
bytes 1 byte bytes
bytes 1000 kB KB kilobyte kilobytes
bytes 1000000 MB megabyte megabytes
bytes 1000000000 GB gigabyte gigabytes
bytes 1000000000000 TB terabyte terabytes
bytes 1024 KiB
bytes 1048576 MiB
bytes 1073741824 GiB
bits 1 bit bits
frequency 1 Hz hertz
frequency 1000 kHz kilohertz
frequency 1000000 MHz megahertz
frequency 1000000000 GHz gigahertz
power 1 W watt watts
power 1000 kW kilowatt kilowatts
power 1000000 MW megawatt megawatts
power 1000000000 GW gigawatt gigawatts
energy 1 kcal kcals
celsius 1 °C ℃ degrees-celsius degree-celsius
fahrenheit 1 °F ℉ degrees-fahrenheit degree-fahrenheit
degree 1 ° degree degrees
times 1 x X × fold times
dollar 1 $ us$ u.s.$ usd dollar dollars buck bucks us-dollars u.s.-dollars us-dollar u.s.-dollar
dollar 1/100 ¢ cent cents
euro 1 € eur euro euros
yen 1 ¥ yen jpy
yuan 1 yuan rmb cny
rupee 1 ₹ rupee rupees inr rs rs.
franc 1 franc francs chf
ruble 1 ₽ ruble rubles rouble roubles
won 1 ₩
mark 1 dm deutschmark deutschmarks
australian-dollar 1 a$ au$ aud
canadian-dollar 1 c$ ca$ cad
hong-kong-dollar 1 hk$ hkd
new-zealand-dollar 1 nz$ nzd
"""
MONEY: Final = frozenset(
    listed(
        "pound dollar euro yen yuan rupee franc ruble won mark australian-dollar canadian-dollar "
        "hong-kong-dollar new-zealand-dollar"
    )
)
#: Tolerance between units without an exact length in days and other units of time.
CALENDAR: Final = frozenset(Fraction(size) for size in (2629746, 31556952, 315569520, 3155695200))
CALENDAR_ROOM: Final = Fraction(1, 10)


class UnitValue(NamedTuple):
    """The quantity that a unit measures, and its size in the base unit."""

    kind: str
    size: Fraction

    @staticmethod
    def find(unit: str, *, digits: bool = True) -> UnitValue | None:
        """Return the value of a unit: *MB* as written, else in lower case; short units behind digits only.

        >>> UnitValue.find("Kilometres")
        UnitValue(kind='length', size=Fraction(1000, 1))
        """
        if len(unit) <= _SHORTEST and unit.isalpha() and not digits:
            return None
        measure = _MEASURES.get(unit)
        # *5 M* are no meters.
        return measure if measure or len(unit) == 1 else _MEASURES.get(unit.lower())


def _measures() -> dict[str, UnitValue]:
    measures = dict[str, UnitValue]()
    for line in _TABLE.split("\n"):
        if line:
            kind, size, *names = line.split()
            measures |= dict.fromkeys(names, UnitValue(kind, Fraction(size)))
    return measures


_MEASURES: Final = _measures()
#: Signs and codes before an amount.
SIGNS: Final = frozenset(
    name
    for name, measure in _MEASURES.items()
    if measure.kind in MONEY and not name[0].isalpha() and name != "¢"
) | frozenset(
    listed("us$ u.s.$ a$ au$ c$ ca$ hk$ nz$ usd eur gbp jpy cny rmb inr chf aud cad hkd nzd rs rs. dm")
)
#: Signs that may be written together with the amount.
CURRENCIES: Final = frozenset("$€£¥₹₽₩")
#: Words before a dollar sign that is a word of its own.
_DOLLARS: Final = frozenset(listed("us u.s. a au c ca hk nz"))
#: Units only behind digits: *5 g*, not *five g*, nor *a g*.
_SHORTEST: Final = 2


#: Worth of the last digit of a fraction: 33 % is a rounded third, 40 % is no half.
EXACT: Final = Fraction(1, 1000)
_RANGE: Final = re.compile(r"(\d[\d,]*(?:\.\d+)?)[-–—−](\d[\d,]*(?:\.\d+)?)([^\W\d]*%?)")
_SIGNED: Final = re.compile(r"(?:[^\W\d][\w-]*)?([<>≤≥=~≈]=?)(?=\.?\d)(.*)")
#: Units of several words by their first word.
_LONG_UNITS: Final = frozenset(
    listed(
        "% per percent percentage square cubic metric degrees degree us u.s. kilometers kilometres miles °"
    )
)
#: Words that follow *m* for meters.
_METERS: Final = frozenset(listed("deep high long wide tall thick away above below race pool radius"))


class Amount(NamedTuple):
    """A number with its unit; ``step`` is the worth of its last digit, ``high`` the end of a range."""

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
    """Return the unit behind a number, and its end."""
    word = word_at(lower, at)
    if word in _LONG_UNITS:
        phrases = ("-".join(lower[at : at + size]).replace("°-c", "°c") for size in (3, 2))
        for size, phrase in zip((3, 2), phrases, strict=True):
            if (value := UnitValue.find(phrase)) is not None:
                return value, min(at + size, len(words))
    if word == "-":
        # *10 - year - old*
        unit = word_at(words, at + 1)
        value = None if unit.endswith("s") else UnitValue.find(unit, digits=number.digits)
        return (value, at + 2) if value else (None, at)
    if word == "m" and not _metric(lower, at):
        return None, at
    # *$ x = 0 $* is a formula.
    if word == "$":
        return None, at
    if word in ("x", "×") and word_at(lower, at + 1)[:1].isdigit():
        return None, at
    unit = word_at(words, at)
    value = UnitValue.find(unit.removesuffix("-old"), digits=number.digits)
    return (value, at + 1) if value else (None, at)


def _metric(lower: Sequence[str], at: int) -> bool:
    """Return whether *m* may be meters: *5 m deep*; *5 m people* are millions."""
    after = word_at(lower, at + 1)
    return not after or after in _METERS or after in FUNCTION_WORDS or not after[0].isalnum()


def money(words: Sequence[str], lower: Sequence[str], at: int, least: int) -> Amount | None:
    """Read *$ 5 million*, *US $ 5m*, *€3bn*, *USD 5*."""
    sign, start = lower[at], at
    if sign not in SIGNS:
        sign = sign[0]
        read = _after_currency(words[at][1:], at)
    else:
        if sign == "$" and at > least and lower[at - 1] in _DOLLARS:
            sign, start = lower[at - 1] + sign, at - 1
        read = _after_currency(words[at + 1], at + 1) if at + 1 < len(words) else None
    unit = UnitValue.find(sign)
    # *$ 0 $* is a formula.
    if read is None or unit is None or (sign == "$" and word_at(lower, read[0].end) == "$"):
        return None
    number, high = read
    number = _scaled_by(lower, number)
    if high is not None:
        high *= number.value / read[0].value if read[0].value else 1
    return Amount(start, number.end, number.value, number.step, unit, high)


def _after_currency(word: str, at: int) -> tuple[Numeral, Fraction | None] | None:
    """Read the number behind a currency: *3bn*, *5m*, *1.5*, *5-10*."""
    if (ends := _range(word)) is not None and not ends[3]:
        return Numeral(ends[0], ends[2], at + 1, digits=True), ends[1]
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


def glued_amount(words: Sequence[str], lower: Sequence[str], at: int) -> Amount | None:
    """Read a word with a number and more: *2km*, *1.2M*, *10-year-old*, *2-3*, *3/4*."""
    word = words[at]
    if (part := simple_fraction(word)) is not None:
        return Amount(at, at + 1, part, EXACT)
    if (signed := _SIGNED.fullmatch(word)) is not None:
        return _after_sign(signed[1], signed[2], at)
    if (ends := _range(word)) is not None:
        low, high, step, tail = ends
        both = Numeral(high, step, at + 1, digits=True)
        unit, end = (UnitValue.find(tail), at + 1) if tail else unit_at(words, lower, at + 1, both)
        return Amount(at, end, low, step, unit, high) if unit or not tail else None
    cut = digits(word)
    if cut is None:
        return _with_hyphen(lower, at)
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


def _after_sign(sign: str, rest: str, at: int) -> Amount | None:
    """Read *p<0.05*, *n=20*, *~5*."""
    cut = digits(rest)
    if cut is None:
        return None
    unit = UnitValue.find(cut[2]) if cut[2] else None
    if cut[2] and unit is None:
        return None
    return Amount(at, at + 1, cut[0], cut[1], unit, hedge=HEDGING_SIGNS.get(sign, ""))


def _range(word: str) -> tuple[Fraction, Fraction, Fraction, str] | None:
    """Return both ends of *2-3x*, the worth of the last digit, and the rest of the word; none for a score."""
    match = _RANGE.fullmatch(word)
    if match is None:
        return None
    low, high = digits(match[1]), digits(match[2])
    if low is None or high is None or low[2] or high[2] or not low[0] < high[0] <= 1000 * low[0]:
        return None
    return low[0], high[0], min(low[1], high[1]), match[3]


def _with_tail(at: int, value: Fraction, step: Fraction, tail: str) -> Amount | None:
    """Return the amount before a unit or a hyphen: *2km*, *10-year-old*, *2-party*."""
    if not tail.startswith("-"):
        # *90s* is a decade, or seconds.
        unit = UnitValue.find(tail) or _ratio(tail) if tail != "s" or value % 10 else None
        return None if unit is None else Amount(at, at + 1, value, step, unit)
    joined = tail[1:]
    first = joined.partition("-")[0]
    if first in SCALES:
        return Amount(
            at, at + 1, value * SCALES[first], step * SCALES[first], UnitValue.find(joined.partition("-")[2])
        )
    unit = UnitValue.find(first) if first.isalpha() else None
    # *F-16*, *10-K*, *5-3* are no amounts.
    return Amount(at, at + 1, value, step, unit) if unit or (first.islower() and len(first) > 2) else None


def _ratio(tail: str) -> UnitValue | None:
    """Return the unit of *mg/kg*."""
    above, slash, below = tail.partition("/")
    unit = UnitValue.find(above) if slash and below.isalnum() else None
    return None if unit is None else UnitValue(f"{unit.kind}/{below}", unit.size)


def _with_hyphen(lower: Sequence[str], at: int) -> Amount | None:
    """Read *two-year*, *twenty-five-year-old*, *half-hour*; not *one-way*, which is no amount."""
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
        amount = _with_tail(at, Fraction(value), Fraction(1), "-" + "-".join(pieces[size:]))
        return None if amount and amount.unit is None and value <= 1 else amount
    return None
