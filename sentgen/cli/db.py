"""``sentgen db``: the store as a file: its size, its health, its backups, its version."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import Arrange, DbOptions, StoreOptions, YesOption, confirm
from sentgen.cli.console.output import StoreOutput
from sentgen.desk.backup import Backup, back_up
from sentgen.models.checks import model_checks
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema import maintenance, migrate
from sentgen.schema.maintenance import Repair
from sentgen.schema.maintenance import repair as repair_store
from sentgen.schema.manifests import place_of

app = typer.Typer(help="Look after the store: size, integrity, repair, backup, compaction, upgrade.")

BackupOption = Annotated[
    bool, typer.Option("--backup/--no-backup", help="Keep the store as it is now in a file beside it.")
]
QuickOption = Annotated[bool, typer.Option("--quick", help="Leave out what counts all tokens again.")]


@app.command()
def path(*, options: DbOptions) -> None:
    """Print where the store is.

    Example: sentgen db path
    """
    typer.echo(place_of(options.path))


@app.command()
def info(*, out: StoreOutput) -> None:
    """Show the tables with their rows and bytes, and versions and file size on standard error.

    Bytes count whole blocks, which small tables share.

    Example: sentgen db info
    """
    with out.store(read_only=True) as store:
        for name, value in maintenance.facts(store).items():
            out.note(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")
        out.table(maintenance.sizes(store))


@app.command()
def check(
    *,
    quick: QuickOption = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show only what failed or was skipped.")
    ] = False,
    out: StoreOutput,
) -> None:
    """Check that everything in the store fits together; exit code 1 if something does not.

    Reads every block, so that a byte that changed on the disk is found, counts everything again, and compares
    the models with their counts. What needs a table with a damaged block is skipped; all else is checked.

    Example: sentgen db check --quick
    """
    with out.store(read_only=True) as store:
        results = list(maintenance.check(store, model_checks(store, quick=quick), quick=quick))
        without = [name for _, name in maintenance.corpora_without_sentences(store)]
    shown = [r for r in results if r.status != "ok"] if quiet else results
    tells = bool(shown) or not quiet
    if tells:
        out.table(maintenance.CheckResult.table(shown), essential=("status", "first problem"))
    failed = [r for r in results if r.status == "failed"]
    for result in failed:
        out.note(f"{result.check.name}: {result.check.cure}")
    if without:
        out.note(f"counts not compared with sentences, which the lake does not have: {', '.join(without)}")
    # Skipped checks are no failures: the damaged block that is the reason has failed already.
    skipped = sum(r.status == "skipped" for r in results)
    if tells:
        out.note(
            f"{quantity(len(results), 'check')}, {len(failed)} failed"
            f"{f', {skipped} skipped' if skipped else ''}"
        )
    if failed:
        raise typer.Exit(1)


@app.command()
def repair(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed and what is left to do.")
    ] = False,
    backup: BackupOption = True,
    out: StoreOutput,
) -> None:
    """Remove what a killed process left half done; exit code 1 if more is left to do.

    Removes, in one transaction, rows that no source, segment or model accounts for. Corpora and models that
    cannot be mended so are named, with the commands that make them again.

    Example: `sentgen db repair --dry-run`
    """
    done = repair_store(out.path, dry_run=dry_run, backup=backup, memory_limit=out.database_memory())
    out.rows(["table", "rows", "reason"], [(each.table, each.rows, each.reason) for each in done.removed])
    if done.backup:
        out.note(f"the store as it was: {done.backup}")
    if done.removed:
        rows = sum(each.rows for each in done.removed)
        out.note(
            f"{'would remove' if dry_run else 'removed'} {quantity(rows, 'row')} that nothing accounts for"
        )
    for line in _left_to_do(done):
        out.note(line)
    if not done.sound:
        raise typer.Exit(1)
    if not done.removed:
        out.note("nothing to repair")


def _left_to_do(done: Repair) -> Iterator[str]:
    for name in done.corpora:
        yield (
            f"corpus {name}: its counts do not add up; "
            f"sentgen corpora remove {shlex.quote(name)}, and ingest it again"
        )
    for name in done.models:
        yield f"model {name}: may be wrong; sentgen models remove {shlex.quote(name)}, and build it again"
    for name in done.alignment_models:
        yield (
            f"alignment model {name}: may be wrong; "
            f"sentgen align remove {shlex.quote(name)}, and train it again"
        )
    for other in done.others:
        yield f"{other.name}: {other.cure}"


@dataclass(frozen=True, kw_only=True)
class _DeskOption:
    """Where the line sets are that go with a store."""

    desk: Annotated[
        Path | None, Option("Its line sets. Default: study.desk beside study.duckdb.", metavar="FILE")
    ] = None


@app.command()
def backup(
    *,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder of the backups; made if need be.")],
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=1, help="Remove all but the N newest backups.")
    ] = None,
    quick: QuickOption = False,
    desk: _DeskOption,
    options: StoreOptions,
) -> None:
    """Copy the store and its line sets into a new folder, and check the copy as `sentgen db check` does.

    The store may be in use: the copy is made between two transactions of whoever writes, who waits meanwhile.
    Of line sets, those of users are copied, too (study-CORPORA.desk). backup.json beside them says what is
    in the backup. There is a whole one or none. Prints its path.

    Example: `sentgen db backup --to backups --keep 7`
    """
    done = back_up(
        options.path, to, desk=desk.desk, keep=keep, quick=quick, memory_limit=options.database_memory()
    )
    typer.echo(done.folder)
    typer.echo(done, err=True)
    for name in done.removed:
        typer.echo(f"removed {name}", err=True)


@app.command()
def restore(
    source: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="A backup, or a folder of backups: the newest.")
    ],
    *,
    yes: YesOption = False,
    backup: BackupOption = True,
    desk: _DeskOption,
    options: Annotated[StoreOptions, Arrange(only=("db",))],
) -> None:
    """Put a backup back, as a new store or in the place of a damaged one.

    Every file is compared with its hash before it gets its name. Line sets that are there stay as they are:
    labels that were given since the backup would be lost. Prints the path of the store.

    Example: `sentgen db restore backups --db study.duckdb`
    """
    saved, store = Backup.at(source), options.path
    if store.exists() and not yes:
        confirm(f"replace {store} by {saved.folder} ({saved})", otherwise="--yes, or another --db")
    done = saved.restore(store, desk=desk.desk, keep_old=backup)
    typer.echo(store)
    typer.echo(f"from {saved.folder}: {saved}", err=True)
    if done.kept:
        typer.echo(f"the store as it was: {done.kept}", err=True)
    for desk_path in done.desks:
        typer.echo(f"line sets: {desk_path}", err=True)
    for desk_path in done.left:
        typer.echo(f"left as they are, line sets: {desk_path}", err=True)


@app.command()
def compact(*, options: StoreOptions) -> None:
    """Merge the counts of each corpus into one segment and give free space back to the disk.

    Example: sentgen db compact
    """
    done = maintenance.compact(options.path, memory_limit=options.database_memory())
    typer.echo(
        f"segments: {done.segments_before} before, {done.segments_after} after; "
        f"bytes: {done.bytes_before:,} before, {done.bytes_after:,} after",
        err=True,
    )
    if not done.packed:
        typer.echo("not packed: the disk has no room for a copy of the store beside it", err=True)


@app.command()
def upgrade(*, options: StoreOptions) -> None:
    """Bring a store of an older sentgen up to date, after a backup beside it.

    Example: sentgen db upgrade --db old.duckdb
    """
    store = options.path
    copy_path = migrate.upgrade(store, memory_limit=options.database_memory())
    typer.echo(
        f"{store}: upgraded; backup in {copy_path}" if copy_path else f"{store}: up to date already", err=True
    )
