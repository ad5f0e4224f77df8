"""Tables of experiments on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from sentgen.cli.console.output import Output
from sentgen.evaluation.figures.report import ReportTable


def show_tables(tables: Iterable[ReportTable], out: Output, *, wide: int) -> None:
    """Print tables that have rows, with their notes; of eight columns and more ``wide`` figures at a time."""
    for table in (table for table in tables if table.rows):
        size = len(table.columns)
        part = size - 1 if size < 8 else wide
        for begin in range(1, size, part):
            show_table(table, out, [0, *range(begin, min(begin + part, size))])
            typer.echo()
        out.note(f"{table.title}. {table.note}")


def show_table(table: ReportTable, out: Output, columns: Iterable[int] | None = None) -> None:
    """Print columns of a table, all if none are given: cells on one line, figures to the right."""
    chosen = range(len(table.columns)) if columns is None else list(columns)
    names = [table.columns[n] for n in chosen]
    rows = [[row[n].replace("\n", " ") for n in chosen] for row in table.rows]
    out.rows(names, rows, align=dict.fromkeys(names[1:], "right"))
