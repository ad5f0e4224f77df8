"""``sentgen subcorpora``: sentences chosen by their metadata, under a name."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.console.listings import listing
from sentgen.cli.console.options import DeskOptions, StoreOptions
from sentgen.cli.console.output import DeskOutput
from sentgen.lookups import subcorpora
from sentgen.lookups.subcorpora import SubcorpusName
from sentgen.output.wording import quantity

app = typer.Typer(help="Define, list, show and remove subcorpora: sentences chosen by their metadata.")


@app.command()
def define(
    *,
    subcorpus: SubcorpusName,
    where: Annotated[
        str,
        typer.Option(
            "--where",
            metavar="EXPR",
            help="What the metadata of its sentences meet: `genre = academic and year >= 2010`.",
        ),
    ],
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", metavar="NAME", help="Of this corpus; may be repeated. Default: of all."),
    ] = None,
    options: DeskOptions,
) -> None:
    """Define a subcorpus, usable wherever a corpus name is.

    It has the sentences that meet the condition when it is asked for.

    Example: `sentgen subcorpora define papers --where 'genre = academic and year >= 2010' --corpus gum`
    """
    with options.store() as store, store.begin() as connection:
        made, sentences = subcorpora.define(connection, subcorpus.name, where, corpus or [])
    typer.echo(f"{made.name}: {quantity(sentences, 'sentence')}", err=True)


app.command("list")(listing("subcorpora"))


@app.command()
def show(*, subcorpus: SubcorpusName, out: DeskOutput) -> None:
    """Show the condition of a subcorpus, and how many sentences, tokens and documents it has.

    Example: `sentgen subcorpora show papers`
    """
    with (
        out.store(read_only=True) as store,
        store.connect() as connection,
    ):
        out.table(subcorpora.properties(connection, subcorpus.name))


@app.command()
def remove(*, subcorpus: SubcorpusName, options: StoreOptions) -> None:
    """Remove a subcorpus; its sentences stay in their corpora.

    Example: `sentgen subcorpora remove papers`
    """
    with options.store() as store, store.begin() as connection:
        subcorpora.remove(connection, subcorpus.name)
    typer.echo(f"removed {subcorpus.name}", err=True)
