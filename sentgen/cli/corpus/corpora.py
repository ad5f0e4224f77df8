"""``sentgen corpora``: what the store holds, and taking it out again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.option_groups import asking
from sentgen.cli.console.options import DbOption, DryRunOption, MemoryOption, check_file_option, open_store
from sentgen.cli.console.output import Output, output_options, printable
from sentgen.counts import corpora, exports
from sentgen.counts.corpora import Corpus
from sentgen.counts.document_tables import DocumentTable
from sentgen.output.files import whole_file
from sentgen.output.wording import quantity

#: Names of one kind that are listed.
_SHOWN = 20
app = typer.Typer(help="List, show, verify, export and remove corpora, and tell more of them.")


@app.command("list")
@output_options
def list_(*, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """List the corpora with their sizes and licences.

    Example: `sentgen corpora list`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        out.arrow(
            corpora.overview(store),
            essential=("sentences", "tokens"),
            none="no corpora yet; make one with: sentgen ingest FILE --corpus NAME",
        )


@app.command()
@output_options
@asking(Corpus)
def show(*, asked: Corpus, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """Show the sources of a corpus, its regions or metadata, or the sentences that were refused.

    Example: `sentgen corpora show ewt --regions`
    """
    none = ""
    if asked.rejected:
        none = f"no sentence of {asked.name} was rejected"
    elif asked.regions:
        none = f"no source of {asked.name} marks regions"
    elif asked.metadata:
        none = f"{asked.name} has no metadata"
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        out.arrow(
            asked.show(store),
            essential=("sentences", "tokens", "rejected", "line", "message", "regions", "times"),
            none=none,
        )


@app.command()
@output_options
@asking(Corpus, names=["name"])
def verify(*, asked: Corpus, db: DbOption = None, memory_limit: MemoryOption = None, out: Output) -> None:
    """Compare the sources of a corpus with the files on disk; exit code 1 if one differs.

    Example: `sentgen corpora verify ewt`
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        found = corpora.verify(store, asked.name)
    out.table(corpora.status_rows(found), essential=("status",))
    if any(row.relative and row.status != "same" for row in found):
        out.note(
            f"relative paths, of an earlier sentgen, were looked for from {Path.cwd()}; "
            "go where they were ingested, or ingest them there once more: that stores where they are"
        )
    if earlier := sum(row.earlier for row in found):
        out.note(
            f"{quantity(earlier, 'source')} read by an earlier sentgen, which cut raw text otherwise; "
            "to have its sentences and words as they are cut today, ingest the files again with --replace"
        )
    if any(row.status != "same" for row in found):
        raise typer.Exit(1)


@app.command()
@asking(Corpus, names=["name"])
def export(
    *,
    asked: Corpus,
    form: Annotated[
        str, typer.Option("--format", metavar="|".join(exports.FORMATS), help="Format to write.")
    ] = "conllu",
    conllu: Annotated[bool, typer.Option("--conllu", help="As CoNLL-U, which is the default.")] = True,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="File to write. Default: standard output.")
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Write a corpus as CoNLL-U, which comes back byte for byte, as a vertical file, as TEI, or for spaCy.

    Example: `sentgen corpora export ewt --format vertical --to ewt.vert`
    """
    check_file_option("--to", to)
    with (
        open_store(db, read_only=True, memory_limit=memory_limit) as store,
        store.connect() as connection,
    ):
        found = exports.export(connection, asked.name, form)
        for lost in found.lost:
            typer.echo(f"note: {lost}", err=True)
        if to is None:
            for block in found.blocks:
                typer.echo(block, nl=False)
        else:
            with whole_file(to) as sink:
                sink.writelines(found.blocks)


@app.command()
@asking(DocumentTable)
def metadata(
    *,
    asked: DocumentTable,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what matches.")] = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Give documents or regions of a corpus the columns of a table about them.

    Given again, the table says what it says now and nothing else. Documents that are read later, or again,
    have what it says of them. Where a source says something under the same key, the table is believed.

    Example: `sentgen corpora metadata eltec ELTeC-eng_metadata.tsv --key filename`
    """
    with open_store(db, read_only=dry_run, memory_limit=memory_limit) as store:
        joined = asked.join(store, dry_run=dry_run)
    _listed(f"no row for the {joined.of}", joined.without_row)
    _listed(
        f"no {joined.of} for the row", [f"{name} (line {line})" for name, line in joined.without_document]
    )
    for key, number in joined.replaced.items():
        told = f"{quantity(number, 'document says', 'documents say')} something else under {key}"
        typer.echo(printable(f"note: {told}; the table is believed"), err=True)
    matched = joined.documents - len(joined.without_row)
    for name, value in (
        ("corpus", asked.name),
        ("table", asked.table),
        ("columns", f"{len(joined.columns):,}"),
        (f"{joined.of}s", f"{matched:,} of {joined.documents:,} with a row"),
        ("rows", f"{joined.rows - len(joined.without_document):,} of {joined.rows:,} with a {joined.of}"),
    ):
        typer.echo(printable(f"{name:<16}{value}"))
    if dry_run:
        typer.echo("nothing was written", err=True)


def _listed(what: str, names: Sequence[str]) -> None:
    """Print names to standard error, the first ones of many."""
    for name in names[:_SHOWN]:
        typer.echo(printable(f"{what}: {name}"), err=True)
    if len(names) > _SHOWN:
        typer.echo(f"... and {len(names) - _SHOWN:,} more", err=True)


@app.command()
@asking(Corpus, names=["name"])
def remove(
    *,
    asked: Corpus,
    dry_run: DryRunOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
) -> None:
    """Remove a corpus with all its counts; the other counts stay as they are.

    Example: `sentgen corpora remove ewt`
    """
    with open_store(db, read_only=dry_run, memory_limit=memory_limit) as store:
        sentences, tokens = (corpora.size if dry_run else corpora.remove)(store, asked.name)
    done = "would remove" if dry_run else "removed"
    typer.echo(f"{done} {asked.name}: {quantity(sentences, 'sentence')}, {quantity(tokens, 'token')}")
