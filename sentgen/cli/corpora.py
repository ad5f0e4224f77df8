"""``sentgen corpora``: what the store holds, and taking it out again; ``sentgen subcorpora``: parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentgen.cli.console.listings import listing
from sentgen.cli.console.options import (
    DeskOptions,
    DryRunOption,
    ParserOption,
    StoreOptions,
    YesOption,
    check_file_option,
    confirm,
    require_terminal,
)
from sentgen.cli.console.output import DeskOutput, StoreOutput, printable
from sentgen.corpus.paths import place_of
from sentgen.counts import corpora, exports
from sentgen.counts.corpora import Corpus, CorpusName, Sync
from sentgen.counts.document_tables import DocumentTable
from sentgen.lookups import subcorpora
from sentgen.lookups.subcorpora import SubcorpusName
from sentgen.output.files import whole_file
from sentgen.output.wording import quantity
from sentgen.schema.engine import DATABASE_SHARE

if TYPE_CHECKING:
    from sentgen.counts.sync import Differences


#: Most names of a kind that are printed.
_SHOWN = 20
_OTHERWISE = "--yes, or --dry-run"

subcorpora_app = typer.Typer(
    help="Define, list, show and remove subcorpora: sentences chosen by their metadata."
)
app = typer.Typer(help="List, show, verify, sync, export and remove corpora, and tell more of them.")


app.command("list")(listing("corpora"))


@app.command()
def show(*, request: Corpus, out: StoreOutput) -> None:
    """Show the sources of a corpus, its regions or metadata, or the sentences that were refused.

    Example: `sentgen corpora show ewt --regions`
    """
    none = ""
    if request.rejected:
        none = f"no sentence of {request.name} was rejected"
    elif request.regions:
        none = f"no source of {request.name} marks regions"
    elif request.metadata:
        none = f"{request.name} has no metadata"
    with out.store(read_only=True) as store:
        out.table(
            request.show(store),
            essential=("sentences", "tokens", "rejected", "line", "message", "regions", "times"),
            none=none,
        )


@app.command()
def verify(*, request: CorpusName, out: StoreOutput) -> None:
    """Compare the sources of a corpus with the files on disk; exit code 1 if one differs.

    Example: `sentgen corpora verify ewt`
    """
    with out.store(read_only=True) as store:
        rows = corpora.verify(store, request.name)
    out.table(rows, essential=("status",))
    differing = [path for path, status, _ in rows if status != "same"]
    if any(path != place_of(path) for path in differing):
        out.note(
            f"a published store has the names of its files without their folders: they were looked for from "
            f"{Path.cwd()}; ask the store that it was made from, with --db"
        )
    if differing:
        raise typer.Exit(1)


@app.command()
def export(
    *,
    request: CorpusName,
    form: Annotated[
        str, typer.Option("--format", metavar="|".join(exports.FORMATS), help="Format to write.")
    ] = "conllu",
    conllu: Annotated[bool, typer.Option("--conllu", help="As CoNLL-U, which is the default.")] = True,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="File to write. Default: standard output.")
    ] = None,
    options: StoreOptions,
) -> None:
    """Write a corpus as CoNLL-U, which comes back byte for byte, as a vertical file, as TEI, or for spaCy.

    Example: `sentgen corpora export ewt --format vertical --to ewt.vert`
    """
    check_file_option("--to", to)
    with (
        options.store(read_only=True) as store,
        store.connect() as connection,
    ):
        blocks, lost = exports.export(connection, request.name, form)
        for note in lost:
            typer.echo(f"note: {note}", err=True)
        if to is None:
            for block in blocks:
                typer.echo(block, nl=False)
        else:
            with whole_file(to) as sink:
                sink.writelines(blocks)


@app.command()
def metadata(
    *,
    request: DocumentTable,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what matches.")] = False,
    options: StoreOptions,
) -> None:
    """Give documents or regions of a corpus the columns of a table about them.

    Given again, the table says what it says now and nothing else. Documents that are read later, or again,
    have what it says of them. Where a source says something under the same key, the table is believed.

    Example: `sentgen corpora metadata eltec ELTeC-eng_metadata.tsv --key filename`
    """
    with options.store(read_only=dry_run) as store:
        joined = request.join(store, dry_run=dry_run)
    _print_names(f"no row for the {joined.of}", joined.without_row)
    _print_names(
        f"no {joined.of} for the row", [f"{name} (line {line})" for name, line in joined.without_document]
    )
    for key, number in joined.replaced.items():
        others = f"{quantity(number, 'document says', 'documents say')} something else under {key}"
        typer.echo(printable(f"note: {others}; the table is believed"), err=True)
    matched = joined.documents - len(joined.without_row)
    for name, value in (
        ("corpus", request.name),
        ("table", request.table),
        ("columns", f"{len(joined.columns):,}"),
        (f"{joined.of}s", f"{matched:,} of {joined.documents:,} with a row"),
        ("rows", f"{joined.rows - len(joined.without_document):,} of {joined.rows:,} with a {joined.of}"),
    ):
        typer.echo(printable(f"{name:<16}{value}"))
    if dry_run:
        typer.echo("nothing was written", err=True)


def _print_names(what: str, names: Sequence[str]) -> None:
    """Print names to standard error, only the first ones of many."""
    for name in names[:_SHOWN]:
        typer.echo(printable(f"{what}: {name}"), err=True)
    if len(names) > _SHOWN:
        typer.echo(f"... and {len(names) - _SHOWN:,} more", err=True)


@app.command()
def remove(
    *,
    request: CorpusName,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="FILE",
            help="Only what was read from this file, archive or folder; can be repeated.",
        ),
    ] = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    options: StoreOptions,
) -> None:
    """Remove a corpus with all its counts, or some of its sources; the other counts stay as they are.

    A question is asked before.

    Example: `sentgen corpora remove ewt`
    """

    def removed(*, only_count: bool) -> str:
        if source:
            from sentgen.counts.sync import remove_from  # as below

            sizes = remove_from(store, request.name, source, dry_run=only_count)
        else:
            sizes = corpora.remove(store, request.name, dry_run=only_count)
        numbers = f"{quantity(sizes[0], 'sentence')}, {quantity(sizes[1], 'token')}"
        return f"{'from ' if source else ''}{request.name}: {numbers}"

    with options.store(read_only=dry_run) as store:
        if not (dry_run or yes):
            confirm(f"remove {removed(only_count=True)}", otherwise=_OTHERWISE)
        done = removed(only_count=dry_run)
    typer.echo(f"{'would remove' if dry_run else 'removed'} {done}")


@app.command()
def sync(
    *,
    request: Sync,
    parser: ParserOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what differs.")] = False,
    yes: YesOption = False,
    options: StoreOptions,
) -> None:
    """Add what is new in the folders of a corpus, read again what has changed, and remove what is gone.

    Files are read as they were before. One is the same if its size and time are, else if its content is. A
    question is asked before anything is changed. What came through a pipe stays.

    Example: `sentgen corpora sync novels`
    """
    # Here, as only this command on corpora reads files; the import would be a fifth of the others' start.
    from sentgen.cli.ingest import report
    from sentgen.corpus.parsers import open_parser
    from sentgen.counts.sync import compare
    from sentgen.output.progress import ingestion_bar

    trees = open_parser(parser) if parser else None
    with options.store(read_only=dry_run, share=DATABASE_SHARE) as store:
        differences = compare(request, store, parser=trees)
        for note in differences.notes:
            typer.echo(printable(f"note: {note}"), err=True)
        for name, reason in differences.kept:
            typer.echo(printable(f"kept as it was: {name}: {reason}"), err=True)
        asks = bool(differences) and not (dry_run or yes)
        if asks:
            require_terminal(_numbers(differences), otherwise=_OTHERWISE)
        for what in ("added", "replaced", "removed"):
            _first(what, getattr(differences, what))
        if not dry_run:
            if asks:
                confirm(_numbers(differences), otherwise=_OTHERWISE)
            with ingestion_bar(request.name) as progress:
                differences.apply(store, parser=trees, progress=progress)
        path = store.path
    done = ", ".join(
        f"{len(getattr(differences, what)):,} {what}" for what in ("added", "replaced", "removed")
    )
    typer.echo(f"{request.name}: {done}, {differences.unchanged:,} unchanged")
    if dry_run:
        typer.echo("nothing was written", err=True)
    elif differences:
        assert differences.summary is not None
        report(differences.summary, path)
        if differences.summary.refused:
            raise typer.Exit(1)


def _first(what: str, names: Sequence[str]) -> None:
    for name in names[:_SHOWN]:
        typer.echo(printable(f"{what:<10}{name}"))
    if len(names) > _SHOWN:
        typer.echo(f"... and {len(names) - _SHOWN:,} more {what}")


def _numbers(differences: Differences) -> str:
    added, replaced, removed = map(len, (differences.added, differences.replaced, differences.removed))
    numbers = f"add {added:,}, replace {replaced:,} and remove {removed:,}"
    return f"{numbers} of the sources of {differences.corpus}"


@subcorpora_app.command("define")
def _define_subcorpus(
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


subcorpora_app.command("list")(listing("subcorpora"))


@subcorpora_app.command("show")
def _show_subcorpus(*, subcorpus: SubcorpusName, out: DeskOutput) -> None:
    """Show the condition of a subcorpus, and how many sentences, tokens and documents it has.

    Example: `sentgen subcorpora show papers`
    """
    with (
        out.store(read_only=True) as store,
        store.connect() as connection,
    ):
        out.table(subcorpora.properties(connection, subcorpus.name))


@subcorpora_app.command("remove")
def _remove_subcorpus(*, subcorpus: SubcorpusName, options: StoreOptions) -> None:
    """Remove a subcorpus; its sentences stay in their corpora.

    Example: `sentgen subcorpora remove papers`
    """
    with options.store() as store, store.begin() as connection:
        subcorpora.remove(connection, subcorpus.name)
    typer.echo(f"removed {subcorpus.name}", err=True)
