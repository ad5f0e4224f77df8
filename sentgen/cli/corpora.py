"""``sentgen corpora``: what the store holds, and taking it out again."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.console.options import DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.counts import corpora

app = typer.Typer(help="List, show, verify and remove corpora.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Corpus.")]


@app.command("list")
@output_options
def list_(*, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """List the corpora with their sizes and licences.

    Example: `sentgen corpora list`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        out.arrow(corpora.overview(store))


@app.command()
@output_options
def show(
    name: Name,
    *,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="Show the sentences that were refused.")
    ] = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Show the sources of a corpus, or the sentences that were refused.

    Example: `sentgen corpora show ewt --rejected`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        out.arrow(corpora.rejected(store, name) if rejected else corpora.describe(store, name))


@app.command()
@output_options
def verify(name: Name, *, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """Compare the sources of a corpus with the files on disk; exit code 1 if one differs.

    Example: `sentgen corpora verify ewt`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        found = corpora.verify(store, name)
    out.rows(["source", "status", "sha256"], [(row.path, row.status, row.sha256) for row in found])
    if any(row.status != "same" for row in found):
        raise typer.Exit(1)


@app.command()
def remove(
    name: Name,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Remove a corpus with all its counts; the other counts stay as they are.

    Example: `sentgen corpora remove ewt`
    """
    with open_store(db, read_only=dry_run, memory_limit=memory_limit) as store:
        if dry_run:
            size = corpora.size(store, name)
            typer.echo(f"would remove {name}: {size[0]:,} sentences, {size[1]:,} tokens")
            return
        sentences, tokens = corpora.remove(store, name)
    typer.echo(f"removed {name}: {sentences:,} sentences, {tokens:,} tokens")
