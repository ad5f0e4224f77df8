"""The plots of Wan et al. 2005: a figure of the system and of its baseline by the length of the string."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentgen.evaluation.clusters.results import ALPHA, Curve
from sentgen.output.drawing import Theme, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES = (("o", "-"), ("s", "--"))


def curve_plot(curve: Curve, systems: tuple[str, str], theme: Theme) -> Figure:
    """Draw both systems; a row of dots below marks the lengths at which one is significantly better."""
    figure, axes = plain_axes(7.6, 4.2, theme)
    lengths = [point.length for point in curve.points]
    for i, (system, (marker, line)) in enumerate(zip(systems, _STYLES, strict=True)):
        axes.plot(
            lengths,
            [point.means[i] for point in curve.points],
            color=theme.lines[i],
            marker=marker,
            linestyle=line,
            markersize=4.5,
            linewidth=1.6,
            label=system,
        )
        found = curve.significant(1 if i == 0 else -1)
        # Below zero, where no figure is.
        axes.plot(found, [-0.045] * len(found), marker, color=theme.lines[i], markersize=4.5)
    axes.set_xlim(lengths[0] - 1, lengths[-1] + 1)
    # The same for all curves, so that plots can be laid side by side.
    axes.set_ylim(-0.09, 1.02)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.grid(axis="y", color=theme.grid, linewidth=0.8)
    axes.set_xlabel(f"words; marks below: that one is better, p < {ALPHA} (Wilcoxon)")
    axes.set_ylabel(curve.name)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, labelcolor=theme.ink)
    return figure
