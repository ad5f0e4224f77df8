"""``sentgen cite``: how to name data and a query so that others find the same."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from sentgen.cli.commands import COMMANDS
from sentgen.cli.console.options import DbOption
from sentgen.cli.console.output import Output, output_options
from sentgen.errors import InputError
from sentgen.output.tabular import Rows
from sentgen.schema import default_path
from sentgen.schema.citation import cite as citation_of


@output_options
def cite(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND]", help="A command as you would type it, behind `--`; it is not run."
        ),
    ] = None,
    *,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print an entry for BibTeX.")] = False,
    db: DbOption = None,
    out: Output,
) -> None:
    """Say how to cite a snapshot, a lake or the store, and a query on it.

    A snapshot and a lake are named by a hash: whoever has the same one sees the same. A store goes on
    changing; `sentgen publish` makes a snapshot of it.

    Example: `sentgen cite --db snapshots/sentgen-9f865b4a8b35afec.duckdb -- kwic "united states"`
    """
    if words and words[0] not in {one.name for one in COMMANDS}:
        raise InputError(
            f"{words[0]!r} is no command of sentgen; write the query as you would type it, behind --"
        )
    found = citation_of(db or default_path(), f"sentgen {shlex.join(words)}" if words else None)
    if bibtex:
        typer.echo(found.bibtex)
    else:
        out.table(Rows(("what", "value"), found.lines))
    if found.kind == "store":
        typer.echo("this store may change; cite a snapshot of it: sentgen publish --to snapshots", err=True)
