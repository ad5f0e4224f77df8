"""Rates per million tokens with their intervals, and how they change over time.

A rate is a share of tokens. Its interval is that of Wilson 1927, "Probable inference, the law of succession,
and statistical inference": with p = count / n and z = 1.96 (95 %) ::

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Z = 1.959963984540054


def wilson(count: int, total: float) -> tuple[float, float]:
    """Return the 95 % interval of the share ``count / total``.

    >>> tuple(round(value, 3) for value in wilson(5, 10))
    (0.237, 0.763)
    """
    share, weight = count / total, Z * Z / total
    middle = (share + weight / 2) / (1 + weight)
    side = Z * math.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    # For 0 of n and n of n, rounding must not give a share below 0 or above 1.
    low = max(middle - side, 0.0) if count else 0.0
    return low, min(middle + side, 1.0) if count < total else 1.0


_MILLION = 1_000_000
#: A year, a month or a day, or a day with a time; not five digits, and no range of years.
_TIME = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])(?:[T ].*)?)?)?", re.ASCII)
_YEAR = re.compile(r"\d{4}", re.ASCII)
#: Column with the rate among tokens with the same metadata, which is used if it is present.
IN_PART = "per_million_in_part"
_RATES = (IN_PART, "per_million")


@dataclass(frozen=True, slots=True)
class RateInterval:
    """A rate per million tokens, with its 95 % interval."""

    rate: float
    low: float
    high: float

    @classmethod
    def of_hits(cls, count: int, tokens: float) -> RateInterval:
        """Return the rate of ``count`` hits in ``tokens`` tokens.

        >>> round(RateInterval.of_hits(10, 100_000).rate), round(RateInterval.of_hits(10, 100_000).high)
        (100, 184)
        """
        return cls(*(_MILLION * value for value in (count / tokens, *wilson(count, tokens))))


def rate_column(columns: Sequence[str]) -> str:
    """Return the name of the column with rates in a list of counts; empty without one."""
    return next((name for name in _RATES if name in columns), "")


def row_rate(row: Mapping[str, Any], column: str) -> RateInterval | None:
    """Return the rate of a row of counts; ``None`` without one."""
    rate = row.get(column)
    return RateInterval.of_hits(row["count"], _MILLION * row["count"] / rate) if rate else None


@dataclass(frozen=True, slots=True)
class PartSizes:
    """Numbers of tokens of the parts of a corpus, by the values of the ``keys`` that divide it."""

    keys: Sequence[str] = ()
    tokens: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def over_time(
        self, rows: Sequence[Mapping[str, Any]], time: str, others: Sequence[str]
    ) -> dict[tuple[str, ...], Runs]:
        """Return a curve for each value of the other keys, in the order of the rows.

        At times for which the corpus has tokens and no hit, the rate is 0. Between years that are further
        apart than the nearest two of the corpus, the curve has a gap, as the corpus has no tokens there;
        between days there are no gaps. Without sizes, there are no zeros.

        Args:
            rows: all rows, each with a rate.
            time: the key with the times.
            others: the keys whose values have a curve each.
        """
        column = rate_column(list(rows[0]))
        lines: dict[tuple[str, ...], list[TimePoint]] = {}
        for index, row in enumerate(rows):
            rate, value = row_rate(row, column), str(row[time])
            if rate is not None:
                points = lines.setdefault(tuple(str(row[key]) for key in others), [])
                points.append(TimePoint(value, _years(value), rate, row["count"], index))
        dated = _with_time(self, time)
        for line, points in lines.items():
            points += _zeros(dict(zip(others, line, strict=True)), points, time, dated)
            points.sort(key=lambda rate: rate.time)
        times = {values[list(dated.keys).index(time)] for values in dated.tokens}
        return {line: _runs(points, _step(times)) for line, points in lines.items()}


@dataclass(frozen=True, slots=True)
class TimePoint:
    """A rate at a time; ``place`` is the index of its row, ``None`` for a time with tokens and no hit."""

    value: str
    time: float
    rate: RateInterval
    count: int = 0
    place: int | None = None


#: The points of a curve, in parts with gaps between them.
Runs = list[list[TimePoint]]


def time_key(keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the first key whose values are all years or dates, and not all the same."""
    for key in keys:
        values = {str(row[key]) for row in rows}
        if len(values) > 1 and all(map(_TIME.fullmatch, values)):
            return key
    return None


def _with_time(sizes: PartSizes, time: str) -> PartSizes:
    """Return the sizes of parts with a time; none if the parts are not divided by time."""
    if time not in sizes.keys:
        return PartSizes()
    column = list(sizes.keys).index(time)
    return PartSizes(
        sizes.keys, {values: n for values, n in sizes.tokens.items() if _TIME.fullmatch(values[column])}
    )


def _zeros(
    line: Mapping[str, str], points: Sequence[TimePoint], time: str, sizes: PartSizes
) -> list[TimePoint]:
    """Return points with rate 0, for times at which the part of a curve has tokens and no hits."""
    zeros, there = list[TimePoint](), {point.value for point in points}
    for values, tokens in sizes.tokens.items():
        part = dict(zip(sizes.keys, values, strict=True))
        value = part.pop(time)
        if value not in there and tokens and all(line[key] == part[key] for key in part):
            zeros.append(TimePoint(value, _years(value), RateInterval.of_hits(0, tokens)))
    return zeros


def _step(values: set[str]) -> float | None:
    """Return the distance of the two nearest years; ``None`` for values with months or days."""
    if not all(map(_YEAR.fullmatch, values)):
        return None
    return min((after - before for before, after in pairwise(sorted(map(int, values)))), default=None)


def _runs(points: Sequence[TimePoint], step: float | None) -> Runs:
    runs: Runs = [[points[0]]]
    for before, after in pairwise(points):
        if step is not None and after.time - before.time > step:
            runs.append([])
        runs[-1].append(after)
    return runs


def _years(text: str) -> float:
    """Return a date as a year with a fraction."""
    match = _TIME.fullmatch(text)
    assert match is not None
    year, month, day = (int(part or 0) for part in match.groups())
    return year + max(month - 1, 0) / 12 + max(day - 1, 0) / 365
