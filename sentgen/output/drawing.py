"""What all plots share: colors, axes, and pictures that are the same bytes for the same figure.

Colors are told apart on a light and on a dark ground; series have markers of their own, too.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "os^DvPX*<>"
Form = Literal["svg", "png"]
FORMS: tuple[Form, ...] = ("svg", "png")


class SystemStyle(TypedDict):
    """How a system is drawn."""

    color: str
    marker: str


@dataclass(frozen=True, slots=True)
class Theme:
    """The colors of a ground."""

    ground: str
    ink: str
    faint: str
    grid: str
    lines: tuple[str, ...]

    def style(self, number: int) -> SystemStyle:
        """Return the color and the marker of a system; both come again after ten of them."""
        return {"color": self.lines[number % len(self.lines)], "marker": MARKERS[number % len(MARKERS)]}


_LIGHT_LINES = "#0550ae #cf222e #1a7f37 #8250df #bc4c00 #0a7d91 #bf3989 #6e7781 #7d4e00 #4d5a00"
_DARK_LINES = "#58a6ff #ff7b72 #3fb950 #bc8cff #f0883e #39c5cf #f778ba #8b949e #d2a679 #b5c045"
LIGHT = Theme("#ffffff", "#1f2328", "#59636e", "#d8dee4", tuple(_LIGHT_LINES.split()))
DARK = Theme("#0d1117", "#f0f6fc", "#9198a1", "#30363d", tuple(_DARK_LINES.split()))


def picture(figure: Figure, form: Form) -> bytes:
    """Return the picture; the same figure gives the same bytes."""
    import matplotlib

    target = io.BytesIO()
    # Without dates and versions, and with a salt for ids: the same run gives the same files.
    nothing = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "sentgen"}):
        # In the drawing's own ground: a transparent one would be unreadable on the other theme.
        figure.savefig(target, format=form, dpi=160, metadata=nothing, facecolor=figure.get_facecolor())
    return target.getvalue()


def plain_axes(width: float, height: float, theme: Theme) -> tuple[Figure, Axes]:
    """Return an empty plot without a frame; no window and no global state are involved."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor=theme.ground)
    axes = figure.add_subplot(facecolor=theme.ground)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, colors=theme.ink, labelsize=10)
    axes.xaxis.label.set_color(theme.faint)
    axes.yaxis.label.set_color(theme.faint)
    axes.set_axisbelow(True)
    return figure, axes


def legend_beside(axes: Axes, theme: Theme) -> None:
    """Name the systems to the right of a plot."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, labelcolor=theme.ink)


def literal(text: str) -> str:
    """Return text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")
