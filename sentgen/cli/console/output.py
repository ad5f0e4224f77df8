"""Output of tables, the same for every command: one set of options, and one object that writes.

A command takes ``out: Output``, which gives it ``--csv``, ``--tsv``, ``--json``, ``--jsonl``, ``--latex``,
``--parquet FILE``, ``--xlsx FILE`` (a table for reading is the default), ``--bom`` and ``--wide`` (see
`sentgen.cli.console.options`)::

    def words(*, limit: LimitOption = 20, out: Output) -> None:
        table = most_frequent_words(limit)          # columns form, count
        out.table(table)                            # such as Rows(["form", "count"], [("the", 3)])

Data goes to standard output and everything else to standard error (`Output.note`). In a terminal the table
fits its width (`terminal_table`), and what it leaves out is named; elsewhere and with ``--wide`` it is plain
aligned text of any width. JSON numbers stay numbers; NaN and the infinities become null in JSON and empty in
CSV and TSV. CSV, TSV, JSON and JSON lines are written row by row; LaTeX rounds as a table for reading does.
The text of a corpus is hostile: tables for reading and LaTeX show control characters and text-direction
overrides as escapes such as ``\x1b``, and never read markup in them; the other formats keep the text as it
is.

Formats for programs have all rows, a table for reading those of ``--limit``, wherever either goes: what
standard output is decides about colors, width and progress, and about nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, TypedDict, Unpack

import typer
from rich.console import Console
from sqlalchemy import Connection

from sentgen.cli.console.options import DeskOptions, StoreOptions, check_file_option, check_plot_option
from sentgen.cli.console.terminal_table import TableColumn, print_table
from sentgen.errors import printable as printable
from sentgen.options import Option
from sentgen.output.display import isolate
from sentgen.output.files import whole_file
from sentgen.output.plots import write_plot
from sentgen.output.tabular import Rows, csv_lines, distinct, json_row, write_parquet, write_workbook
from sentgen.output.text_table import Align as Align
from sentgen.output.text_table import aligned_lines, cells_of, is_numeric, tabular
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.evaluation.figures.report import ReportTable
    from sentgen.lookups.base.question import Question
    from sentgen.lookups.base.statement import Answer, Statement

_option = partial(Option, panel="Output")
WideOption = Annotated[
    bool,
    typer.Option(
        "--wide", help="Print all columns of a table, wider than the terminal.", rich_help_panel="Output"
    ),
]
#: Most rows of a table for reading that are aligned at once; a longer one is written as several tables.
_ALIGNED = 10_000


class OutputFormat(StrEnum):
    """What comes out."""

    TABLE = "table"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSONL = "jsonl"
    LATEX = "latex"
    PARQUET = "parquet"
    XLSX = "xlsx"


class Look(TypedDict, total=False):
    """How a table for reading looks.

    Attributes:
        align: column to its side, where it is not numbers right and text left.
        styles: column to its Rich style in a terminal, such as ``bold``.
        row_styles: a column, and its values to the style of their rows.
        spans: column to the column that has the styles of parts of its cells (see `TableColumn`), and is not
            shown itself.
        programs: columns that are left out.
        essential: columns without which a row says nothing, as the first one always is; if none are named,
            all up to the first of numbers. The others matter as they stand, the first one most.
        whole: columns whose cells are never wrapped, as numbers never are.
        none: what is said on standard error, in any format, if there are no rows: why, and what makes one.
    """

    align: Mapping[str, Align]
    styles: Mapping[str, str]
    row_styles: tuple[str, Mapping[str, str]]
    spans: Mapping[str, str]
    programs: Collection[str]
    essential: Collection[str]
    whole: Collection[str]
    none: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where and how a command writes its table.

    Raises:
        typer.BadParameter: more than one format was given, a file is none, or a mark is for what has none.
    """

    LAST: ClassVar[tuple[str, ...]] = (
        "csv",
        "tsv",
        "json",
        "jsonl",
        "latex",
        "parquet",
        "xlsx",
        "bom",
        "wide",
    )

    csv: Annotated[bool, _option("Print CSV.")] = False
    tsv: Annotated[bool, _option("Print tab-separated values.")] = False
    json: Annotated[bool, _option("Print one JSON array.")] = False
    jsonl: Annotated[bool, _option("Print one JSON object a line.")] = False
    latex: Annotated[bool, _option("Print LaTeX, for the package booktabs.")] = False
    parquet: Annotated[Path | None, _option("Write a Parquet file.", metavar="FILE")] = None
    xlsx: Annotated[Path | None, _option("Write a workbook of Excel.", metavar="FILE")] = None
    bom: Annotated[bool, _option("Begin CSV or TSV with a byte order mark, as Excel wants it.")] = False
    wide: WideOption = False
    _left_out: list[Sequence[str]] = field(default_factory=list, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self._forms) > 1:
            names = " and ".join(f"--{form}" for form in self._forms)
            raise typer.BadParameter(f"{names} exclude each other; choose one")
        check_file_option("--parquet", self.parquet)
        check_file_option("--xlsx", self.xlsx)
        if self.bom and not (self.csv or self.tsv):
            raise typer.BadParameter("--bom goes with --csv or --tsv")

    @property
    def _forms(self) -> list[OutputFormat]:
        return [form for form in OutputFormat if form is not OutputFormat.TABLE and getattr(self, form)]

    @property
    def form(self) -> OutputFormat:
        """What comes out."""
        return next(iter(self._forms), OutputFormat.TABLE)

    @property
    def comments(self) -> bool:
        """Whether notes are comments of the SQL that stands beside them on standard error."""
        return False

    @property
    def for_reading(self) -> bool:
        """Whether a person reads the result, so that a command may add bars or cut context."""
        return self.form is OutputFormat.TABLE

    @property
    def width(self) -> int | None:
        """Cells that a line may have: those of the terminal, if it is one; ``None`` for any number."""
        return _console().width if sys.stdout.isatty() and not self.wide else None

    @property
    def in_colors(self) -> bool:
        """Whether parts of a table may be told by colors: for reading, in a terminal that has some."""
        console = _console()
        return bool(self.for_reading and self.width and console.color_system and not console.no_color)

    def note(self, text: str) -> None:
        """Say something about the result on standard error."""
        typer.echo(f"{'-- ' if self.comments else ''}{printable(text)}", err=True)

    def note_more(self, number: int, what: str = "row", *, offset: int = 0) -> None:
        """Say that only the first ones were written, or those behind so many."""
        first = f"first {quantity(number, what)}" if number > 1 else f"first {what}"
        if offset:
            first = f"{what}s {offset + 1:,} to {offset + number:,}"
        self.note(f"{first}; there are more (--limit 0 for all)")

    def note_part(self, number: int, total: int, what: str, *, offset: int = 0) -> None:
        """Say which of all rows were written, where these were counted."""
        first = f"{offset + 1:,} to " if offset else ""
        self.note(f"{first}{offset + number} of {quantity(total, what)} (--limit 0 for all)")

    def table(
        self, table: Rows, *, limit: int = 0, truncated: bool = False, offset: int = 0, **look: Unpack[Look]
    ) -> None:
        """Write a table; a table for reading without rows prints nothing.

        Columns of the same name are told apart by a number.

        Args:
            table: the rows.
            limit: rows to write, 0 for all; if the table has more, that is said.
            truncated: whether there are more rows than the table has.
            offset: rows of the answer before those of the table.
            look: how a table for reading looks.
        """
        table, more = table.first(limit)
        if self.form is OutputFormat.PARQUET:
            self._parquet(table.arrow().schema, [table])
            self._none(table.num_rows, look)
        else:
            self.rows(table.columns, table, **look)
        if more or truncated:
            self.note_more(table.num_rows, offset=offset)

    def parts(
        self,
        tables: Iterator[Rows],
        *,
        limit: int = 0,
        look: Callable[[Rows], Look] = lambda _: {},
        none: str = "",
    ) -> int:
        """Write a table that comes in parts, of which one is in memory at a time; return its rows.

        Args:
            tables: the parts, at least one; a table for reading is aligned part by part.
            limit: rows to write, 0 for all.
            look: how each part looks.
            none: what is said if there are no rows.
        """
        # The schema is needed before the first row, even if there is no row.
        first = next(tables)
        rows = _FirstRows(chain([first], tables), limit)
        if self.form is OutputFormat.PARQUET:
            self._parquet(first.arrow().schema, rows)
        elif self.form is OutputFormat.TABLE:
            for part in rows:
                self.table(part, **look(part))
        else:
            self.rows(first.columns, chain.from_iterable(rows))
        if rows.more:
            self.note_more(rows.number)
        self._none(rows.number, {"none": none})
        return rows.number

    def rows(self, columns: Sequence[str], rows: Iterable[Sequence[object]], **look: Unpack[Look]) -> None:
        """Write rows as `table` does, one after the other where the format allows that."""
        if self.form is OutputFormat.PARQUET:
            self.table(Rows(columns, rows), **look)
            return
        if self.for_reading and (programs := look.get("programs")):
            shown = [index for index, name in enumerate(columns) if name not in programs]
            columns = [columns[index] for index in shown]
            rows = ([row[index] for index in shown] for row in rows)
        names, following = distinct(columns), iter(rows)
        first = list(islice(following, 1))
        self._none(len(first), look)
        following = chain(first, following)
        if self.form is OutputFormat.XLSX:
            self._workbook(names, following)
        elif self.form is OutputFormat.LATEX:
            self._latex(names, list(following), look)
        elif self.form is OutputFormat.TABLE:
            # In blocks, as the width of a column is known only if its rows are in memory.
            while block := list(islice(following, _ALIGNED)):
                self._write_aligned(names, block, look)
        else:
            self._lines(names, following)

    def reports(self, tables: Iterable[ReportTable], *, wide: int) -> None:
        """Print tables of a report that have rows, with their notes; of eight columns and more in parts.

        A part has ``wide`` columns of figures.
        """
        for table in (table for table in tables if table.rows):
            size = len(table.columns)
            part = size - 1 if size < 8 else wide
            for begin in range(1, size, part):
                self.report(table, [0, *range(begin, min(begin + part, size))])
                typer.echo()
            self.note(f"{table.title}. {table.note}")

    def report(self, table: ReportTable, columns: Iterable[int] | None = None) -> None:
        """Print columns of a table, all if none are given: cells on one line, figures to the right."""
        chosen = range(len(table.columns)) if columns is None else list(columns)
        names = [table.columns[n] for n in chosen]
        rows = [[row[n].replace("\n", " ") for n in chosen] for row in table.rows]
        self.rows(names, rows, align=dict.fromkeys(names[1:], "right"))

    def _lines(self, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        if self.form is OutputFormat.JSON:
            _write_json(names, rows)
        elif self.form is OutputFormat.JSONL:
            sys.stdout.writelines(f"{json_row(names, row)}\n" for row in rows)
        else:
            sys.stdout.write("\ufeff" if self.bom else "")
            delimiter = "\t" if self.form is OutputFormat.TSV else ","
            sys.stdout.writelines(csv_lines(names, rows, delimiter))

    def _latex(self, names: Sequence[str], rows: Sequence[Sequence[object]], look: Look) -> None:
        """Write rows in LaTeX, rounded as in a table for reading."""
        columns = _columns(names, rows, look) if rows else []
        sides: list[Align] = [column.side for column in columns] or ["left"] * len(names)
        cells = list(zip(*(column.cells for column in columns), strict=True))
        typer.echo(tabular(names, cells, sides))

    def _workbook(self, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        assert self.xlsx is not None  # called only with this option
        with whole_file(self.xlsx) as sink:
            number = write_workbook(names, rows, sink)
        self.note(f"{self.xlsx}: {quantity(number, 'row')}")

    def _write_aligned(self, names: Sequence[str], rows: Sequence[Sequence[object]], look: Look) -> None:
        """Write rows for reading, fitted to the terminal, or of any width into a pipe."""
        columns = _columns(names, rows, look)
        if self.width is None:
            cells, sides = [isolate(column.cells) for column in columns], [column.side for column in columns]
            sys.stdout.writelines(
                f"{line}\n" for line in aligned_lines([column.name for column in columns], cells, sides)
            )
            return
        column, styles = look.get("row_styles", ("", {}))
        row_styles = (
            [styles.get(str(row[names.index(column)]), "") for row in rows] if column in names else ()
        )
        left_out = print_table(columns, look.get("essential", ()), _console(), row_styles)
        self.left_out(left_out)

    def left_out(self, names: Sequence[str]) -> None:
        """Name columns that a table for reading leaves out, once of tables that are parts of one answer."""
        if names and names not in self._left_out:
            self._left_out.append(names)
            self.note(f"{quantity(len(names), 'column')} more: {', '.join(names)} (--wide shows all)")

    def _none(self, rows: int, look: Look) -> None:
        if not rows and (why := look.get("none")):
            self.note(why)

    def _parquet(self, schema: pa.Schema, tables: Iterable[Rows]) -> None:
        assert self.parquet is not None  # called only with this option
        with whole_file(self.parquet) as sink:
            rows = write_parquet(schema, (table.arrow() for table in tables), sink)
        self.note(f"{self.parquet}: {quantity(rows, 'row')}")


@dataclass(frozen=True, kw_only=True)
class StoreOutput(StoreOptions, Output):
    """The same of what is read from a store."""

    LAST: ClassVar = ("db", "memory_limit", *Output.LAST)


@dataclass(frozen=True, kw_only=True)
class DeskOutput(DeskOptions, StoreOutput):
    """The same of what may ask for labels of line sets."""

    LAST: ClassVar[tuple[str, ...]] = ("desk", *StoreOutput.LAST)


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
            self.draw(connection, question, answer, plot)
        for remark in answer.remarks:
            self.note(remark)
        return replace(answer, remarks=())

    def draw(self, connection: Connection, question: Question, answer: Answer, plot: Path | None) -> None:
        """Draw an answer, if that is wanted and it has rows."""
        if plot is not None and answer.rows.num_rows:
            # Imported here, as it imports all questions that can be drawn.
            from sentgen.lookups.questions import figure_of

            write_plot(figure_of(connection, question, answer), plot)
            self.note(f"plot: {plot}")

    def show_statement(self, query: Statement) -> None:
        """Show the SQL if it is wanted."""
        if self.show_sql:
            typer.echo("\n".join(map(printable, f"{query.with_values()};".split("\n"))), err=True)

    def finish(self, answer: Answer, what: str = "") -> None:
        """Say what is special about the answer; an empty one is a no (exit code 1).

        ``what`` says what the rows are, where all of them were counted.
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


def _console() -> Console:
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def _columns(names: Sequence[str], rows: Sequence[Sequence[object]], look: Look) -> list[TableColumn]:
    align, styles, spans = look.get("align", {}), look.get("styles", {}), look.get("spans", {})
    columns, by_name = [], dict(zip(names, zip(*rows, strict=True), strict=True))
    for name, values in by_name.items():
        if name in spans.values():
            continue
        side = align.get(name, "right" if is_numeric(values) else "left")
        whole = side == "right" or name in look.get("whole", ())
        of_cells = by_name[spans[name]] if name in spans else ()
        columns.append(
            TableColumn(printable(name), cells_of(values), side, whole, styles.get(name), of_cells)
        )
    return columns


class _FirstRows:
    """The first rows of a table in parts (limit 0: all), their number, and whether there are more."""

    def __init__(self, tables: Iterable[Rows], limit: int) -> None:
        self._tables, self._limit = tables, limit
        self.number, self.more = 0, False

    def __iter__(self) -> Iterator[Rows]:
        for table in self._tables:
            part = table.slice(0, self._limit - self.number) if self._limit else table
            self.number += part.num_rows
            yield part
            # A part after the limit is cut to no rows, which shows that there are more.
            if part.num_rows < table.num_rows:
                self.more = True
                return


def _write_json(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    separator = "["
    for row in rows:
        sys.stdout.write(f"{separator}{json_row(columns, row)}")
        separator = ",\n "
    sys.stdout.write("[]\n" if separator == "[" else "]\n")
