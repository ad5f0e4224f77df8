"""``sentgen serve``: the store over HTTP, and in a browser."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import DbOption, parse_size
from sentgen.errors import InputError
from sentgen.schema import default_path
from sentgen.schema import snapshots as published
from sentgen.server.settings import Limits, ServerSettings

_WHO = "Who may ask"
_LIMITS = "Limits"
#: Processes of a kind, where nobody says how many: each takes some hundred megabytes.
_MOST_WORKERS = 8


def serve(
    *,
    snapshots: Annotated[
        Path | None,
        typer.Option(
            "--snapshots", metavar="DIR", help="Serve the newest snapshot of `sentgen publish --to DIR`."
        ),
    ] = None,
    db: DbOption = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 for any that is free.")
    ] = 8000,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            max=64,
            help="Processes for each kind of work: look-ups, computation, SQL. Default: the cores, up to 8.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Answer only who has one of these tokens, one a line.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name that the server is called by; may be repeated.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    sql: Annotated[
        bool, typer.Option("--read-only-sql/--no-sql", help="Offer SQL, or not.", rich_help_panel=_WHO)
    ] = True,
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser", metavar="PARSER", help="Parser for texts without trees, such as udpipe:FILE."
        ),
    ] = None,
    warm_up: Annotated[
        bool,
        typer.Option(
            "--warm-up/--no-warm-up", help="Compile the algorithms first, or when they are first asked for."
        ),
    ] = True,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0.1, help="Of computation.", rich_help_panel=_LIMITS
        ),
    ] = 30.0,
    sql_timeout: Annotated[
        float,
        typer.Option(
            "--sql-timeout", metavar="SECONDS", min=0.1, help="Of SQL and look-ups.", rich_help_panel=_LIMITS
        ),
    ] = 10.0,
    max_rows: Annotated[
        int,
        typer.Option("--max-rows", metavar="N", min=1, help="Rows of an answer.", rich_help_panel=_LIMITS),
    ] = 10_000,
    max_body: Annotated[
        str, typer.Option("--max-body", metavar="SIZE", help="Bytes of a request.", rich_help_panel=_LIMITS)
    ] = "1MB",
    max_queue: Annotated[
        int,
        typer.Option(
            "--max-queue",
            metavar="N",
            min=0,
            help="Requests that wait for a kind of work.",
            rich_help_panel=_LIMITS,
        ),
    ] = 64,
    cache: Annotated[
        str,
        typer.Option(
            "--cache",
            metavar="SIZE",
            help="Memory for answers that are asked for again; 0 for none.",
            rich_help_panel=_LIMITS,
        ),
    ] = "64MB",
    worker_memory: Annotated[
        str,
        typer.Option("--worker-memory", metavar="SIZE", help="Memory of a worker.", rich_help_panel=_LIMITS),
    ] = "2GB",
) -> None:
    """Serve a published store over HTTP: the API under /v1, and pages for a browser.

    With --snapshots, a newer snapshot is served as soon as it is published. With --db, or neither, a private
    snapshot of the store is made first, and later changes are not seen. Logs go to standard error.

    Example: `sentgen serve --snapshots snapshots --port 8000`
    """
    from sentgen.server import running  # its web framework, so that the help of all commands does without

    if snapshots is not None and db is not None:
        raise typer.BadParameter("--snapshots and --db exclude each other; choose one")
    limits = Limits(
        body=parse_size(max_body) or 0,
        rows=max_rows,
        seconds={"lookup": sql_timeout, "compute": timeout, "sql": sql_timeout},
        queue=max_queue,
        kept=parse_size(cache) or 0,
        memory=parse_size(worker_memory) or 0,
    )
    with _folder(snapshots, db) as folder:
        settings = ServerSettings(
            folder,
            host=host,
            port=port,
            workers=workers or min(os.cpu_count() or 1, _MOST_WORKERS),
            tokens=_tokens(token_file),
            hosts=tuple(allow_host or ()),
            sql=sql,
            parser=parser,
            warm_up=warm_up,
            limits=limits,
        )
        running.serve(settings, ready=lambda address: typer.echo(f"serving at {address}"))


@contextmanager
def _folder(snapshots: Path | None, db: Path | None) -> Iterator[Path]:
    """Return the folder of the snapshots: the one that was named, or one of our own for a store."""
    if snapshots is not None:
        yield snapshots
        return
    ordinary = signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the folder is removed
    try:
        with tempfile.TemporaryDirectory(prefix="sentgen-serve-") as folder:
            published.publish(db or default_path(), Path(folder))
            yield Path(folder)
    finally:
        signal.signal(signal.SIGTERM, ordinary)


def _tokens(path: Path | None) -> tuple[str, ...]:
    """Read the tokens of a file."""
    if path is None:
        return ()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the tokens cannot be read: {error}", path=str(path)) from error
    tokens = tuple(line.strip() for line in lines if line.strip())
    if not tokens or any(len(token) < 16 for token in tokens):
        raise InputError("needs tokens of 16 characters or more, one a line", path=str(path))
    return tokens
