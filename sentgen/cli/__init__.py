"""The command line: one Typer file per noun; commands parse, call one library function, and print."""

from __future__ import annotations

import os
import sys

import typer

from sentgen.cli import corpora, ingest
from sentgen.errors import SentgenError

app = typer.Typer(
    name="sentgen",
    help="A corpus and model server for statistical sentence generation.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

app.command("ingest")(ingest.ingest)
app.add_typer(corpora.app, name="corpora")


def main() -> None:
    """Run sentgen; what the user did wrong comes out as one line and exit code 1."""
    try:
        app()
    except SentgenError as error:
        typer.echo(f"sentgen: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("sentgen: interrupted; what was finished is kept", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
