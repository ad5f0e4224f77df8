"""Plots of tables: rates, scores, and the places of hits in their documents; and files of plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sentgen.errors import InputError, spell
from sentgen.extras import needs
from sentgen.output.drawing import (
    LIGHT,
    Form,
    GridAxis,
    legend_beside,
    literal,
    picture,
    plain_axes,
    plain_panels,
)
from sentgen.output.files import whole_file
from sentgen.output.rates import PartSizes, Runs, rate_column, row_rate, time_key
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Most bars that are distinguishable in a plot, most letters of a label, and of a title.
_MOST_BARS, _LABEL, _TITLE = 60, 40, 90
_FORMS: dict[str, Form] = {f".{form}": form for form in get_args(Form)}


def check_plot(path: Path | None) -> None:
    """Refuse a file whose extension is none of a plot, or if matplotlib is missing.

    Raises:
        InputError: the extension is none of a plot, or matplotlib is not installed.
    """
    if path is None:
        return
    if path.suffix not in _FORMS:
        raise InputError("a plot ends in .svg, .png or .pdf; name such a file", path=str(path))
    need_plots()


def need_plots(what: str = "plots") -> None:
    """Refuse plots if matplotlib is missing.

    Raises:
        InputError: matplotlib is not installed.
    """
    with needs("plots", f"matplotlib, which draws {what},"):
        import matplotlib.figure  # noqa: F401


def write_plot(figure: Figure, path: Path) -> None:
    """Write a plot whole or not at all.

    Raises:
        InputError: the file cannot be written there.
    """
    with whole_file(path) as sink:
        sink.write(picture(figure, _FORMS[path.suffix]))


def _bar_axes(bars: int, width: float = 7.2, *, grid: GridAxis | None = "x") -> tuple[Figure, Axes, range]:
    """Return an empty plot for a number of bars, with their y coordinates from top to bottom.

    Raises:
        InputError: there are too many bars.
    """
    _check_bars(bars)
    figure, axes = plain_axes(width, 1.3 + 0.3 * bars, LIGHT, grid=grid)
    axes.set_ylim(-0.7, bars - 0.3)
    return figure, axes, range(bars)[::-1]


def _check_bars(number: int) -> None:
    """Refuse too many bars.

    Raises:
        InputError: there are more than fit.
    """
    if number > _MOST_BARS:
        raise InputError(
            f"{number:,} bars are too many to draw; ask for fewer with {spell('limit')}, {_MOST_BARS} at most"
        )


def set_title(axes: Axes, text: str) -> None:
    """Write a title over a plot."""
    axes.set_title(_label(text, _TITLE), loc="left", fontsize=11, color=LIGHT.ink)


def _label(text: str, most: int = _LABEL) -> str:
    """Return a text for a label, or the beginning of a long one."""
    return literal(text if len(text) <= most else f"{text[: most - 1]}…")


#: Number of parts of a document by which the place of a hit is given.
PARTS = 1000


def places_plot(table: Rows, title: str, more: int) -> Figure:
    """Draw a row per document, with a line at each place of a hit.

    Args:
        table: ``document``, ``count``, ``tokens`` and ``places``.
        title: the query.
        more: number of documents that are not among the rows.

    Raises:
        InputError: there are too many rows.
    """
    rows: list[dict[str, Any]] = table.to_pylist()
    figure, axes, positions = _bar_axes(len(rows), width=8.8, grid=None)
    axes.hlines(positions, 0, 100, color=LIGHT.grid, linewidth=0.8)
    for row, y in zip(rows, positions, strict=True):
        hits = [100 * (int(part) + 0.5) / PARTS for part in row["places"].split()]
        axes.vlines(hits, y - 0.36, y + 0.36, color=LIGHT.lines[0], linewidth=1)
        counts = f"{quantity(row['count'], 'hit')} in {quantity(row['tokens'], 'token')}"
        axes.text(101, y, counts, va="center", fontsize=9, color=LIGHT.faint)
    axes.set_yticks(positions, [_label(row["document"]) for row in rows])
    axes.set_xlim(0, 100)
    others = f"; hits in {quantity(more, 'document')} more" if more else ""
    axes.set_xlabel(f"place in the document, %{others}")
    set_title(axes, title)
    return figure


#: Most curves that are distinguishable in a plot.
_MOST_LINES = 8
_UNIT = "with 95% intervals (Wilson)"


def frequency_plot(table: Rows, title: str, *, whole: bool, sizes: PartSizes) -> Figure:
    """Draw a frequency list as rates: curves over time if a key has years or dates, else a bar per row.

    Args:
        table: columns of keys, then ``count``, and a rate per million.
        title: the query whose hits were counted.
        whole: whether the table has all rows.
        sizes: numbers of tokens of the parts of the corpus by the keys.

    Raises:
        InputError: there is too much to draw, nothing to draw, or only some of the years.
    """
    names, every = table.columns, table.to_pylist()
    keys, column = names[: names.index("count")], rate_column(names)
    rows: list[dict[str, Any]] = [row for row in every if row_rate(row, column)]
    if not rows:
        raise InputError("these rows have no rate per million, so there is nothing to draw")
    full_title = f"{title}: {quantity(sum(row['count'] for row in rows), 'hit')}"
    if left_out := len(every) - len(rows):
        full_title += (
            f", without {quantity(left_out, 'row')} that {'has' if left_out == 1 else 'have'} no rate"
        )
    time = time_key(keys, rows)
    if time is not None:
        if not whole:
            raise InputError(f"a plot over time needs all rows; ask for them with {spell('limit')} 0")
        others = [key for key in keys if key != time]
        lines = sizes.over_time(rows, time, others)
        return _over_time(lines, time, full_title, named=bool(others))
    return _bars(rows, keys, column, full_title)


def _bars(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], column: str, title: str) -> Figure:
    figure, axes, positions = _bar_axes(len(rows))
    rates = [rate for row in rows if (rate := row_rate(row, column))]
    axes.barh(positions, [rate.rate for rate in rates], color=LIGHT.lines[0], alpha=0.55, height=0.7)
    axes.hlines(
        positions, [rate.low for rate in rates], [rate.high for rate in rates], color=LIGHT.ink, linewidth=1.4
    )
    named = [(_label(", ".join(str(row[key]) for key in keys)), row["count"]) for row in rows]
    axes.set_yticks(positions, [f"{name}, n = {count:,}" for name, count in named])
    axes.set_xlim(left=0)
    axes.set_xlabel(f"per million tokens, {_UNIT}")
    set_title(axes, title)
    return figure


def _over_time(lines: Mapping[tuple[str, ...], Runs], time: str, title: str, *, named: bool) -> Figure:
    from matplotlib.ticker import MaxNLocator

    if len(lines) > _MOST_LINES:
        raise InputError(f"{len(lines):,} lines are too many to tell apart; there is room for {_MOST_LINES}")
    figure, axes = plain_axes(8.2, 4.2, LIGHT, grid="y")
    for number, (name, runs) in enumerate(lines.items()):
        style, count = LIGHT.style(number), sum(point.count for run in runs for point in run)
        for index, run in enumerate(runs):
            years, rates = [point.time for point in run], [point.rate for point in run]
            lows, highs = [rate.low for rate in rates], [rate.high for rate in rates]
            axes.fill_between(years, lows, highs, alpha=0.18, color=style["color"], linewidth=0)
            if len(run) == 1:  # a single point between gaps, for which there is no area to fill
                axes.vlines(years, lows, highs, color=style["color"], alpha=0.5)
            legend = f"{_label(', '.join(name))}, n = {count:,}" if index == 0 else None
            axes.plot(years, [rate.rate for rate in rates], label=legend, markersize=5, **style)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(literal(time))
    axes.set_ylabel(f"per million tokens,\n{_UNIT}")
    set_title(axes, title)
    if named:
        legend_beside(axes, LIGHT)
    return figure


#: Scores that are ratios, 1 for no difference, which are drawn on a logarithmic scale.
_RATIOS = ("odds_ratio", "simple_maths")
#: Colors of scores above and below no difference, or of the two words; their places differ, too.
_MORE, _LESS = LIGHT.lines[:2]
#: Most relations of a sketch that are drawn, and panels in a row.
_MOST_RELATIONS, _ACROSS = 9, 3


def score_plot(table: Rows, column: str, title: str) -> Figure:
    """Draw the scores of rows as bars, to the left and right of the value for no difference.

    Args:
        table: rows, whose columns before ``count`` are the label of the bar.
        column: the score; its interval is drawn if there are columns for it.
        title: title of the plot.

    Raises:
        InputError: there is too much to draw, or nothing.
    """
    names = table.columns
    every: list[dict[str, Any]] = table.to_pylist()
    base = 1 if column in _RATIOS else 0
    rows = [row for row in every if math.isfinite(_score(row[column])) and (row[column] > 0 or not base)]
    if not rows:
        raise InputError(
            f"{column} is zero, infinite or missing in all of these rows, so there is nothing to draw;"
            f" rank by another {spell('measure')}"
        )
    keys = names[: names.index("count")]
    figure, axes, positions = _bar_axes(len(rows))
    values = [row[column] for row in rows]
    colors = [_MORE if value >= base else _LESS for value in values]
    axes.barh(positions, [value - base for value in values], left=base, color=colors, height=0.7)
    if {f"{column}_low", f"{column}_high"} <= {*names}:
        lows, highs = ([row[f"{column}_{end}"] for row in rows] for end in ("low", "high"))
        axes.hlines(positions, lows, highs, color=LIGHT.ink, linewidth=1.4)
        column += ", with 95% intervals"
    if base:
        axes.set_xscale("log")
        column += " (1: no difference; logarithmic)"
    axes.set_yticks(positions, [f"{_row_label(row, keys)}, n = {row['count']:,}" for row in rows])
    axes.axvline(base, color=LIGHT.ink, linewidth=0.8)
    axes.set_xlabel(column)
    full_title = f"{title}: {quantity(len(rows), 'row')}"
    if left_out := len(every) - len(rows):
        full_title += f", without {quantity(left_out, 'row')} that cannot be drawn"
    set_title(axes, full_title)
    return figure


def sketch_plot(table: Rows, column: str, title: str, words: Sequence[str]) -> Figure:
    """Draw a word sketch, a panel per relation: bars, or for two words a sign of each per collocate.

    Args:
        table: rows of a sketch, or of the difference of two.
        column: the score.
        title: title of the plot.
        words: the word of the sketch, or both words.

    Raises:
        InputError: a relation has too many collocates.
    """
    rows: list[dict[str, Any]] = table.to_pylist()
    groups = [list(part) for _, part in groupby(rows, lambda row: (row["relation"], row["role"]))]
    shown = groups[:_MOST_RELATIONS]
    across = min(_ACROSS, len(shown))
    lines = [shown[start : start + across] for start in range(0, len(shown), across)]
    _check_bars(max(map(len, shown)))
    heights = [1.0 + 0.24 * max(map(len, line)) for line in lines]
    figure, panels = plain_panels(1 + 4 * across, heights, across, LIGHT, grid="x")
    for axes, group in zip(panels, shown, strict=False):
        _relation(axes, group, column, words)
        # Bars in a row of panels have the same heights, from the top.
        level = shown.index(group) // across
        axes.set_ylim(len(group) - 0.3 - max(map(len, lines[level])) - 0.4, len(group) - 0.3)
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    more = f", without {quantity(len(groups) - len(shown), 'rarer relation')}" if groups != shown else ""
    figure.suptitle(_label(f"{title}{more}", 90), x=0.01, ha="left", fontsize=11, color=LIGHT.ink)
    if len(words) > 1:
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", frameon=False, labelcolor=LIGHT.ink)
    return figure


def _relation(axes: Axes, rows: Sequence[Mapping[str, Any]], column: str, words: Sequence[str]) -> None:
    positions = range(len(rows))[::-1]
    if len(words) == 1:
        axes.barh(positions, [_score(row[column]) for row in rows], color=_MORE, height=0.7)
        labels = [f"{_row_label(row, ['collocate'])}, n = {row['count']:,}" for row in rows]
    else:
        columns = (column, f"{column}_against")
        for row, y in zip(rows, positions, strict=True):
            ends = [row[key] for key in columns if row[key] is not None]
            axes.hlines(y, min(ends), max(ends), color=LIGHT.grid, linewidth=2)
        for number, (key, word) in enumerate(zip(columns, words, strict=True)):
            values = [math.nan if row[key] is None else row[key] for row in rows]
            axes.plot(
                values, positions, linestyle="", markersize=6, label=_label(word), **LIGHT.style(number)
            )
        labels = [_row_label(row, ["collocate"]) for row in rows]
    axes.set_yticks(positions, labels)
    axes.set_xlabel(column)
    axes.set_title(
        f"{_label(rows[0]['name'], 36)}\n{quantity(rows[0]['pairs'], 'pair')}",
        loc="left", fontsize=10, color=LIGHT.ink,
    )  # fmt: skip


def _row_label(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    return _label(" ".join(str(row[key]) for key in keys))


def _score(value: float | None) -> float:
    return math.nan if value is None or not math.isfinite(value) else value
