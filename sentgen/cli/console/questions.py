"""What commands that ask questions have in common: how the store is asked, and how an answer is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Connection

from sentgen.cli.console.options import check_plot_option
from sentgen.cli.console.output import DeskOutput, Output, printable
from sentgen.lookups.base.statement import Answer, Statement
from sentgen.lookups.question import Question
from sentgen.options import Option
from sentgen.output.plots import write_plot

PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the rows: .svg, .png or .pdf (plots extra)."),
]


def draw(connection: Connection, request: Question, answer: Answer, plot: Path | None, out: Output) -> None:
    """Draw an answer, if that is wanted and it has rows."""
    if plot is not None and answer.rows.num_rows:
        # They import all questions that can be drawn.
        from sentgen.lookups.questions import figure_of

        write_plot(figure_of(connection, request, answer), plot)
        out.note(f"plot: {plot}")


@dataclass(frozen=True, kw_only=True)
class QuestionOutput(DeskOutput):
    """The same of the answer to a question, whose SQL can be shown."""

    show_sql: Annotated[
        bool,
        Option(
            "Print the SQL that gives these rows on standard error, ready for `sentgen sql --file`.",
        ),
    ] = False

    @property
    def comments(self) -> bool:
        """Whether notes are comments of SQL: standard error is a file for `sentgen sql` then."""
        return self.show_sql

    def ask(
        self,
        question: Question,
        plot: Path | None = None,
        how: Callable[[Connection], Answer] | None = None,
    ) -> Answer:
        """Ask, show the statement, say of which hits the rows are, and draw them if that is wanted.

        Args:
            question: what is asked.
            plot: where the rows are drawn.
            how: asks it, if it is to give columns more than it does.
        """
        check_plot_option(plot)
        with self.connection() as connection:
            answer = (how or question.ask)(connection)
            self.show_statement(answer.query)
            draw(connection, question, answer, plot, self)
        for remark in answer.remarks:
            self.note(remark)
        return replace(answer, remarks=())

    def show_statement(self, query: Statement) -> None:
        """Show the SQL if it is wanted."""
        if self.show_sql:
            typer.echo("\n".join(map(printable, f"{query.with_values()};".split("\n"))), err=True)

    def finish(self, answer: Answer, what: str = "") -> None:
        """Say what is special about the answer; an empty one is a no (exit code 1).

        Args:
            answer: the answer.
            what: its rows are, where all of them were counted.
        """
        if what and answer.truncated:
            self.note_part(answer.rows.num_rows, answer.total or 0, what, offset=answer.offset)
        for note in answer.notes:
            self.note(note)
        if not answer.rows.num_rows:
            raise typer.Exit(1)

    def show(self, answer: Answer, *essential: str) -> None:
        """Show the rows of an answer, and finish; ``essential`` are the columns that always stay."""
        counted = answer.total is not None
        cut = answer.truncated and not counted
        self.table(answer.rows, truncated=cut, offset=answer.offset, essential=essential)
        self.finish(answer, "row" if counted else "")
