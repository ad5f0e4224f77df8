"""Drawings on a page: rates over time, surprisal over a document, and collocates around their node.

Each point, and each line of a graph, is a link to its hits or its sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, cos, pi, sin
from typing import Any, NamedTuple

from sentgen.output.rates import PartSizes, Runs, TimePoint, over_time, rate_column, row_rate, time_key
from sentgen.output.wording import quantity


class _Frame(NamedTuple):
    """The size of a drawing, and the margins around what is drawn."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    @property
    def across(self) -> int:
        return self.width - self.left - self.right

    @property
    def down(self) -> int:
        return self.height - self.top - self.bottom

    @property
    def axis(self) -> int:
        """Where the lower axis is."""
        return self.height - self.bottom


_CHART = _Frame(640, 240, left=58, right=14, top=12, bottom=28)
_CURVE = _Frame(460, 170, left=34, right=10, top=10, bottom=26)
#: Lines that can be told apart, each by its color and its sign.
_MOST_LINES = 8
#: Years that are named below, at most, and rates beside.
_MOST_YEARS, _MOST_RATES = 8, 4


@dataclass(frozen=True, slots=True)
class _DrawnPoint:
    """A point: its place, what it says, and the page with its hits or its sentence; none for one without."""

    x: float
    y: float
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class _ChartRun:
    """A part of a line without a gap: the outline of its intervals, the line as a path, and its points."""

    area: str
    path: str
    points: Sequence[_DrawnPoint]


@dataclass(frozen=True, slots=True)
class _ChartLine:
    """A line, with its name and the number of its hits."""

    name: str
    count: int
    runs: Sequence[_ChartRun]


@dataclass(frozen=True, slots=True)
class RateChart:
    """Lines, and what stands below and beside them: places with their texts."""

    time: str
    lines: Sequence[_ChartLine]
    years: Sequence[tuple[float, str]]
    rates: Sequence[tuple[float, str]]
    width: int = _CHART.width
    height: int = _CHART.height
    left: int = _CHART.left


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
    if len(lines) > _MOST_LINES:
        return None
    points = [point for runs in lines.values() for run in runs for point in run]
    scale = _Scale.fit(points)
    return RateChart(
        time,
        [_line(", ".join(name), runs, scale, urls) for name, runs in lines.items()],
        [(scale.x(year), str(year)) for year in _round_numbers(scale.first, scale.last, _MOST_YEARS)],
        [(scale.y(rate), f"{rate:,}") for rate in _round_numbers(0, scale.most, _MOST_RATES)],
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    """From years and rates to places."""

    first: float
    last: float
    most: float

    @classmethod
    def fit(cls, points: Sequence[TimePoint]) -> _Scale:
        times = [point.time for point in points]
        return cls(min(times), max(times), max(point.rate.high for point in points))

    def x(self, time: float) -> float:
        return round(_CHART.left + _CHART.across * (time - self.first) / ((self.last - self.first) or 1), 1)

    def y(self, rate: float) -> float:
        return round(_CHART.axis - _CHART.down * rate / self.most, 1)


def _line(name: str, runs: Runs, scale: _Scale, urls: Sequence[str]) -> _ChartLine:
    count = sum(point.count for run in runs for point in run)
    return _ChartLine(name, count, [_run(name, run, scale, urls) for run in runs])


def _run(name: str, run: Sequence[TimePoint], scale: _Scale, urls: Sequence[str]) -> _ChartRun:
    above = [f"{scale.x(point.time)} {scale.y(point.rate.high)}" for point in run]
    below = [f"{scale.x(point.time)} {scale.y(point.rate.low)}" for point in reversed(run)]
    middle = [f"{scale.x(point.time)} {scale.y(point.rate.rate)}" for point in run]
    points = [
        _DrawnPoint(scale.x(point.time), scale.y(point.rate.rate), _title(name, point), _url(point, urls))
        for point in run
    ]
    return _ChartRun(f"M{'L'.join([*above, *below])}Z", f"M{'L'.join(middle)}", points)


def _title(name: str, point: TimePoint) -> str:
    rate = point.rate
    where = f"{name}, {point.value}" if name else point.value
    interval = f"{rate.low:,.0f} to {rate.high:,.0f}"
    return f"{where}: {quantity(point.count, 'hit')}, {rate.rate:,.1f} per million ({interval})"


def _url(point: TimePoint, urls: Sequence[str]) -> str:
    return urls[point.place] if point.place is not None and point.place < len(urls) else ""


def _round_numbers(low: float, high: float, most: int) -> list[int]:
    """Return round numbers from one to another, few enough to be named.

    >>> _round_numbers(1990, 2010.5, 5), _round_numbers(0, 730, 4)
    ([1990, 2000, 2010], [0, 200, 400, 600])
    """
    rough = max((high - low) / most, 1)
    power = 10 ** math.floor(math.log10(rough))
    step = next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= rough)
    return list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))


_MOST_POINTS = 120
_STEPS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class SurprisalCurve:
    """The curve of a model; ``ticks`` are heights with their bits, ``each`` the sentences of a point."""

    model: str
    points: Sequence[_DrawnPoint]
    ticks: Sequence[tuple[float, int]]
    sentences: int
    each: int
    mean: float
    width: int = _CURVE.width
    height: int = _CURVE.height
    left: int = _CURVE.left

    @property
    def line(self) -> str:
        """Its points as SVG has them."""
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)

    @property
    def bottom(self) -> int:
        """Where the axis is."""
        return _CURVE.axis


def curves(rows: Sequence[Mapping[str, Any]], page_of: Callable[[str], str]) -> list[SurprisalCurve]:
    """Draw a curve a model.

    Args:
        rows: ``model``, ``sentence``, its ``tokens`` and the sum of their ``bits``, by model.
        page_of: the page of a sentence.
    """
    grouped = groupby(rows, key=lambda row: row["model"])
    return [_curve(model, list(group), page_of) for model, group in grouped]


def _curve(model: str, rows: Sequence[Mapping[str, Any]], page_of: Callable[[str], str]) -> SurprisalCurve:
    each = ceil(len(rows) / _MOST_POINTS)
    parts = [rows[at : at + each] for at in range(0, len(rows), each)]
    means = [sum(row["bits"] for row in part) / sum(row["tokens"] for row in part) for part in parts]
    step = next((size for size in _STEPS if max(means) / size <= 4), _STEPS[-1])
    top = step * max(ceil(max(means) / step), 1)
    points = []
    for number, (part, mean) in enumerate(zip(parts, means, strict=True)):
        x = _CURVE.left + _CURVE.across * (number + 0.5) / len(parts)
        last = f" to {part[-1]['sentence']}" if len(part) > 1 else ""
        title = f"{part[0]['sentence']}{last}: {mean:.2f} bits a token"
        points.append(
            _DrawnPoint(x, _CURVE.top + _CURVE.down * (1 - mean / top), title, page_of(part[0]["sentence"]))
        )
    ticks = [(_CURVE.top + _CURVE.down * (1 - bits / top), bits) for bits in range(0, top + 1, step)]
    mean = sum(row["bits"] for row in rows) / sum(row["tokens"] for row in rows)
    return SurprisalCurve(model, points, ticks, len(rows), each, mean)


_WIDTH, _HEIGHT = 420, 380
#: Of the ring on which the collocates stand: wider than high, as words are.
_ACROSS, _DOWN = 118, 140
#: Letters of a word that has room beside the ring.
_LETTERS = 14
_THINNEST, _THICKEST = 0.6, 5.0


@dataclass(frozen=True, slots=True)
class _GraphNode:
    """A word at its place: ``anchor`` is the side on which it begins, ``link`` its page."""

    word: str
    x: float
    y: float
    anchor: str
    link: str

    @property
    def label(self) -> str:
        """The word, or the beginning of a long one."""
        return self.word if len(self.word) <= _LETTERS else f"{self.word[: _LETTERS - 1]}…"


@dataclass(frozen=True, slots=True)
class _GraphEdge:
    """A line between two places, as thick as the two words are strong together."""

    ends: tuple[float, float, float, float]
    width: float
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Words and lines; ``spokes`` are the lines of the node in the middle."""

    node: str
    words: Sequence[_GraphNode]
    spokes: Sequence[_GraphEdge]
    edges: Sequence[_GraphEdge]
    width: int = _WIDTH
    height: int = _HEIGHT


def draw_collocates(
    node: str,
    rows: Sequence[Mapping[str, Any]],
    page_of: Callable[[str], str],
    lines: Callable[[str, str], str],
) -> Graph:
    """Place the edges of a graph, those of its node first.

    Args:
        node: what was asked for.
        rows: edges with ``node``, ``collocate``, ``count`` and ``logdice``.
        page_of: the page of a collocate.
        lines: that of the lines of two words.
    """
    order: list[str] = []
    for row in rows:
        # The collocates of the node come first, each once; a collocate of another one is there already.
        if row["node"] == node and row["collocate"] not in order:
            order.append(row["collocate"])
        else:
            break
    first, second = rows[: len(order)], rows[len(order) :]
    places = {word: _place(number, len(order)) for number, word in enumerate(order)}
    words = [_GraphNode(word, *_label(*places[word]), page_of(word)) for word in order]
    middle = (_WIDTH / 2, _HEIGHT / 2)
    spokes = [_edge(middle, places[row["collocate"]], row, first, lines) for row in first]
    edges = [_edge(places[row["node"]], places[row["collocate"]], row, second, lines) for row in second]
    return Graph(node, words, spokes, edges)


def _place(number: int, size: int) -> tuple[float, float]:
    """Return the place of a collocate: the first one on top, the others clockwise."""
    angle = 2 * pi * number / size - pi / 2
    return _WIDTH / 2 + _ACROSS * cos(angle), _HEIGHT / 2 + _DOWN * sin(angle)


def _label(x: float, y: float) -> tuple[float, float, str]:
    """Return where a word stands beside its place, outside of the ring."""
    aside, down = x - _WIDTH / 2, y - _HEIGHT / 2
    if abs(aside) < _ACROSS / 8:
        return x, y + (22 if down > 0 else -12), "middle"
    return x + (8 if aside > 0 else -8), y + 5, "start" if aside > 0 else "end"


def _edge(
    start: tuple[float, float],
    end: tuple[float, float],
    row: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    lines: Callable[[str, str], str],
) -> _GraphEdge:
    weights = [each["logdice"] for each in rows]
    least, most = min(weights), max(weights)
    share = (row["logdice"] - least) / (most - least) if most > least else 1
    title = f"{row['node']} and {row['collocate']}: {row['count']:,}, logDice {row['logdice']:.1f}"
    ends = (*start, *end)
    width = _THINNEST + (_THICKEST - _THINNEST) * share
    return _GraphEdge(ends, width, title, lines(row["node"], row["collocate"]))
