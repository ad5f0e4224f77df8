"""Commands that show a listing of `sentgen.listings`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from sentgen.cli.console.options import Arrange
from sentgen.cli.console.output import Output, StoreOutput, printable
from sentgen.listings import LISTINGS
from sentgen.output.display import NATURAL

_WithoutMemory = Annotated[StoreOutput, Arrange(only=("db", *Output.LAST))]


def listing(name: str) -> Callable[..., None]:
    """Return the command that shows a listing; its exit code is 1 if plug-ins have errors."""
    listed = LISTINGS[name]

    def command(*, out: Output) -> None:
        if isinstance(out, StoreOutput):
            with out.store(read_only=True) as store:
                table, wrong = listed.rows(store)
        else:
            table, wrong = listed.rows(None)
        none = "" if wrong else listed.none
        out.table(table, programs=NATURAL, essential=listed.essential, none=none)
        for message in wrong:
            typer.echo(printable(f"sentgen: {message}"), err=True)
        if wrong:
            raise typer.Exit(1)

    command.__doc__ = listed.help
    of_store = StoreOutput if listed.limits_memory else _WithoutMemory
    command.__annotations__["out"] = of_store if listed.of_store else Output
    return command


formats, algorithms, aligners, scorers = map(listing, ("formats", "algorithms", "aligners", "scorers"))
