"""The plot of an evaluation of alignments beside those of every report: precision against recall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentgen.evaluation.alignment.results import AlignmentResult
from sentgen.output.drawing import Theme, legend_beside, literal, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def precision_recall_plot(result: AlignmentResult, theme: Theme) -> Figure:
    """Draw each system and annotator at its recall and soft precision, over lines of equal SoftF.

    After ten of them markers are hollow.
    """
    figure, axes = plain_axes(8.2, 5.2, theme)
    for level in range(30, 100, 10):
        # F = 2pr / (p + r) solved for p, where that is a percentage.
        recalls = [r for r in range(1, 101) if 2 * r > level and level * r / (2 * r - level) <= 100]
        precisions = [level * r / (2 * r - level) for r in recalls]
        axes.plot(recalls, precisions, color=theme.grid, linewidth=0.9, zorder=1)
        axes.annotate(str(level), (recalls[-1], precisions[-1]), color=theme.faint, fontsize=8)
    for number, system in enumerate((*result.ranked, *result.humans)):
        axes.plot(
            [100 * system.value("recall")],
            [100 * system.value("soft-precision")],
            **theme.style(number),
            linestyle="none",
            markersize=8,
            fillstyle="full" if number < len(theme.lines) else "none",
            markeredgewidth=1.8,
            label=literal(system.system),
        )
    axes.set_xlim(0, 103)
    axes.set_ylim(0, 103)
    axes.set_xlabel("recall, %; lines: equal SoftF")
    axes.set_ylabel("soft precision, %")
    legend_beside(axes, theme)
    return figure
