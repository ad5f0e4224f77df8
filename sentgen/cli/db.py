"""``sentgen db``: the store as a file: its size, its health, its version."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.cli.options import DbOption, MemoryOption, open_store, parse_size
from sentgen.cli.output import Output, output_options
from sentgen.schema import default_path, maintenance, migrate

app = typer.Typer(help="Look after the store: size, integrity, compaction, upgrade.", no_args_is_help=True)

QuickOption = Annotated[bool, typer.Option("--quick", help="Leave out what counts all tokens again.")]


@app.command()
def path(*, db: DbOption = None) -> None:
    """Print where the store is.

    Example: sentgen db path
    """
    typer.echo(db or default_path())


@app.command()
@output_options
def info(*, db: DbOption = None, out: Output) -> None:
    """Show the tables with their rows and bytes, and versions and file size on standard error.

    Bytes count whole blocks, which small tables share.

    Example: sentgen db info
    """
    with open_store(db, read_only=True) as store:
        for name, value in maintenance.facts(store).items():
            out.note(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")
        out.rows(["table", "rows", "bytes"], [(s.table, s.rows, s.bytes) for s in maintenance.sizes(store)])


@app.command()
@output_options
def check(
    *, quick: QuickOption = False, db: DbOption = None, memory_limit: MemoryOption = None, out: Output
) -> None:
    """Check that everything in the store fits together; exit code 1 if something does not.

    Example: sentgen db check --quick
    """
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        results = list(maintenance.check(store, quick=quick))
    out.rows(
        ["check", "status", "problems", "first problem"],
        [(r.check.name, "failed" if r.problems else "ok", r.problems, r.example) for r in results],
    )
    failed = [r for r in results if r.problems]
    for result in failed:
        out.note(f"{result.check.name}: {result.check.cure}")
    out.note(f"{len(results)} checks, {len(failed)} failed")
    if failed:
        raise typer.Exit(1)


@app.command()
def compact(*, db: DbOption = None, memory_limit: MemoryOption = None) -> None:
    """Merge the counts of each corpus into one segment and give free space back to the disk.

    Example: sentgen db compact
    """
    done = maintenance.compact(db or default_path(), memory_limit=parse_size(memory_limit))
    typer.echo(
        f"segments: {done.segments_before} before, {done.segments_after} after; "
        f"bytes: {done.bytes_before:,} before, {done.bytes_after:,} after",
        err=True,
    )
    if not done.packed:
        typer.echo("not packed: the disk has no room for a copy of the store beside it", err=True)


@app.command()
def upgrade(*, db: DbOption = None) -> None:
    """Bring a store of an older sentgen up to date, after a backup beside it.

    Example: sentgen db upgrade --db old.duckdb
    """
    store = db or default_path()
    backup = migrate.upgrade(store)
    typer.echo(
        f"{store}: upgraded; backup in {backup}" if backup else f"{store}: up to date already", err=True
    )
