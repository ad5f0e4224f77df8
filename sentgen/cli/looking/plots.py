"""The option that draws what a command shows into a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.output import Output
from sentgen.lookups.statement import Answer
from sentgen.output.plots import check_plot as check_plot
from sentgen.output.plots import frequency_plot, score_plot, write_plot

PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the rows: .svg or .png (plots extra)."),
]


def draw_frequencies(answer: Answer, title: str, plot: Path | None, out: Output) -> None:
    """Draw a frequency list, if that is wanted."""
    if plot is not None and answer.found.num_rows:
        write_plot(frequency_plot(answer.found, title, whole=not answer.truncated), plot)
        out.note(f"plot: {plot}")


def draw_scores(answer: Answer, measure: StrEnum, title: str, plot: Path | None, out: Output) -> None:
    """Draw rows by what ranks them, if that is wanted."""
    if plot is not None and answer.found.num_rows:
        write_plot(score_plot(answer.found, measure.replace("-", "_"), title), plot)
        out.note(f"plot: {plot}")
