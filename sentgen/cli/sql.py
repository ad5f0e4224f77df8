"""``sentgen sql``: one read-only query; ``sentgen schema``: what the tables and views of a store hold."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import TIMEOUT_MAX
from typing import Annotated

import typer

from sentgen.cli.console.interrupts import deadline
from sentgen.cli.console.options import Arrange, DbOptions, LimitOption, StoreOptions, mistakes
from sentgen.cli.console.output import Output, OutputFormat
from sentgen.errors import InputError, SentgenError
from sentgen.lookups.command_line import SqlValue, parse_parameter
from sentgen.schema import Store, dictionary, maintenance, readonly
from sentgen.schema.places import lake_at
from sentgen.system.files import read_text

QueryArgument = Annotated[
    str | None, typer.Argument(metavar="QUERY", help="The query, or - to read it from standard input.")
]
FileOption = Annotated[
    Path | None, typer.Option("--file", metavar="FILE|-", help="Read the query from a file.")
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="Value of $NAME in the query; 1=VALUE is that of the first ?. May be repeated.",
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Stop a query that takes longer."),
]
NameArgument = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Table or view whose columns to show.", show_default=False),
]


def sql(
    query: QueryArgument = None,
    *,
    file: FileOption = None,
    param: ParamOption = None,
    limit: LimitOption = 0,
    options: StoreOptions,
    timeout: Annotated[TimeoutOption, Arrange(after="db")] = None,
    out: Output,
) -> None:
    """Run one SELECT over the tables and views of the store and show its rows.

    It cannot change anything, nor read other files. See sentgen schema for tables, views and columns.

    A value of --param is a number, true, false, null, or else text; "5" is text, too.

    Example: `sentgen sql "select w2, count from v_ngrams_2 where w1 = 'the' order by count desc limit 10"`,
    or `sentgen sql 'select * from v_tokens where form = $form' --param form=camp`
    """
    text, size, values = _text(query, file), options.database_memory(), _values(param)
    if timeout is not None and not timeout <= TIMEOUT_MAX:  # the limit of the system's clock
        raise InputError(f"{timeout:g} seconds are more than can be waited; give fewer, or no limit")
    late = f"the query took longer than {timeout or 0:g} s; simplify it, or raise --timeout"
    # The time to open the store counts, too.
    with deadline(timeout, late), readonly.open_locked_store(options.path, memory_limit=size) as duck:
        out.parts(
            readonly.parts(duck, text, values, arrow=out.form is OutputFormat.PARQUET),
            limit=limit,
            none="no rows",
        )


def check_sql(query: str | None, param: list[str] | None, store: Path) -> None:
    """Refuse a query that could not run; one that standard input will bring is not known yet."""
    if query == "-":
        return
    text, values = _text(query, None), _values(param)
    with readonly.open_locked_store(store) as duck:
        readonly.check(duck, text, values)


def _values(texts: list[str] | None) -> dict[str, SqlValue]:
    with mistakes():
        return dict(map(parse_parameter, texts or ()))


def _text(query: str | None, file: Path | None) -> str:
    if (query is None) == (file is None):
        raise typer.BadParameter("give one query: as QUERY, with --file FILE, or - for standard input")
    return text_of(query or "", file)


def text_of(query: str, file: Path | None) -> str:
    """Return a query as it was given: itself, in a file, or with ``-`` on standard input."""
    given = query if file is None else str(file)
    try:
        if given == "-":
            return sys.stdin.read()
        return query if file is None else read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as UTF-8 text: {error}", path=str(file or "-")) from error


def schema(name: NameArgument = None, *, options: DbOptions, out: Output) -> None:
    """Show the tables and views with what they hold, or the columns of one of them.

    Views (v_...) have words and labels as strings; tables have numbers instead.

    Example: sentgen schema v_ngrams_2
    """
    if name:
        relation = dictionary.Relation.named(name)
        out.note(f"{relation.kind} {relation.name}: {relation.description}")
        out.table(relation.rows, essential=("type", "description"))
        return
    rows = _row_counts(options.path, out)
    out.table(dictionary.relation_rows(rows), essential=("description",))


def _row_counts(path: Path, out: Output) -> dict[str, int]:
    """Return the number of rows of each table; empty if there is no store that can be read now."""
    if not (lake_at(path) or path.exists()):
        return {}
    try:
        with Store(path, read_only=True) as store:
            return {table: rows for table, rows, _ in maintenance.sizes(store)}
    # The data dictionary is part of sentgen, and needs no store.
    except SentgenError as error:
        out.note(f"no row counts: {error}")
        return {}
