"""The option that draws what a command shows into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentgen.cli.console.output import Output
from sentgen.lookups.statement import Answer
from sentgen.output.plots import write_plot
from sentgen.output.tabular import Rows

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the rows: .svg or .png (plots extra)."),
]


def draw(answer: Answer, plot: Path | None, out: Output, figure: Callable[[pa.Table | Rows], Figure]) -> None:
    """Draw the rows of an answer, if that is wanted and there are some."""
    if plot is not None and answer.found.num_rows:
        write_plot(figure(answer.found), plot)
        out.note(f"plot: {plot}")
