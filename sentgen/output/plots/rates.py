"""Plots of frequency lists: rates with intervals, over time or by what they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sentgen.errors import InputError
from sentgen.output.drawing import LIGHT, legend_beside, literal, plain_axes
from sentgen.output.plots.pictures import bar_axes, label, set_title
from sentgen.output.rates import PartSizes, Runs, over_time, rate_column, row_rate, time_key
from sentgen.output.tabular import Rows, names_of
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

#: Lines that can be told apart in a plot.
MOST_LINES = 8
_UNIT = "with 95% intervals (Wilson)"


def frequency_plot(table: pa.Table | Rows, title: str, *, whole: bool, sizes: PartSizes) -> Figure:
    """Draw a frequency list as rates: over time where a key has years or dates, else a bar a row.

    Args:
        table: columns of keys, then ``count``, and a rate per million.
        title: what was counted.
        whole: whether it has all rows.
        sizes: how many tokens the parts of the corpus have that its keys make.

    Raises:
        InputError: there is more than fits, nothing to draw, or years that are not all there.
    """
    names, every = names_of(table), table.to_pylist()
    keys, column = names[: names.index("count")], rate_column(names)
    rows: list[dict[str, Any]] = [row for row in every if row_rate(row, column)]
    if not rows:
        raise InputError("these rows have no rate per million, so there is nothing to draw")
    told = f"{title}: {quantity(sum(row['count'] for row in rows), 'hit')}"
    if left_out := len(every) - len(rows):
        told += f", without {quantity(left_out, 'row')} that {'has' if left_out == 1 else 'have'} no rate"
    time = time_key(keys, rows)
    if time is not None:
        if not whole:
            raise InputError("a plot over time needs all rows; ask for them with --limit 0")
        others = [key for key in keys if key != time]
        lines = over_time(rows, time, others, sizes)
        return _over_time(lines, time, told, named=bool(others))
    return _bars(rows, keys, column, told)


def _bars(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], column: str, title: str) -> Figure:
    figure, axes, places = bar_axes(len(rows))
    rates = [one for row in rows if (one := row_rate(row, column))]
    axes.barh(places, [one.rate for one in rates], color=LIGHT.lines[0], alpha=0.55, height=0.7)
    axes.hlines(
        places, [one.low for one in rates], [one.high for one in rates], color=LIGHT.ink, linewidth=1.4
    )
    named = [(label(", ".join(str(row[key]) for key in keys)), row["count"]) for row in rows]
    axes.set_yticks(places, [f"{name}, n = {count:,}" for name, count in named])
    axes.set_xlim(left=0)
    axes.set_xlabel(f"per million tokens, {_UNIT}")
    set_title(axes, title)
    return figure


def _over_time(lines: Mapping[tuple[str, ...], Runs], time: str, title: str, *, named: bool) -> Figure:
    from matplotlib.ticker import MaxNLocator

    if len(lines) > MOST_LINES:
        raise InputError(f"{len(lines):,} lines are too many to tell apart; there is room for {MOST_LINES}")
    figure, axes = plain_axes(8.2, 4.2, LIGHT)
    for number, (name, runs) in enumerate(lines.items()):
        style, count = LIGHT.style(number), sum(point.count for run in runs for point in run)
        for place, run in enumerate(runs):
            years, rates = [point.time for point in run], [point.rate for point in run]
            lows, highs = [one.low for one in rates], [one.high for one in rates]
            axes.fill_between(years, lows, highs, alpha=0.18, color=style["color"], linewidth=0)
            if len(run) == 1:  # between two gaps, where there is nothing to fill
                axes.vlines(years, lows, highs, color=style["color"], alpha=0.5)
            told = f"{label(', '.join(name))}, n = {count:,}" if place == 0 else None
            axes.plot(years, [one.rate for one in rates], label=told, markersize=5, **style)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=LIGHT.grid, linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(literal(time))
    axes.set_ylabel(f"per million tokens,\n{_UNIT}")
    set_title(axes, title)
    if named:
        legend_beside(axes, LIGHT)
    return figure
