"""What the plots of all reports share: a ranking of systems, and pictures as files and as URLs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from sentgen.evaluation.figures.results import ExperimentResult, SystemT
from sentgen.extras import needs
from sentgen.output.drawing import DARK, LIGHT, Form, Theme, literal, picture, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Draws a plot on a ground.
Draw = Callable[[Theme], "Figure"]
_FORMS: tuple[Form, ...] = ("svg", "png")


def require_plots() -> None:
    """Refuse where there is nothing to draw with.

    Raises:
        InputError: matplotlib is not installed.
    """
    with needs("plots", "matplotlib, which draws the plots of a report,"):
        import matplotlib.figure  # noqa: F401


def systems_plot(result: ExperimentResult[SystemT], theme: Theme) -> Figure:
    """Draw the main figure of each system with its interval, the best one on top."""
    # An axis counts upwards, and the best one is to be on top.
    main, ranked = result.main, result.ranked[::-1]
    values = [main.factor * system.value(main.metric) for system in ranked]
    lows = [main.factor * system.intervals[main.metric].low for system in ranked]
    highs = [main.factor * system.intervals[main.metric].high for system in ranked]
    figure, axes = plain_axes(7.2, 1.3 + 0.36 * len(ranked), theme)
    places = range(len(ranked))
    axes.hlines(places, lows, highs, color=theme.lines[0], linewidth=2.2, alpha=0.55)
    axes.plot(values, places, "o", color=theme.lines[0], markersize=7)
    for place, value, high in zip(places, values, highs, strict=True):
        axes.annotate(
            f"{value:.1f}", (high, place), (6, 0), textcoords="offset points", va="center", color=theme.ink
        )
    axes.set_yticks(places, [literal(system.system) for system in ranked])
    axes.set_ylim(-0.7, len(ranked) - 0.3)
    axes.margins(x=0.12)
    axes.grid(axis="x", color=theme.grid, linewidth=0.8)
    axes.set_xlabel(f"{main.label}{', %' if main.factor == 100 else ''}, with 95% interval")
    return figure


def plot_files(plots: Mapping[str, Draw], forms: Sequence[Form] = _FORMS) -> dict[str, bytes]:
    """Return the files of plots by name, each on a light ground."""
    return {f"{name}.{form}": picture(draw(LIGHT), form) for name, draw in plots.items() for form in forms}


def plot_urls(plots: Mapping[str, Draw], files: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    """Return plots by name and ground, ``light`` or ``dark``, as URLs that hold the whole picture.

    Args:
        plots: the plots.
        files: of them all, as SVG.
    """
    return {
        name: {"light": _url(files[f"{name}.svg"]), "dark": _url(picture(draw(DARK), "svg"))}
        for name, draw in plots.items()
    }


def _url(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
