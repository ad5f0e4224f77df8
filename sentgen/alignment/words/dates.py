"""Dates and times of day in a text, by the parts that the text gives."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from sentgen.alignment.words.number_words import ORDINALS, listed, word_at
from sentgen.alignment.words.units import SIGNS, UnitValue
from sentgen.alignment.words.word_classes import FUNCTION_WORDS, STOPS

#: The parts of a date by name: century, decade, year, month, day, weekday (from 0, Monday); of a time of day
#: hour (0 to 11), minute, and half (0 before noon).
DateParts = Mapping[str, int]

_MONTHS: Final = listed("""
january february march april may june july august september october november december
""")
_WEEKDAYS: Final = listed("monday tuesday wednesday thursday friday saturday sunday")
MONTHS: Final = {name: number for number, name in enumerate(_MONTHS, 1)}
WEEKDAYS: Final = {name + plural: n for n, name in enumerate(_WEEKDAYS) for plural in ("", "s")}
#: Short forms, with or without a point; they count only with a point or beside a number.
SHORT_MONTHS: Final = {name[:3]: number for name, number in MONTHS.items() if name != "may"} | {"sept": 9}
SHORT_DAYS: Final = {name[:3]: number for number, name in enumerate(_WEEKDAYS)} | {
    "tues": 1, "thur": 3, "thurs": 3,
}  # fmt: skip
#: Months that are also other words.
_OTHER_WORDS: Final = frozenset(("march", "may", "august"))
_YEAR: Final = re.compile(r"(1\d|20)\d\d")
_YEARS: Final = re.compile(r"((?:1\d|20)\d\d)[-–/]((?:1\d|20)?\d\d)")
_DAY: Final = re.compile(r"(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")
_ORDERED: Final = re.compile(r"(\d\d?)(?:st|nd|rd|th)")
_DECADE: Final = re.compile(r"(?:['’]?(\d0)|((?:1\d|20)\d0))['’]?s")
_YEAR_FIRST: Final = re.compile(r"(\d{4})([-/.])(\d\d?)\2(\d\d?)")
_YEAR_LAST: Final = re.compile(r"(\d\d?)([-/.])(\d\d?)\2(\d{4}|\d\d)")
_CLOCK: Final = re.compile(r"([01]?\d|2[0-4])(?:([:.])([0-5]\d))?(?::[0-5]\d)?([ap]\.?m\.?)?")
_HOURS: Final = {
    word: hour
    for hour, word in enumerate(listed("one two three four five six seven eight nine ten eleven twelve"), 1)
}
_HALVES: Final = frozenset(listed("am pm a.m. p.m. a.m p.m"))
_BEFORE_CHRIST: Final = frozenset(listed("bc bce b.c. b.c.e."))
_AFTER_CHRIST: Final = frozenset(listed("ad ce a.d. c.e."))
_EDGE: Final = re.compile(r"(?:mid|early|late|pre|post)[-–](?=\d)")
_BEFORE_YEARS: Final = frozenset(
    listed(
        "in since by of until till from to during before after early late mid circa ca. spring summer "
        "fall autumn winter year years between through and ( , – -"
    )
)


class Moment(NamedTuple):
    """A date or a time of day: its end, its possible readings, and the years of a range."""

    end: int
    readings: tuple[DateParts, ...]
    years: tuple[int, int] | None = None

    @staticmethod
    def at(words: Sequence[str], lower: Sequence[str], at: int) -> Moment | None:
        """Return the date or time of day that begins at a word; ``lower`` are the words in lower case."""
        word = lower[at]
        if word in ("noon", "midnight"):
            return Moment(at + 1, ({"hour": 0, "minute": 0, "half": int(word == "noon")},))
        if (weekday := _weekday(words, lower, at)) is not None:
            return _from_weekday(words, lower, at, weekday)
        if (month := _month(words, lower, at)) is not None:
            return _from_month(lower, at, month)
        return (
            _clock(lower, at)
            or _century(lower, at)
            or _from_day(words, lower, at)
            or _in_digits(words, lower, at)
        )


def _beside_number(lower: Sequence[str], at: int) -> bool:
    return any(
        _DAY.fullmatch(word) or _YEAR.fullmatch(word)
        for word in (word_at(lower, at - 1), word_at(lower, at + 1))
    )


def _weekday(words: Sequence[str], lower: Sequence[str], at: int) -> int | None:
    word = lower[at]
    if word in WEEKDAYS:
        return WEEKDAYS[word]
    plain = word.rstrip(".")
    number = SHORT_DAYS.get(plain)
    # *Sun* and *sat* are words.
    if number is None or not words[at][:1].isupper():
        return None
    follows = word_at(lower, at + 2 if word_at(lower, at + 1) == "," else at + 1)
    is_weekday = plain != word or _DAY.fullmatch(follows) or follows.rstrip(".") in MONTHS | SHORT_MONTHS
    return number if is_weekday else None


def _month(words: Sequence[str], lower: Sequence[str], at: int) -> int | None:
    word, plain = lower[at], lower[at].rstrip(".")
    number = MONTHS.get(word) or SHORT_MONTHS.get(plain)
    if number is None:
        return None
    if _with_year(lower, at):
        return number
    capital = words[at][:1].isupper()
    if word in MONTHS and word not in _OTHER_WORDS:
        return number
    before = word_at(words, at - 1)
    starts = before in STOPS or not before[:1].isalnum()
    # *Theresa May*
    named = before[:1].isupper() and before.lower() not in FUNCTION_WORDS
    if word in MONTHS:
        return number if capital and (_beside_number(lower, at) or not (starts or named)) else None
    return number if capital and (_beside_number(lower, at) or (plain != word and not starts)) else None


def _with_year(lower: Sequence[str], at: int) -> bool:
    """Return whether a year follows a month, with a day or without, or a day precedes the month."""
    after = at + 1
    if _DAY.fullmatch(word_at(lower, after)) and not _YEAR.fullmatch(word_at(lower, after)):
        after += 1
    return _year_follows(lower, after) is not None


def _year_follows(lower: Sequence[str], at: int) -> tuple[int, int] | None:
    """Return a year that follows, perhaps after a comma or *of*, and its end."""
    year_at = at + 1 if word_at(lower, at) in (",", "of", "-") else at
    word = word_at(lower, year_at)
    if not _YEAR.fullmatch(word) or UnitValue.find(word_at(lower, year_at + 1)) is not None:
        return None
    return int(word), year_at + 1


def _day_of(word: str) -> int | None:
    if (match := _DAY.fullmatch(word)) is not None:
        return int(match[1])
    day = ORDINALS.get(word.replace("-", "", 1))
    return day if day is not None and 0 < day < 32 else None


def _from_weekday(words: Sequence[str], lower: Sequence[str], at: int, weekday: int) -> Moment:
    """Read *Monday*, *Monday, March 4, 2021*, *Monday 4 March*."""
    next_at = at + 2 if word_at(lower, at + 1) in (",", "the") else at + 1
    rest = None
    if next_at < len(lower):
        month = _month(words, lower, next_at)
        rest = _from_day(words, lower, next_at) if month is None else _from_month(lower, next_at, month)
    if rest is None or "day" not in rest.readings[0]:
        return Moment(at + 1, ({"weekday": weekday},))
    return Moment(rest.end, tuple({**reading, "weekday": weekday} for reading in rest.readings))


def _from_month(lower: Sequence[str], at: int, month: int) -> Moment:
    """Read *March*, *March 4*, *March 4th, 2021*, *March 2021*."""
    parts, end = {"month": month}, at + 1
    word = word_at(lower, end)
    day = _day_of(word)
    if day is not None and not (word in ORDINALS and word_at(lower, end + 1).isalpha()):
        parts["day"], end = day, end + 1
    return _and_year(lower, end, parts)


def _and_year(lower: Sequence[str], end: int, parts: dict[str, int]) -> Moment:
    year = _year_follows(lower, end)
    if year is not None:
        parts["year"], end = year
    return Moment(end, (_complete(parts),))


def _from_day(words: Sequence[str], lower: Sequence[str], at: int) -> Moment | None:
    """Read *4 March*, *4th of March, 2021*."""
    day = _day_of(lower[at])
    next_at = at + 2 if word_at(lower, at + 1) in ("of", "-") else at + 1
    if day is None or next_at >= len(lower):
        return None
    month = _month(words, lower, next_at)
    return None if month is None else _and_year(lower, next_at + 1, {"month": month, "day": day})


def _clock(lower: Sequence[str], at: int) -> Moment | None:
    """Read *10:30*, *3 p.m.*, *3.15pm*, *three o'clock*."""
    word, after = lower[at], word_at(lower, at + 1)
    if after in ("o'clock", "o’clock") and (hour := _day_of(word) or _HOURS.get(word)) and hour <= 12:
        return Moment(at + 2, ({"hour": hour % 12, "minute": 0},))
    # *Ten am I* is no hour.
    match = _CLOCK.fullmatch(str(_HOURS[word]) if word in _HOURS and after in _HALVES - {"am"} else word)
    if match is None:
        return None
    half, end = match[4], at + 1
    if half is None and after in _HALVES:
        half, end = after, at + 2
    if half is None and match[2] != ":":
        return None
    parts = {"hour": int(match[1]) % 12, "minute": int(match[3] or 0)}
    if half is not None or int(match[1]) > 12 or match[1][0] == "0":
        parts["half"] = int(half[0] == "p" if half else int(match[1]) > 12)
    return Moment(end, (parts,))


def _century(lower: Sequence[str], at: int) -> Moment | None:
    """Read *19th century*, *nineteenth-century*."""
    word, hyphen, tail = lower[at].partition("-")
    if tail != "century" and (hyphen or word_at(lower, at + 1) not in ("century", "centuries")):
        return None
    ordered = _ORDERED.fullmatch(word)
    number = int(ordered[1]) if ordered else ORDINALS.get(word)
    if number is None and not hyphen:
        number = ORDINALS.get(lower[at].replace("-", "", 1))
    if number is None:
        return None
    end = at + (1 if hyphen else 2)
    before_christ = word_at(lower, end) in _BEFORE_CHRIST
    return Moment(end + before_christ, ({"century": -number if before_christ else number},))


def _in_digits(words: Sequence[str], lower: Sequence[str], at: int) -> Moment | None:
    """Read dates with the digits of a year: *mid-1990*, *1990s*, *1990-95*, *1990-12-31*, *12/31/1990*."""
    word = _EDGE.sub("", lower[at])
    if not word[-2:-1].isdigit() and not word[-1:].isdigit():
        return None
    end = at + 1
    if word.isdecimal() and len(word) < 5 and (era := word_at(lower, end)) in _BEFORE_CHRIST | _AFTER_CHRIST:
        year = -int(word) if era in _BEFORE_CHRIST else int(word)
        return Moment(end + 1, (_complete({"year": year}),), (year, year))
    if (match := _DECADE.fullmatch(word)) is not None:
        return _decade(lower, at, match)
    if (match := _YEAR_FIRST.fullmatch(word)) is not None:
        return _full_date(end, int(match[1]), ((int(match[3]), int(match[4])),))
    if (match := _YEAR_LAST.fullmatch(word)) is not None:
        left, right, year = int(match[1]), int(match[3]), int(match[4])
        # 3/4/2021 is in March or in April; with points the day comes first.
        orders = ((right, left),) if match[2] == "." else ((left, right), (right, left))
        return _full_date(end, year if year > 99 else 2000 + year if year < 50 else 1900 + year, orders)
    if (match := _YEARS.fullmatch(word)) is not None:
        first, last = int(match[1]), int(match[2])
        last += first - first % 100 if last < 100 else 0
        return Moment(end, (), (first, last)) if first < last else None
    if _YEAR.fullmatch(word) and (word != lower[at] or _is_year(words, lower, at)):
        return Moment(end, (_complete({"year": int(word)}),), (int(word), int(word)))
    return None


def _decade(lower: Sequence[str], at: int, match: re.Match[str]) -> Moment | None:
    if match[2]:
        return Moment(at + 1, (_complete({"decade": int(match[2])}),))
    before = word_at(lower, at - 1)
    # *In her 90s* is an age.
    if match[0][0].isdigit() and before not in ("the", "'", "’", "early", "late", "mid"):
        return None
    ten = int(match[1])
    return Moment(at + 1, (_complete({"decade": ten + (1900 if ten > 10 else 2000)}),))


def _full_date(end: int, year: int, orders: Sequence[tuple[int, int]]) -> Moment | None:
    """Return a date with a reading for each possible order of month and day."""
    possible = [
        {"year": year, "month": month, "day": day} for month, day in orders if month <= 12 and 0 < day <= 31
    ]
    readings = [_complete(parts) for parts in possible if parts["month"]]
    if len(readings) == 2 and readings[0] == readings[1]:
        readings.pop()
    return Moment(end, tuple(readings)) if readings else None


def _complete(parts: dict[str, int]) -> DateParts:
    """Add parts that follow from others: decade and century of a year, the weekday of a date."""
    year = parts.get("year", 0)
    if year < 0:
        parts["century"] = -((-year - 1) // 100 + 1)
        return parts
    if year:
        parts["decade"] = year // 10 * 10
    if "decade" in parts:
        parts["century"] = parts["decade"] // 100 + 1
    if "day" in parts and "year" in parts:
        try:
            parts["weekday"] = datetime.date(parts["year"], parts["month"], parts["day"]).weekday()
        except ValueError:  # no such day
            return parts
    return parts


def _is_year(words: Sequence[str], lower: Sequence[str], at: int) -> bool:
    """Return whether four digits are a year: *in 1987*, *the 1987 film*; not *1987 patients*, *1500 kg*."""
    year, before, after = int(lower[at]), word_at(lower, at - 1), word_at(lower, at + 1)
    if before in SIGNS or before[-1:] in ("$", "#", "=") or after in ("%", "percent"):
        return False
    noun = after.isalpha() and after not in FUNCTION_WORDS and words[at + 1].islower()
    plural = after.endswith(("s", "children")) or after in ("people", "men", "women")
    # *The 2020 elections* are those of a year; *2020 elections* may be a number of elections.
    if noun and (year % 100 == 0 or (plural and before != "the") or UnitValue.find(after) is not None):
        return False
    return before in _BEFORE_YEARS or (1700 <= year <= 2050 and year % 100 != 0)
