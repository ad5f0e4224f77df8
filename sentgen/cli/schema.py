"""``sentgen schema``: what the tables and views of a store hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import DbOptions
from sentgen.cli.console.output import Output
from sentgen.errors import SentgenError
from sentgen.schema import Store, dictionary, maintenance
from sentgen.schema.places import lake_at

NameArgument = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Table or view whose columns to show.", show_default=False),
]


def show(name: NameArgument = None, *, options: DbOptions, out: Output) -> None:
    """Show the tables and views with what they hold, or the columns of one of them.

    Views (v_...) have words and labels as strings; tables have numbers instead.

    Example: sentgen schema v_ngrams_2
    """
    if name:
        relation = dictionary.relation(name)
        out.note(f"{relation.kind} {relation.name}: {relation.description}")
        out.table(relation.rows, essential=("type", "description"))
        return
    rows = _row_counts(options.path, out)
    out.table(dictionary.relation_rows(rows), essential=("description",))


def _row_counts(path: Path, out: Output) -> dict[str, int]:
    """Return the rows of each table, none without a store that can be read now."""
    if not (lake_at(path) or path.exists()):
        return {}
    try:
        with Store(path, read_only=True) as store:
            return {size.table: size.rows for size in maintenance.sizes(store)}
    # The dictionary is that of sentgen, and can be read without any store.
    except SentgenError as error:
        out.note(f"no row counts: {error}")
        return {}
