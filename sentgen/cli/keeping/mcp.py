"""``sentgen mcp``: the store for programs that speak MCP, language models above all."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import typer

from sentgen.cli.console.options import Arrange, DbOptions
from sentgen.cli.keeping.serve import LimitOptions, SnapshotsOption, served_folder
from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.server.settings import ServerSettings


def mcp(
    *,
    snapshots: SnapshotsOption = None,
    options: DbOptions,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="URL",
            help="A `sentgen serve` of the same snapshots: answers link to its pages.",
        ),
    ] = None,
    request: Annotated[
        LimitOptions, Arrange(only=("timeout", "sql_timeout", "max_rows", "max_body", "worker_memory"))
    ],
) -> None:
    """Let a program ask the store by MCP (Model Context Protocol), on standard input and output.

    The program starts this command itself, and has eight tools: corpora, kwic, match, frequencies,
    collocations, ngrams, score and sql. They only read, with the limits of `sentgen serve`, which has the
    same tools at /mcp. With --db, or neither, a private snapshot of the store is made first.

    Example: `sentgen mcp --snapshots snapshots`
    """
    with needs("mcp", "The SDK of MCP"):
        from sentgen.server.app import stdio  # here, so that the help of all commands does without

    if address is not None and urlsplit(address).scheme not in ("http", "https"):
        raise InputError(f"--address {address!r} is no address; give one such as http://127.0.0.1:8000")
    with served_folder(snapshots, options) as folder:
        settings = ServerSettings(folder, limits=request.limits, warm_up=False)
        stdio.speak(settings, address=(address or "").rstrip("/"))
