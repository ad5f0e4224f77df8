"""Plots of where hits are in their documents (concordance plots)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sentgen.output.drawing import LIGHT
from sentgen.output.plots.pictures import bar_axes, label, set_title
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

#: Parts into which a document is cut, to say where in it a hit is.
PARTS = 1000


def places_plot(table: pa.Table | Rows, title: str, more: int) -> Figure:
    """Draw a row a document, with a line for each place of a hit.

    Args:
        table: ``document``, ``count``, ``tokens`` and ``places``.
        title: what was looked for.
        more: documents that are not among the rows.

    Raises:
        InputError: there are more than fit.
    """
    rows: list[dict[str, Any]] = table.to_pylist()
    figure, axes, places = bar_axes(len(rows), width=8.8)
    axes.grid(visible=False)
    axes.hlines(places, 0, 100, color=LIGHT.grid, linewidth=0.8)
    for row, place in zip(rows, places, strict=True):
        hits = [100 * (int(part) + 0.5) / PARTS for part in row["places"].split()]
        axes.vlines(hits, place - 0.36, place + 0.36, color=LIGHT.lines[0], linewidth=1)
        told = f"{quantity(row['count'], 'hit')} in {quantity(row['tokens'], 'token')}"
        axes.text(101, place, told, va="center", fontsize=9, color=LIGHT.faint)
    axes.set_yticks(places, [label(row["document"]) for row in rows])
    axes.set_xlim(0, 100)
    others = f"; hits in {quantity(more, 'document')} more" if more else ""
    axes.set_xlabel(f"place in the document, %{others}")
    set_title(axes, title)
    return figure
