"""The plots of string regeneration beside those of every report: by length, and learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentgen.evaluation.regeneration.results import RegenerationResult
from sentgen.output.drawing import Theme, legend_beside, literal, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lengths_plot(result: RegenerationResult, theme: Theme) -> Figure:
    """Draw the main figure of each system by the number of words of the sentences."""
    figure, axes = plain_axes(8.2, 4.4, theme)
    for number, system in enumerate(result.ranked):
        axes.plot(
            range(len(result.lengths)),
            [score.value for score in result.by_length(system)],
            **theme.style(number),
            linestyle="-" if number < len(theme.lines) else "--",
            markersize=5.5,
            linewidth=1.6,
            label=literal(system.system),
        )
    labels = [f"{b.label.replace('-', '–')}\n{len(b.sentences):,}" for b in result.lengths]
    axes.set_xticks(range(len(labels)), labels)
    # From 0, so that heights can be compared, with room for the highest marker.
    axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    axes.grid(axis="y", color=theme.grid, linewidth=0.8)
    axes.set_xlabel("words in the sentence, and number of sentences")
    axes.set_ylabel(result.main.label)
    legend_beside(axes, theme)
    return figure


def curve_plot(result: RegenerationResult, theme: Theme) -> Figure:
    """Draw the main figure of each system by the number of sentences that it was learnt from."""
    figure, axes = plain_axes(8.2, 4.4, theme)
    systems = {system.system: system for system in result.systems}
    for number, name in enumerate(dict.fromkeys(point.algorithm for point in result.curve)):
        points = sorted((one for one in result.curve if one.algorithm == name), key=lambda one: one.sentences)
        sizes = [point.sentences for point in points]
        found = [systems[point.system] for point in points]
        values = [system.value(result.main.metric) for system in found]
        ends = [system.intervals[result.main.metric] for system in found]
        style = theme.style(number)
        axes.plot(sizes, values, **style, markersize=5.5, linewidth=1.6, label=literal(name))
        axes.vlines(sizes, [e.low for e in ends], [e.high for e in ends], color=style["color"], alpha=0.4)
    axes.set_xscale("log")
    sizes = sorted({point.sentences for point in result.curve})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
    axes.set_xticks([], minor=True)
    axes.grid(axis="y", color=theme.grid, linewidth=0.8)
    axes.set_xlabel("sentences that were learnt from")
    axes.set_ylabel(f"{result.main.label}, with 95% interval")
    legend_beside(axes, theme)
    return figure
