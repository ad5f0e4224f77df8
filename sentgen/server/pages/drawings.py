"""Drawings on pages: rates over time, surprisal over a document, and collocates around their node.

Each point of a curve, and each edge of a graph, is a link to its hits or its sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, cos, pi, sin
from typing import Any, NamedTuple

from markupsafe import Markup

from sentgen.output.display import shorten, visible
from sentgen.output.drawing import element
from sentgen.output.rates import PartSizes, TimePoint, rate_column, row_rate, time_key
from sentgen.output.wording import quantity


class _Frame(NamedTuple):
    """The size of a drawing with its margins, in units of the SVG."""

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
        """The y coordinate of the lower axis."""
        return self.height - self.bottom


_CHART = _Frame(640, 240, left=58, right=14, top=12, bottom=28)
_CURVE = _Frame(460, 170, left=34, right=10, top=10, bottom=26)
#: Most years with a label on the lower axis, and most rates on the other.
_MOST_YEARS, _MOST_RATES = 8, 4


#: Paths of the signs for points, around the origin; each curve has another, not only another color.
_SIGNS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.5-3.5h7v7h-7z",
    "M0-4.5 4.5 3.5h-9z",
    "M0-5 5 0 0 5-5 0z",
    "M0 4.5 4.5-3.5h-9z",
    "M-4.5-1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z",
    "M-4-4 4 4M-4 4 4-4",
    "M-4.5 0 3.5-4.5v9z",
)
#: Most letters of the title of a point.
_SAID = 200


@dataclass(frozen=True, slots=True)
class RateChart:
    """A chart of rates by the key ``time``; ``lines``: name, number of hits and sign of each curve."""

    time: str
    lines: Sequence[tuple[str, int, Markup]]
    svg: Markup


def drawn_over_time(
    keys: Sequence[str], rows: Sequence[Mapping[str, Any]], sizes: PartSizes, urls: Sequence[str]
) -> RateChart | None:
    """Draw the rates of counts over time; ``None`` if no key is a time, or there are too many curves.

    Args:
        keys: keys by which hits were counted.
        rows: all rows of counts.
        sizes: numbers of tokens of the parts of the corpus.
        urls: link to the page with the hits of each row; empty for none.
    """
    column = rate_column(list(rows[0])) if rows else ""
    time = time_key(keys, [row for row in rows if row_rate(row, column)])
    if time is None:
        return None
    lines = sizes.over_time(rows, time, [key for key in keys if key != time])
    if len(lines) > len(_SIGNS):
        return None
    scale = _Scale.fit([point for runs in lines.values() for run in runs for point in run])
    names, marks = [], [*_axes(scale)]
    for number, (values, runs) in enumerate(lines.items()):
        name, tone, sign = ", ".join(values), f"tone-{number}", _SIGNS[number]
        legend = element("path", class_="sign", d=sign)
        names.append((name, sum(point.count for run in runs for point in run), legend))
        drawn = (mark for run in runs for mark in _run(name, run, scale, urls, sign))
        marks.append(element("g", *drawn, class_=tone))
    return RateChart(time, names, _picture(_CHART, f"Rates by {shorten(time, 60)}", marks))


def _picture(frame: _Frame, name: str, marks: Iterable[Markup], kind: str | None = None) -> Markup:
    box = f"0 0 {frame.width} {frame.height}"
    return element("svg", *marks, class_=kind, viewBox=box, role="group", aria_label=name)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The map from years and rates to coordinates."""

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


def _axes(scale: _Scale) -> Iterator[Markup]:
    """Yield the grid and the labels of both axes."""
    for rate in _round_numbers(0, scale.most, _MOST_RATES):
        y = scale.y(rate)
        yield element("path", class_="grid", d=f"M{_CHART.left} {y}H{_CHART.width - _CHART.right}")
        yield element("text", f"{rate:,}", x=_CHART.left - 6, y=y + 4, text_anchor="end")
    for year in _round_numbers(scale.first, scale.last, _MOST_YEARS):
        yield element("text", f"{year}", x=scale.x(year), y=_CHART.height - 8, text_anchor="middle")


def _run(
    name: str, run: Sequence[TimePoint], scale: _Scale, urls: Sequence[str], sign: str
) -> Iterator[Markup]:
    """Yield a part of a curve without a gap: the band of its intervals, the curve, and its points."""
    above = [f"{scale.x(point.time)} {scale.y(point.rate.high)}" for point in run]
    below = [f"{scale.x(point.time)} {scale.y(point.rate.low)}" for point in reversed(run)]
    middle = [f"{scale.x(point.time)} {scale.y(point.rate.rate)}" for point in run]
    yield element("path", class_="area", d=f"M{'L'.join([*above, *below])}Z")
    yield element("path", class_="line", d=f"M{'L'.join(middle)}")
    for point, xy in zip(run, middle, strict=True):
        title = shorten(_title(name, point), _SAID)
        mark = element("path", element("title", title), class_="sign", transform=f"translate({xy})", d=sign)
        yield _linked(mark, _url(point, urls), title)


def _linked(mark: Markup, url: str, name: str | None = None) -> Markup:
    return element("a", mark, href=url, aria_label=name) if url else mark


def _title(name: str, point: TimePoint) -> str:
    rate = point.rate
    where = f"{name}, {point.value}" if name else point.value
    interval = f"{rate.low:,.0f} to {rate.high:,.0f}"
    return f"{where}: {quantity(point.count, 'hit')}, {rate.rate:,.1f} per million ({interval})"


def _url(point: TimePoint, urls: Sequence[str]) -> str:
    return urls[point.place] if point.place is not None and point.place < len(urls) else ""


def _round_numbers(low: float, high: float, most: int) -> list[int]:
    """Return round numbers between two numbers, about ``most``, for labels of an axis.

    >>> _round_numbers(1990, 2010.5, 5), _round_numbers(0, 730, 4)
    ([1990, 1995, 2000, 2005, 2010], [0, 200, 400, 600])
    """
    rough = max((high - low) / most, 1)
    power = 10 ** math.floor(math.log10(rough))
    step = next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= rough)
    return list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))


_MOST_POINTS = 120
_STEPS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class SurprisalCurve:
    """The curve of a model; a point is the mean of ``each`` sentences, and ``mean`` that of all."""

    model: str
    sentences: int
    each: int
    mean: float
    svg: Markup


def curves(rows: Sequence[Mapping[str, Any]], page_of: Callable[[str], str]) -> list[SurprisalCurve]:
    """Draw a curve per model.

    Args:
        rows: ``model``, ``sentence``, its number of ``tokens`` and the sum of their ``bits``, by model.
        page_of: function from the name of a sentence to the link to its page.
    """
    grouped = groupby(rows, key=lambda row: row["model"])
    return [_curve(model, list(group), page_of) for model, group in grouped]


def _curve(model: str, rows: Sequence[Mapping[str, Any]], page_of: Callable[[str], str]) -> SurprisalCurve:
    each = ceil(len(rows) / _MOST_POINTS)
    parts = [rows[at : at + each] for at in range(0, len(rows), each)]
    means: list[float] = [
        sum(row["bits"] for row in part) / sum(row["tokens"] for row in part) for part in parts
    ]
    step = next((size for size in _STEPS if max(means) / size <= 4), _STEPS[-1])
    top: int = step * max(ceil(max(means) / step), 1)

    def height(bits: float) -> float:
        return _CURVE.top + _CURVE.down * (1 - bits / top)

    ticks, places, points = list[Markup](), [], []
    for bits in range(0, top + 1, step):
        y = height(bits)
        ticks.append(element("line", class_="tick", x1=_CURVE.left, x2=_CURVE.width, y1=y, y2=y))
        ticks.append(element("text", f"{bits}", x=_CURVE.left - 6, y=y + 4, text_anchor="end"))
    for number, (part, mean) in enumerate(zip(parts, means, strict=True)):
        x, y = _CURVE.left + _CURVE.across * (number + 0.5) / len(parts), height(mean)
        last = f" to {part[-1]['sentence']}" if len(part) > 1 else ""
        title = shorten(f"{part[0]['sentence']}{last}: {mean:.2f} bits a token", 160)
        places.append(f"{x:.1f},{y:.1f}")
        mark = element("circle", element("title", title), cx=x, cy=y, r=3)
        points.append(_linked(mark, page_of(part[0]["sentence"]), title))
    below = _CURVE.height - 6
    names = [
        element("text", "first sentence", x=_CURVE.left, y=below),
        element("text", "last", x=_CURVE.width - 4, y=below, text_anchor="end"),
    ]
    line = element("polyline", points=" ".join(places))
    svg = _picture(_CURVE, f"Surprisal by {shorten(model, 60)}", [*ticks, *names, line, *points])
    mean = sum(row["bits"] for row in rows) / sum(row["tokens"] for row in rows)
    return SurprisalCurve(model, len(rows), each, mean, svg)


_GRAPH = _Frame(420, 380, left=0, right=0, top=0, bottom=0)
_MIDDLE = _GRAPH.width / 2, _GRAPH.height / 2
#: Half axes of the ellipse of collocates.
_ACROSS, _DOWN = 118, 140
#: Most letters of a word that fit beside the ellipse.
_LETTERS = 14
_THINNEST, _THICKEST = 0.6, 5.0


@dataclass(frozen=True, slots=True)
class Graph:
    """A drawing of ``words`` collocates around their node, with ``edges`` lines between them."""

    words: int
    edges: int
    svg: Markup


def draw_collocates(node: str, rows: Sequence[Mapping[str, Any]], page_of: Callable[[str], str]) -> Graph:
    """Draw a graph of collocates; the thickness of an edge shows the logDice of its two words.

    Args:
        node: the node of the query.
        rows: edges with ``node``, ``collocate``, ``count`` and ``logdice``, those of the node first.
        page_of: function from a collocate to the link to its page.
    """
    order: list[str] = []
    for row in rows:
        # Only collocates of the node: those of other words are among them.
        if row["node"] == node and row["collocate"] not in order:
            order.append(row["collocate"])
        else:
            break
    spokes, edges = rows[: len(order)], rows[len(order) :]
    places = {word: _place(number, len(order)) for number, word in enumerate(order)}
    marks = [_edge("spoke", _MIDDLE, places[row["collocate"]], row, spokes) for row in spokes]
    marks += [_edge("pair", places[row["node"]], places[row["collocate"]], row, edges) for row in edges]
    marks += [_linked(_word(word, *places[word]), page_of(word)) for word in order]
    x, y = _MIDDLE
    marks.append(element("text", shorten(node, 18), class_="middle", x=x, y=y + 5, text_anchor="middle"))
    return Graph(len(order), len(edges), _picture(_GRAPH, "Graph of collocates", marks, "graph"))


def _place(number: int, size: int) -> tuple[float, float]:
    """Return the coordinates of a collocate: the first one is on top, the others follow clockwise."""
    angle = 2 * pi * number / size - pi / 2
    return _MIDDLE[0] + _ACROSS * cos(angle), _MIDDLE[1] + _DOWN * sin(angle)


def _word(word: str, x: float, y: float) -> Markup:
    """Draw a word, or the beginning of a long one, outside the ellipse at its point."""
    aside, down = x - _MIDDLE[0], y - _MIDDLE[1]
    if abs(aside) < _ACROSS / 8:
        x, y, anchor = x, y + (22 if down > 0 else -12), "middle"
    else:
        x, y, anchor = x + (8 if aside > 0 else -8), y + 5, "start" if aside > 0 else "end"
    if len(word) <= _LETTERS:
        return element("text", visible(word), x=x, y=y, text_anchor=anchor)
    title = element("title", shorten(word, _SAID))
    return element("text", visible(f"{word[: _LETTERS - 1]}…"), title, x=x, y=y, text_anchor=anchor)


def _edge(
    kind: str,
    start: tuple[float, float],
    end: tuple[float, float],
    row: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
) -> Markup:
    weights = [each["logdice"] for each in rows]
    least, most = min(weights), max(weights)
    share = (row["logdice"] - least) / (most - least) if most > least else 1
    title = f"{row['node']} and {row['collocate']}: {row['count']:,}, logDice {row['logdice']:.1f}"
    (x1, y1), (x2, y2), width = start, end, _THINNEST + (_THICKEST - _THINNEST) * share
    tooltip = element("title", shorten(title, _SAID))
    return element("line", tooltip, class_=kind, x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width)
