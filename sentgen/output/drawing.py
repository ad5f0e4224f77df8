"""Functions that all drawings share: colors, axes, pictures with reproducible bytes, SVG, and QR codes.

Colors are those of Okabe and Ito 2008, "Color universal design", which color-blind people can distinguish.
Black is reserved for text; yellow, which is hardly visible on white, is darker there. Each series has its own
marker, too. Strings of a corpus are escaped in SVG, so that they are text, never markup.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MARKERS = "os^DvPX*<>"
Form = Literal["svg", "png", "pdf"]
GridAxis = Literal["x", "y"]


class _SystemStyle(TypedDict):
    """The color and the marker of a system."""

    color: str
    marker: str


@dataclass(frozen=True, slots=True)
class Theme:
    """The colors of a theme, light or dark; ``lines`` are those of the series."""

    ground: str
    ink: str
    faint: str
    grid: str
    lines: tuple[str, ...]

    def style(self, number: int) -> _SystemStyle:
        """Return the color and the marker of a system; there are more markers than colors."""
        return {"color": self.lines[number % len(self.lines)], "marker": MARKERS[number % len(MARKERS)]}


#: Blue, vermillion, bluish green, orange, reddish purple, sky blue, gray and yellow.
_LIGHT_LINES = "#0072b2 #d55e00 #009e73 #e69f00 #cc79a7 #56b4e9 #6e7781 #8a7f00"
#: On a dark background, blue is lighter.
_DARK_LINES = "#3d9fdb #d55e00 #009e73 #e69f00 #cc79a7 #56b4e9 #8b949e #f0e442"
LIGHT = Theme("#ffffff", "#1f2328", "#59636e", "#d8dee4", tuple(_LIGHT_LINES.split()))
DARK = Theme("#0d1117", "#f0f6fc", "#9198a1", "#30363d", tuple(_DARK_LINES.split()))

#: Metadata that are left out of pictures, as they contain the time and the version of the program.
_NO_METADATA: dict[Form, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def picture(figure: Figure, form: Form) -> bytes:
    """Return the bytes of the picture of a figure, which are the same for the same figure."""
    import matplotlib

    target = io.BytesIO()
    # Without dates and versions, and with a fixed salt for ids, the bytes are reproducible.
    metadata = _NO_METADATA[form]
    with matplotlib.rc_context({"svg.hashsalt": "sentgen"}):
        # With the background of the theme, as a transparent one would be unreadable on the other theme.
        figure.savefig(target, format=form, dpi=160, metadata=metadata, facecolor=figure.get_facecolor())
    return target.getvalue()


def plain_axes(
    width: float, height: float, theme: Theme, *, grid: GridAxis | None = None
) -> tuple[Figure, Axes]:
    """Return an empty plot without a frame, which uses no window and no global state of matplotlib."""
    figure, [axes] = plain_panels(width, [height], 1, theme, grid=grid)
    return figure, axes


def plain_panels(
    width: float, heights: Sequence[float], across: int, theme: Theme, *, grid: GridAxis | None = None
) -> tuple[Figure, Sequence[Axes]]:
    """Return empty plots in one picture, row by row.

    Args:
        width: width of the picture in inches.
        heights: heights of the rows in inches.
        across: number of plots in a row.
        theme: colors.
        grid: the axis whose ticks have lines; none if ``None``.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, sum(heights)), layout="constrained", facecolor=theme.ground)
    panels = figure.subplots(len(heights), across, squeeze=False, height_ratios=heights)
    for axes in panels.flat:
        axes.set_facecolor(theme.ground)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=theme.ink, labelsize=10)
        axes.xaxis.label.set_color(theme.faint)
        axes.yaxis.label.set_color(theme.faint)
        axes.set_axisbelow(True)
        if grid:
            axes.grid(axis=grid, color=theme.grid, linewidth=0.8)
    return figure, list(panels.flat)


def legend_beside(axes: Axes, theme: Theme) -> None:
    """Name the systems to the right of a plot."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, labelcolor=theme.ink)


def literal(text: str) -> str:
    """Return text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")


#: Characters that XML cannot hold, and those that change the direction of the text around them.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def element(name: str, *content: str, **attributes: object) -> Markup:
    """Return an element; a text in it is escaped, another element is not.

    Args:
        name: such as `path`.
        content: texts and elements.
        attributes: the attributes of the element, with `_` for `-`, and `_` behind a keyword of Python;
            lengths have one decimal, and attributes that are ``None`` are left out.

    >>> print(element("a", element("text", "<b> & c", x=1.25), class_="word", text_anchor="end", href=None))
    <a class="word" text-anchor="end"><text x="1.2">&lt;b&gt; &amp; c</text></a>
    """
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(part if isinstance(part, Markup) else _escaped(part) for part in content)
    return Markup(f"<{name}{named}>{inside}</{name}>" if content else f"<{name}{named}/>")


def length(value: float) -> str:
    """Return a length with at most one decimal.

    >>> length(2.25), length(3.0)
    ('2.2', '3')
    """
    return f"{value:.1f}".removesuffix(".0")


def _escaped(text: str) -> Markup:
    """Escape a text, with U+FFFD in place of characters that cannot be shown."""
    return escape(_UNPRINTABLE.sub("\ufffd", text))


def _value(value: object) -> Markup:
    return _escaped(length(value) if isinstance(value, float) else str(value))


#: Modules (squares) of white around a QR code.
_BORDER = 2
_WHITE_ON_BLACK, _RESET = "\x1b[97;40m", "\x1b[0m"


def drawn_as_svg(address: str) -> str:
    """Return the QR code of an address as SVG, black on white in all themes, as cameras need it."""
    import segno  # here, as only servers have it installed

    return segno.make(address, micro=False).svg_inline(
        omitsize=True, border=_BORDER, dark="#000", light="#fff", svgclass="code", lineclass=None
    )


def drawn_as_text(address: str) -> str:
    """Return the QR code of an address in block characters, white on black whatever colors a terminal has."""
    import segno

    drawn = io.StringIO()
    segno.make(address, micro=False).terminal(drawn, border=_BORDER, compact=True)
    # The block characters are the light squares, so that black on white would be inverted for cameras.
    return "".join(f"{_WHITE_ON_BLACK}{line}{_RESET}\n" for line in drawn.getvalue().splitlines())
