"""Plots of tables: rates with intervals, over time or by what they are of, and scores to both sides of zero.

A rate per million tokens is a share of tokens, with its interval (`sentgen.output.intervals`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.output.drawing import FORMS, LIGHT, legend_beside, literal, picture, plain_axes
from sentgen.output.files import whole_file
from sentgen.output.intervals import wilson
from sentgen.output.tabular import Rows, names_of
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

_MILLION = 1_000_000
#: Bars and lines that can be told apart in a picture, and letters of a label.
MOST_BARS, MOST_LINES, _LABEL = 60, 10, 40
#: A year, a month or a day, with or without the time of it; not five digits, and no range of years.
_TIME = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])(?:[T ].*)?)?)?", re.ASCII)
_RATES = ("per_million_in_part", "per_million")


@dataclass(frozen=True, slots=True)
class RateInterval:
    """A rate per million tokens, and between what it lies with 95 %."""

    rate: float
    low: float
    high: float


def rate_of(count: int, tokens: float) -> RateInterval:
    """Return the rate of what occurs so often in so many tokens.

    >>> [round(value) for value in (lambda one: (one.rate, one.low, one.high))(rate_of(10, 100_000))]
    [100, 54, 184]
    """
    return RateInterval(*(_MILLION * value for value in (count / tokens, *wilson(count, tokens))))


def check_plot(path: Path | None) -> None:
    """Refuse a file that no plot can be, or where there is nothing to draw with.

    Raises:
        InputError: its ending is another one, or matplotlib is not installed.
    """
    if path is None:
        return
    if path.suffix not in [f".{form}" for form in FORMS]:
        raise InputError("a plot ends in .svg or .png; name such a file", path=str(path))
    with needs("plots", "matplotlib, which draws plots,"):
        import matplotlib.figure  # noqa: F401


def write_plot(figure: Figure, path: Path) -> None:
    """Write a plot whole or not at all.

    Raises:
        InputError: the file cannot be written there.
    """
    with whole_file(path) as sink:
        sink.write(picture(figure, "png" if path.suffix == ".png" else "svg"))


def frequency_plot(table: pa.Table | Rows, title: str, *, whole: bool) -> Figure:
    """Draw a frequency list as rates: over time where a key has years or dates, else a bar a row.

    Args:
        table: columns of keys, then ``count``, and a rate per million.
        title: what was counted.
        whole: whether it has all rows.

    Raises:
        InputError: there is more than fits, nothing to draw, or years that are not all there.
    """
    names = names_of(table)
    keys = names[: names.index("count")]
    rows: list[dict[str, Any]] = table.to_pylist()
    rate = next((name for name in _RATES if name in names), "")
    rated = [row for row in rows if rate and row[rate]]
    found = [(row, rate_of(row["count"], _MILLION * row["count"] / row[rate])) for row in rated]
    if not found:
        raise InputError("these rows have no rate per million, so there is nothing to draw")
    told = f"{title}: {quantity(sum(row['count'] for row, _ in found), 'hit')}"
    if left_out := len(rows) - len(found):
        told += f", without {quantity(left_out, 'row')} that {'has' if left_out == 1 else 'have'} no rate"
    time = next((key for key in keys if _is_time([str(row[key]) for row, _ in found])), None)
    if time is not None:
        if not whole:
            raise InputError("a plot over time needs all rows; ask for them with --limit 0")
        return _over_time(found, time, [key for key in keys if key != time], told)
    _check_bars(len(found))
    labels = [_label(", ".join(str(row[key]) for key in keys)) for row, _ in found]
    figure, axes = plain_axes(7.2, 1.3 + 0.3 * len(found), LIGHT)
    places = range(len(found))[::-1]
    axes.barh(places, [one.rate for _, one in found], color=LIGHT.lines[0], alpha=0.55, height=0.7)
    axes.hlines(places, *_ends(found), color=LIGHT.ink, linewidth=1.4)
    axes.set_yticks(places, labels)
    axes.set_ylim(-0.7, len(found) - 0.3)
    axes.set_xlim(left=0)
    axes.grid(axis="x", color=LIGHT.grid, linewidth=0.8)
    axes.set_xlabel("per million tokens, with 95% intervals (Wilson)")
    axes.set_title(_label(told, 90), loc="left", fontsize=11, color=LIGHT.ink)
    return figure


def _over_time(
    found: Sequence[tuple[Mapping[str, Any], RateInterval]], time: str, others: Sequence[str], title: str
) -> Figure:
    from matplotlib.ticker import MaxNLocator

    series: dict[str, list[tuple[float, RateInterval]]] = {}
    for row, one in found:
        name = ", ".join(str(row[key]) for key in others)
        series.setdefault(name, []).append((_year(str(row[time])), one))
    if len(series) > MOST_LINES:
        raise InputError(f"{len(series):,} lines are too many to tell apart; there is room for {MOST_LINES}")
    figure, axes = plain_axes(8.2, 4.2, LIGHT)
    for number, (name, points) in enumerate(series.items()):
        points.sort(key=lambda point: point[0])
        years = [year for year, _ in points]
        style = LIGHT.style(number)
        axes.fill_between(
            years, [one.low for _, one in points], [one.high for _, one in points], alpha=0.18,
            color=style["color"], linewidth=0,
        )  # fmt: skip
        axes.plot(years, [one.rate for _, one in points], label=_label(name), markersize=5, **style)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=LIGHT.grid, linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(literal(time))
    axes.set_ylabel("per million tokens,\nwith 95% intervals (Wilson)")
    axes.set_title(_label(title, 90), loc="left", fontsize=11, color=LIGHT.ink)
    if others:
        legend_beside(axes, LIGHT)
    return figure


def score_plot(table: pa.Table | Rows, column: str, title: str) -> Figure:
    """Draw the scores of rows as bars, which go to both sides where some are below zero.

    Args:
        table: rows, whose first columns say what each is of, up to ``count``.
        column: the score.
        title: of what.

    Raises:
        InputError: there is more than fits, or nothing to draw.
    """
    names = names_of(table)
    every: list[dict[str, Any]] = table.to_pylist()
    rows = [row for row in every if row[column] is not None and math.isfinite(row[column])]
    if not rows:
        raise InputError("no row has a score, so there is nothing to draw")
    _check_bars(len(rows))
    keys = names[: names.index("count")]
    figure, axes = plain_axes(7.2, 1.3 + 0.3 * len(rows), LIGHT)
    places, values = range(len(rows))[::-1], [row[column] for row in rows]
    axes.barh(places, values, color=[LIGHT.lines[0 if value >= 0 else 4] for value in values], height=0.7)
    axes.set_yticks(places, [_label(" ".join(str(row[key]) for key in keys)) for row in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.axvline(0, color=LIGHT.ink, linewidth=0.8)
    axes.grid(axis="x", color=LIGHT.grid, linewidth=0.8)
    axes.set_xlabel(column)
    axes.set_title(_label(f"{title}: {quantity(len(rows), 'row')}", 90), loc="left", fontsize=11)
    return figure


def _check_bars(number: int) -> None:
    if number > MOST_BARS:
        raise InputError(
            f"{number:,} bars are too many to draw; ask for fewer with --limit, {MOST_BARS} at most"
        )


def _ends(found: Sequence[tuple[Mapping[str, Any], RateInterval]]) -> tuple[list[float], list[float]]:
    return [one.low for _, one in found], [one.high for _, one in found]


def _is_time(values: Sequence[str]) -> bool:
    """Return whether all values are years or dates, and not one and the same."""
    return len({*values}) > 1 and all(map(_TIME.fullmatch, values))


def _year(text: str) -> float:
    """Return a date as a year with a fraction."""
    found = _TIME.fullmatch(text)
    assert found is not None
    year, month, day = (int(part or 0) for part in found.groups())
    return year + max(month - 1, 0) / 12 + max(day - 1, 0) / 365


def _label(text: str, most: int = _LABEL) -> str:
    return literal(text if len(text) <= most else f"{text[: most - 1]}…")
