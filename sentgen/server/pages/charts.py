"""Rates over time as a drawing on a page: the lines of a plot, each point a link to its hits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sentgen.output.rates import PartSizes, Runs, TimePoint, over_time, rate_column, row_rate, time_key
from sentgen.output.wording import quantity

WIDTH, HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 12, 28
#: Lines that can be told apart, each by its color and its sign.
MOST_LINES = 8
#: Years that are named below, at most, and rates beside.
_YEARS, _RATES = 8, 4


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A point: its place, what it says, and the page with its hits; none for one without."""

    x: float
    y: float
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class ChartRun:
    """A part of a line without a gap: the outline of its intervals, the line as a path, and its points."""

    area: str
    path: str
    points: Sequence[ChartPoint]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line, with its name and the number of its hits."""

    name: str
    count: int
    runs: Sequence[ChartRun]


@dataclass(frozen=True, slots=True)
class RateChart:
    """Lines, and what stands below and beside them: places with their texts."""

    time: str
    lines: Sequence[ChartLine]
    years: Sequence[tuple[float, str]]
    rates: Sequence[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT


def drawn_over_time(
    keys: Sequence[str], rows: Sequence[Mapping[str, Any]], sizes: PartSizes, urls: Sequence[str]
) -> RateChart | None:
    """Draw the rates of counts over time; nothing where no key is a time, or lines are too many.

    Args:
        keys: what was counted by.
        rows: all counts.
        sizes: of the parts of the corpus.
        urls: the page with the hits of each row, as far as there is one.
    """
    column = rate_column(list(rows[0])) if rows else ""
    time = time_key(keys, [row for row in rows if row_rate(row, column)])
    if time is None:
        return None
    lines = over_time(rows, time, [key for key in keys if key != time], sizes)
    if len(lines) > MOST_LINES:
        return None
    points = [point for runs in lines.values() for run in runs for point in run]
    scale = _Scale.of(points)
    return RateChart(
        time,
        [_line(", ".join(name), runs, scale, urls) for name, runs in lines.items()],
        [(scale.x(year), str(year)) for year in _steps(scale.first, scale.last, _YEARS)],
        [(scale.y(rate), f"{rate:,}") for rate in _steps(0, scale.most, _RATES)],
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    """From years and rates to places."""

    first: float
    last: float
    most: float

    @classmethod
    def of(cls, points: Sequence[TimePoint]) -> _Scale:
        times = [point.time for point in points]
        return cls(min(times), max(times), max(point.rate.high for point in points))

    def x(self, time: float) -> float:
        room = WIDTH - _LEFT - _RIGHT
        return round(_LEFT + room * (time - self.first) / ((self.last - self.first) or 1), 1)

    def y(self, rate: float) -> float:
        return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * rate / self.most, 1)


def _line(name: str, runs: Runs, scale: _Scale, urls: Sequence[str]) -> ChartLine:
    count = sum(point.count for run in runs for point in run)
    return ChartLine(name, count, [_run(name, run, scale, urls) for run in runs])


def _run(name: str, run: Sequence[TimePoint], scale: _Scale, urls: Sequence[str]) -> ChartRun:
    above = [f"{scale.x(one.time)} {scale.y(one.rate.high)}" for one in run]
    below = [f"{scale.x(one.time)} {scale.y(one.rate.low)}" for one in reversed(run)]
    middle = [f"{scale.x(one.time)} {scale.y(one.rate.rate)}" for one in run]
    points = [
        ChartPoint(scale.x(one.time), scale.y(one.rate.rate), _told(name, one), _url(one, urls))
        for one in run
    ]
    return ChartRun(f"M{'L'.join([*above, *below])}Z", f"M{'L'.join(middle)}", points)


def _told(name: str, point: TimePoint) -> str:
    rate = point.rate
    where = f"{name}, {point.value}" if name else point.value
    interval = f"{rate.low:,.0f} to {rate.high:,.0f}"
    return f"{where}: {quantity(point.count, 'hit')}, {rate.rate:,.1f} per million ({interval})"


def _url(point: TimePoint, urls: Sequence[str]) -> str:
    return urls[point.place] if point.place is not None and point.place < len(urls) else ""


def _steps(low: float, high: float, most: int) -> list[int]:
    """Return round numbers from one to another, few enough to be named.

    >>> _steps(1990, 2010.5, 5), _steps(0, 730, 4)
    ([1990, 2000, 2010], [0, 200, 400, 600])
    """
    rough = max((high - low) / most, 1)
    power = 10 ** math.floor(math.log10(rough))
    step = next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= rough)
    return list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))
