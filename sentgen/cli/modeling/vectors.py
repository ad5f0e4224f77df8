"""``sentgen vectors``: vectors of words, built from the company that words keep."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.console.option_groups import options_of
from sentgen.cli.console.options import DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.cli.looking.questions import StoreOptions, question, show
from sentgen.counts.shares import DATABASE_SHARE
from sentgen.models.vectors import registry
from sentgen.models.vectors.build import VectorRequest
from sentgen.models.vectors.near import Near
from sentgen.output.wording import quantity

app = typer.Typer(help="Build, list and remove word vectors, and show what is near a word.")


@app.command()
@options_of(VectorRequest)
def build(*, request: VectorRequest, db: DbOption = None, memory_limit: MemoryOption = None) -> None:
    """Build vectors of the words of corpora, in lower case: PPMI with their contexts, by truncated SVD.

    Example: `sentgen vectors build news --corpus wsj --corpus ewt --dimensions 200`
    """
    with open_store(db, memory_limit=memory_limit, share=DATABASE_SHARE) as store:
        made = request.build(store, lambda line: typer.echo(f"{line} ...", err=True))
    settings = f"{quantity(made.words, 'word')} from {quantity(made.tokens, 'token')}"
    typer.echo(f"{made.name}: {settings}, {quantity(made.dimensions, 'dimension')}", err=True)


@app.command("list")
@output_options
def list_(*, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """List the vectors with their settings.

    Example: `sentgen vectors list`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        out.table(
            registry.overview(store),
            essential=("corpora", "dimensions", "words"),
            none="no vectors yet; make some with: sentgen vectors build NAME --corpus CORPUS",
        )


@app.command()
@question(Near)
def near(*, request: Near, reading: StoreOptions, out: Output) -> None:
    """Show the words that are nearest to a word, or to a phrase in quotes, by the cosine of their vectors.

    Example: `sentgen vectors near "prime minister" --vectors news`
    """
    show(reading.ask(request), out)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the vectors.")],
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Remove vectors; corpora stay as they are.

    Example: `sentgen vectors remove news`
    """
    with open_store(db, memory_limit=memory_limit) as store:
        removed = registry.remove(store, name)
    typer.echo(f"removed {removed.name}", err=True)
