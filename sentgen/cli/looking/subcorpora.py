"""``sentgen subcorpora``: sentences chosen by their metadata, under a name."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.console.option_groups import options_of
from sentgen.cli.console.options import DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.lookups import subcorpora
from sentgen.lookups.subcorpora import SubcorpusName
from sentgen.output.wording import quantity

app = typer.Typer(help="Define, list, show and remove subcorpora: sentences chosen by their metadata.")


@app.command()
@options_of(SubcorpusName, "subcorpus")
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
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Define a subcorpus, usable wherever a corpus name is.

    It has the sentences that meet the condition when it is asked for.

    Example: `sentgen subcorpora define papers --where 'genre = academic and year >= 2010' --corpus gum`
    """
    with open_store(db, memory_limit=memory_limit) as store, store.begin() as connection:
        made, sentences = subcorpora.define(connection, subcorpus.name, where, corpus or [])
    typer.echo(f"{made.name}: {quantity(sentences, 'sentence')}", err=True)


@app.command("list")
@output_options
def list_(*, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """List the subcorpora with their corpora and conditions.

    Example: `sentgen subcorpora list`
    """
    with (
        open_store(db, read_only=True, memory_limit=memory_limit) as store,
        store.connect() as connection,
    ):
        out.table(
            subcorpora.overview(connection),
            essential=("where",),
            none="no subcorpora yet; make one with: sentgen subcorpora define NAME --where CONDITION",
        )


@app.command()
@output_options
@options_of(SubcorpusName, "subcorpus")
def show(
    *, subcorpus: SubcorpusName, db: DbOption = None, memory_limit: MemoryOption = None, out: Output
) -> None:
    """Show the condition of a subcorpus, and how many sentences, tokens and documents it has.

    Example: `sentgen subcorpora show papers`
    """
    with (
        open_store(db, read_only=True, memory_limit=memory_limit) as store,
        store.connect() as connection,
    ):
        out.table(subcorpora.properties(connection, subcorpus.name))


@app.command()
@options_of(SubcorpusName, "subcorpus")
def remove(*, subcorpus: SubcorpusName, db: DbOption = None, memory_limit: MemoryOption = None) -> None:
    """Remove a subcorpus; its sentences stay in their corpora.

    Example: `sentgen subcorpora remove papers`
    """
    with open_store(db, memory_limit=memory_limit) as store, store.begin() as connection:
        subcorpora.remove(connection, subcorpus.name)
    typer.echo(f"removed {subcorpus.name}", err=True)
