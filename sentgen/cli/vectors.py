"""``sentgen vectors``: vectors of words, built from their contexts."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.console.listings import listing
from sentgen.cli.console.options import Arrange, DeskOptions, StoreOptions
from sentgen.cli.console.output import QuestionOutput, StoreOutput
from sentgen.models import vectors
from sentgen.models.vector_building import VectorRequest
from sentgen.models.vectors import Near
from sentgen.output.wording import quantity
from sentgen.schema.engine import DATABASE_SHARE

app = typer.Typer(help="Build, list and remove word vectors, and show what is near a word.")

#: Output without a desk, as questions to vectors have no condition on sentences.
_WithoutDesk = Annotated[QuestionOutput, Arrange(only=("show_sql", *StoreOutput.LAST))]


@app.command()
def build(*, request: VectorRequest, options: DeskOptions) -> None:
    """Build vectors of the words of corpora, in lower case: PPMI with their contexts, by truncated SVD.

    Example: `sentgen vectors build news --corpus wsj --corpus ewt --dimensions 200`
    """
    with options.store(share=DATABASE_SHARE) as store:
        made = request.build(store, lambda line: typer.echo(f"{line} ...", err=True))
    settings = f"{quantity(made.words, 'word')} from {quantity(made.tokens, 'token')}"
    typer.echo(f"{made.name}: {settings}, {quantity(made.dimensions, 'dimension')}", err=True)


app.command("list")(listing("vectors"))


@app.command()
def near(*, request: Near, out: _WithoutDesk) -> None:
    """Show the words that are nearest to a word, or to a phrase in quotes, by the cosine of their vectors.

    Example: `sentgen vectors near "prime minister" --vectors news`
    """
    out.show(out.ask(request))


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the vectors.")],
    options: StoreOptions,
) -> None:
    """Remove vectors; corpora stay as they are.

    Example: `sentgen vectors remove news`
    """
    with options.store() as store:
        removed = vectors.remove(store, name)
    typer.echo(f"removed {removed.name}", err=True)
