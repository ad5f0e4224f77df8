"""Units of measure and currencies: a line for each, with what one of it is worth in the base of its kind."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from sentgen.alignment.words.number_words import listed

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
#: What has no exact length in days is compared with what has one with this much room.
CALENDAR: Final = frozenset(Fraction(size) for size in (2629746, 31556952, 315569520, 3155695200))
CALENDAR_ROOM: Final = Fraction(1, 10)


class UnitValue(NamedTuple):
    """What a unit measures, and what one of it is worth in the base unit of that."""

    kind: str
    size: Fraction


def _measures() -> dict[str, UnitValue]:
    found = dict[str, UnitValue]()
    for line in _TABLE.split("\n"):
        if line:
            kind, size, *names = line.split()
            found |= dict.fromkeys(names, UnitValue(kind, Fraction(size)))
    return found


_MEASURES: Final = _measures()
#: Signs and codes that stand before an amount.
SIGNS: Final = frozenset(
    name
    for name, measure in _MEASURES.items()
    if measure.kind in MONEY and not name[0].isalpha() and name != "¢"
) | frozenset(
    listed("us$ u.s.$ a$ au$ c$ ca$ hk$ nz$ usd eur gbp jpy cny rmb inr chf aud cad hkd nzd rs rs. dm")
)
#: Signs that are written together with the amount, too.
CURRENCIES: Final = frozenset("$€£¥₹₽₩")
#: What stands before a dollar sign that is a word of its own.
DOLLARS: Final = frozenset(listed("us u.s. a au c ca hk nz"))
#: Meant only behind digits: *5 g*, not *five g*, nor *a g*.
_SHORTEST: Final = 2


def unit_value(unit: str, *, digits: bool = True) -> UnitValue | None:
    """Return what a unit measures: *MB* as it is written, else in lower case; short ones behind digits only.

    >>> unit_value("Kilometres")
    UnitValue(kind='length', size=Fraction(1000, 1))
    """
    if len(unit) <= _SHORTEST and unit.isalpha() and not digits:
        return None
    found = _MEASURES.get(unit)
    # *5 M* are no meters.
    return found if found or len(unit) == 1 else _MEASURES.get(unit.lower())
