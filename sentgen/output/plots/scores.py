"""Plots of scores: keywords, collocates, and word sketches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sentgen.errors import InputError
from sentgen.output.drawing import LIGHT, plain_panels
from sentgen.output.plots.pictures import bar_axes, check_bars, label, set_title
from sentgen.output.tabular import Rows, names_of
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Ratios, which are 1 where there is no difference, and so drawn on a logarithmic scale.
_RATIOS = ("odds_ratio", "simple_maths")
#: What is above or below no difference, or of the other word; the places differ, too.
_MORE, _LESS = LIGHT.lines[:2]
#: Relations of a sketch that are drawn, and of these in a row.
_MOST_RELATIONS, _ACROSS = 9, 3


def score_plot(table: pa.Table | Rows, column: str, title: str) -> Figure:
    """Draw the scores of rows as bars, which go to both sides of where there is no difference.

    Args:
        table: rows, whose first columns say what each is of, up to ``count``.
        column: the score; with its interval where there are columns of it.
        title: of what.

    Raises:
        InputError: there is more than fits, or nothing to draw.
    """
    names = names_of(table)
    every: list[dict[str, Any]] = table.to_pylist()
    base = 1 if column in _RATIOS else 0
    rows = [row for row in every if _drawable(row[column], base)]
    if not rows:
        raise InputError(
            f"{column} is zero, infinite or missing in all of these rows, so there is nothing to draw;"
            " rank by another --measure"
        )
    keys = names[: names.index("count")]
    figure, axes, places = bar_axes(len(rows))
    values = [row[column] for row in rows]
    colors = [_MORE if value >= base else _LESS for value in values]
    axes.barh(places, [value - base for value in values], left=base, color=colors, height=0.7)
    if {f"{column}_low", f"{column}_high"} <= {*names}:
        lows, highs = ([row[f"{column}_{end}"] for row in rows] for end in ("low", "high"))
        axes.hlines(places, lows, highs, color=LIGHT.ink, linewidth=1.4)
        column += ", with 95% intervals"
    if base:
        axes.set_xscale("log")
        column += " (1: no difference; logarithmic)"
    axes.set_yticks(places, [f"{_named(row, keys)}, n = {row['count']:,}" for row in rows])
    axes.axvline(base, color=LIGHT.ink, linewidth=0.8)
    axes.set_xlabel(column)
    told = f"{title}: {quantity(len(rows), 'row')}"
    if left_out := len(every) - len(rows):
        told += f", without {quantity(left_out, 'row')} that cannot be drawn"
    set_title(axes, told)
    return figure


def sketch_plot(table: pa.Table | Rows, column: str, title: str, words: Sequence[str]) -> Figure:
    """Draw a word sketch, a panel a relation: bars, or of two words a sign of each where it has a collocate.

    Args:
        table: rows of a sketch, or of a difference of two.
        column: the score.
        title: of what.
        words: that which is sketched, or both.

    Raises:
        InputError: there are more collocates of a relation than fit.
    """
    rows: list[dict[str, Any]] = table.to_pylist()
    groups = [list(part) for _, part in groupby(rows, lambda row: (row["relation"], row["role"]))]
    shown = groups[:_MOST_RELATIONS]
    across = min(_ACROSS, len(shown))
    lines = [shown[start : start + across] for start in range(0, len(shown), across)]
    check_bars(max(map(len, shown)))
    heights = [1.0 + 0.24 * max(map(len, line)) for line in lines]
    figure, panels = plain_panels(1 + 4 * across, heights, across, LIGHT)
    for axes, group in zip(panels, shown, strict=False):
        _relation(axes, group, column, words)
        # Bars of a line are as high as each other, from above.
        place = shown.index(group) // across
        axes.set_ylim(len(group) - 0.3 - max(map(len, lines[place])) - 0.4, len(group) - 0.3)
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    more = f", without {quantity(len(groups) - len(shown), 'rarer relation')}" if groups != shown else ""
    figure.suptitle(label(f"{title}{more}", 90), x=0.01, ha="left", fontsize=11, color=LIGHT.ink)
    if len(words) > 1:
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", frameon=False, labelcolor=LIGHT.ink)
    return figure


def _relation(axes: Axes, rows: Sequence[Mapping[str, Any]], column: str, words: Sequence[str]) -> None:
    places = range(len(rows))[::-1]
    if len(words) == 1:
        axes.barh(places, [_score(row[column]) for row in rows], color=_MORE, height=0.7)
        labels = [f"{_named(row, ['collocate'])}, n = {row['count']:,}" for row in rows]
    else:
        columns = (column, f"{column}_against")
        for row, place in zip(rows, places, strict=True):
            ends = [row[one] for one in columns if row[one] is not None]
            axes.hlines(place, min(ends), max(ends), color=LIGHT.grid, linewidth=2)
        for number, (one, word) in enumerate(zip(columns, words, strict=True)):
            values = [math.nan if row[one] is None else row[one] for row in rows]
            axes.plot(values, places, linestyle="", markersize=6, label=label(word), **LIGHT.style(number))
        labels = [_named(row, ["collocate"]) for row in rows]
    axes.set_yticks(places, labels)
    axes.grid(axis="x", color=LIGHT.grid, linewidth=0.8)
    axes.set_xlabel(column)
    axes.set_title(
        f"{label(rows[0]['name'], 36)}\n{quantity(rows[0]['pairs'], 'pair')}",
        loc="left", fontsize=10, color=LIGHT.ink,
    )  # fmt: skip


def _named(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    return label(" ".join(str(row[key]) for key in keys))


def _score(value: float | None) -> float:
    return math.nan if value is None or not math.isfinite(value) else value


def _drawable(value: float | None, base: int) -> bool:
    return value is not None and math.isfinite(value) and (value > 0 or not base)
