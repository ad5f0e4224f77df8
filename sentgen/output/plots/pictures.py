"""Plots on their way into files: which files there are, and what all plots of tables share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.output.drawing import LIGHT, Form, literal, picture, plain_axes
from sentgen.output.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Bars that can be told apart in a plot, and letters of a label and of a title.
MOST_BARS, _LABEL, _TITLE = 60, 40, 90
_FORMS: dict[str, Form] = {f".{form}": form for form in get_args(Form)}


def check_plot(path: Path | None) -> None:
    """Refuse a file that no plot can be, or where there is nothing to draw with.

    Raises:
        InputError: its ending is another one, or matplotlib is not installed.
    """
    if path is None:
        return
    if path.suffix not in _FORMS:
        raise InputError("a plot ends in .svg, .png or .pdf; name such a file", path=str(path))
    need_plots()


def need_plots() -> None:
    """Refuse where there is nothing to draw with.

    Raises:
        InputError: matplotlib is not installed.
    """
    with needs("plots", "matplotlib, which draws plots,"):
        import matplotlib.figure  # noqa: F401


def write_plot(figure: Figure, path: Path) -> None:
    """Write a plot whole or not at all.

    Raises:
        InputError: the file cannot be written there.
    """
    with whole_file(path) as sink:
        sink.write(picture(figure, _FORMS[path.suffix]))


def bar_axes(bars: int, width: float = 7.2) -> tuple[Figure, Axes, range]:
    """Return an empty plot for so many bars, with their places from above.

    Raises:
        InputError: there are more than fit.
    """
    check_bars(bars)
    figure, axes = plain_axes(width, 1.3 + 0.3 * bars, LIGHT)
    axes.set_ylim(-0.7, bars - 0.3)
    axes.grid(axis="x", color=LIGHT.grid, linewidth=0.8)
    return figure, axes, range(bars)[::-1]


def check_bars(number: int) -> None:
    """Refuse more bars than fit.

    Raises:
        InputError: there are more.
    """
    if number > MOST_BARS:
        raise InputError(
            f"{number:,} bars are too many to draw; ask for fewer with --limit, {MOST_BARS} at most"
        )


def set_title(axes: Axes, text: str) -> None:
    """Write a title over a plot."""
    axes.set_title(label(text, _TITLE), loc="left", fontsize=11, color=LIGHT.ink)


def label(text: str, most: int = _LABEL) -> str:
    """Return the text of a label, or the beginning of a long one."""
    return literal(text if len(text) <= most else f"{text[: most - 1]}…")
