"""The option that draws what a command shows into a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Connection

from sentgen.cli.console.output import Output
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.question.lookup import Question

PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the rows: .svg, .png or .pdf (plots extra)."),
]


def draw(connection: Connection, asked: Question, answer: Answer, plot: Path | None, out: Output) -> None:
    """Draw an answer, if that is wanted and it has rows."""
    if plot is not None and answer.found.num_rows:
        # They import all questions that can be drawn.
        from sentgen.lookups.figures import figure_of
        from sentgen.output.plots.pictures import write_plot

        write_plot(figure_of(connection, asked, answer), plot)
        out.note(f"plot: {plot}")
