"""What commands that ask questions have in common: how the store is asked, and how an answer is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Connection

from sentgen.cli.console.option_groups import Result, options_of
from sentgen.cli.console.options import DbOption, MemoryOption, check_plot_option, open_store
from sentgen.cli.console.output import Output, output_options, printable
from sentgen.lookups.base.statement import Answer, Statement
from sentgen.lookups.question.lookup import Question


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How the store is asked."""

    show_sql: Annotated[
        bool,
        typer.Option(
            "--show-sql",
            help="Print the SQL that gives these rows on standard error, ready for `sentgen sql --file`.",
        ),
    ] = False
    db: DbOption = None
    memory_limit: MemoryOption = None

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Open the store."""
        opened = open_store(self.db, read_only=True, memory_limit=self.memory_limit)
        with opened as store, store.connect() as connection:
            yield connection

    def ask(self, question: Question) -> Answer:
        """Ask, and show the statement."""
        with self.connection() as connection:
            answer = question.ask(connection)
        self.show(answer.query)
        return answer

    def draw(self, question: Question, plot: Path | None, out: Output) -> Answer:
        """Ask, show the statement, say of which hits the rows are, and draw them if that is wanted."""
        check_plot_option(plot)
        with self.connection() as connection:
            answer = question.ask(connection)
            self.show(answer.query)
            draw(connection, question, answer, plot, out)
        return begin(answer, out)

    def show(self, query: Statement) -> None:
        """Show the SQL if it is wanted."""
        if self.show_sql:
            typer.echo("\n".join(map(printable, f"{query.with_values()};".split("\n"))), err=True)


def question(declaration: type, **places: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Give a command the options of a question, those of reading, and those of output."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(function)
        def command(*, reading: StoreOptions, out: Output, **given: object) -> Result:
            # Both go to standard error, which is a file for `sentgen sql` then.
            return function(reading=reading, out=replace(out, comments=reading.show_sql), **given)

        return output_options(options_of(declaration, **places)(options_of(StoreOptions, "reading")(command)))

    return decorate


def begin(answer: Answer, out: Output) -> Answer:
    """Say above the rows which of all hits they are of; return the answer without that."""
    for remark in answer.remarks:
        out.note(remark)
    return replace(answer, remarks=())


def finish(answer: Answer, out: Output, what: str = "") -> None:
    """Say what is special about the answer; an empty one is a no (exit code 1).

    Args:
        answer: the answer.
        out: the output.
        what: its rows are, where all of them were counted.
    """
    if what and answer.truncated:
        out.note_part(answer.rows.num_rows, answer.total or 0, what, offset=answer.offset)
    for note in answer.notes:
        out.note(note)
    if not answer.rows.num_rows:
        raise typer.Exit(1)


def show(answer: Answer, out: Output, *essential: str) -> None:
    """Show the rows of an answer, and finish; ``essential`` are the columns that always stay."""
    counted = answer.total is not None
    cut = answer.truncated and not counted
    out.arrow(answer.rows, truncated=cut, offset=answer.offset, essential=essential)
    finish(answer, out, "row" if counted else "")


PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the rows: .svg, .png or .pdf (plots extra)."),
]


def draw(connection: Connection, request: Question, answer: Answer, plot: Path | None, out: Output) -> None:
    """Draw an answer, if that is wanted and it has rows."""
    if plot is not None and answer.rows.num_rows:
        # They import all questions that can be drawn.
        from sentgen.lookups.figures import figure_of
        from sentgen.output.plots import write_plot

        write_plot(figure_of(connection, request, answer), plot)
        out.note(f"plot: {plot}")
