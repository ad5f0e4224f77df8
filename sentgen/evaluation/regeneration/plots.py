"""The plots of a report of string regeneration: systems with their intervals, and by length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentgen.evaluation.regeneration.results import PRIMARY, RegenerationResult, by_length
from sentgen.evaluation.regeneration.tables import LABELS, ranked
from sentgen.evaluation.report.plots import MARKERS, Theme, literal, plain_axes, ranking_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def systems_plot(result: RegenerationResult, theme: Theme) -> Figure:
    """Draw the main figure of each system with its interval, the best one on top."""
    rows = [(s.system, s.value(PRIMARY), s.intervals[PRIMARY]) for s in ranked(result)]
    return ranking_plot(rows, LABELS[PRIMARY], theme)


def lengths_plot(result: RegenerationResult, theme: Theme) -> Figure:
    """Draw the main figure of each system by the number of words of the sentences."""
    figure, axes = plain_axes(8.2, 4.4, theme)
    for number, system in enumerate(ranked(result)):
        axes.plot(
            range(len(result.lengths)),
            [score.value for score in by_length(system, result.lengths)],
            color=theme.lines[number % len(theme.lines)],
            marker=MARKERS[number % len(MARKERS)],
            linestyle="-" if number < len(theme.lines) else "--",
            markersize=5.5,
            linewidth=1.6,
            label=literal(system.system),
        )
    labels = [f"{b.label.replace('-', '–')}\n{len(b.sentences):,}" for b in result.lengths]
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    axes.grid(axis="y", color=theme.grid, linewidth=0.8)
    axes.set_xlabel("words in the sentence, and number of sentences")
    axes.set_ylabel(LABELS[PRIMARY])
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, labelcolor=theme.ink)
    return figure
