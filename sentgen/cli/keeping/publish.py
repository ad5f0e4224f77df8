"""``sentgen publish``: an immutable copy of the store for servers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import StoreOptions
from sentgen.schema import snapshots


def publish(
    *,
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="Folder of the snapshots; made if need be.")
    ],
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            "--corpus",
            metavar="CORPUS",
            help="Publish this corpus only, and what is made of it alone; may be repeated.",
        ),
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=1, help="Remove all but the N newest snapshots.")
    ] = None,
    options: StoreOptions,
) -> None:
    """Publish the store: copy it, as it is now, into a read-only file that `sentgen serve` opens.

    The file is named by the hash of its content, so that a store that did not change is published once. The
    manifest beside it (JSON) lists corpora, licences, models and versions. Files that corpora were read from
    are named without the folders in which they lie. With --corpus the file has nothing of other corpora: no
    words, no models that know them, no evaluations. Prints the path of the file.

    Example: `sentgen publish --to snapshots --keep 3`
    """
    done = snapshots.publish(
        options.path, to, corpora=corpus or (), keep=keep, memory_limit=options.database_memory()
    )
    # Alone on standard output, for scripts.
    typer.echo(done.snapshot.path)
    typer.echo("published" if done.new else "published already; nothing was copied", err=True)
    for name in done.removed:
        typer.echo(f"removed {name}", err=True)
