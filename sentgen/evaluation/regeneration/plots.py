"""The plot of string regeneration beside those of every report: systems by the length of the sentence."""

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
