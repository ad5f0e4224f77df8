"""The command line: one Typer file per noun; commands parse, call one library function, and print."""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from sentgen import __version__
from sentgen.cli.interrupts import EXIT_CODE, end_interrupted, interruptible, was_interrupted
from sentgen.errors import SentgenError

#: Panel of the help to its commands: name, module of sentgen.cli, and command or group in it.
COMMANDS = {
    "Start here": (("demo", "demo", "demo"),),
    "Corpora": (
        ("ingest", "ingest", "ingest"),
        ("corpora", "corpora", "app"),
        ("parser", "parser", "app"),
        ("pairs", "pairs", "app"),
    ),
    "Look inside": (
        ("ngrams", "inspect", "ngrams"),
        ("deps", "inspect", "deps"),
        ("args", "inspect", "args"),
        ("kwic", "inspect", "kwic"),
        ("freq", "inspect", "freq"),
        ("collocations", "inspect", "collocations"),
        ("sql", "sql", "sql"),
        ("schema", "schema", "show"),
    ),
    "Models and sentences": (
        ("models", "models", "app"),
        ("score", "score", "score"),
        ("regenerate", "regenerate", "regenerate"),
        ("generate", "generate", "generate"),
        ("fuse", "fuse", "fuse"),
        ("check", "check", "check"),
        ("align", "align", "app"),
        ("evaluate", "evaluate", "app"),
        ("reproduce", "reproduce", "command"),
    ),
    "The store": (("db", "db", "app"),),
    "The server": (
        ("publish", "publish", "publish"),
        ("serve", "serve", "serve"),
    ),
}


def build(only: str | None = None) -> typer.Typer:
    """Make the application: with one command, to start fast, or with all of them if it is none of them."""
    app = typer.Typer(
        name="sentgen",
        help="A corpus and model server for statistical sentence generation.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_group)
    listed = [(panel, *entry) for panel, entries in COMMANDS.items() for entry in entries]
    for panel, name, module, attribute in [entry for entry in listed if entry[1] == only] or listed:
        command = getattr(import_module(f"sentgen.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sentgen {__version__}")
        raise typer.Exit


def _group(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A corpus and model server for statistical sentence generation."""


def main() -> None:
    """Run sentgen; what the user did wrong comes out as one line and exit code 1."""
    # On a full disk the rollback fails too; SQLAlchemy would log that with its traceback before our line.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    try:
        with interruptible():
            build(only=sys.argv[1] if len(sys.argv) > 1 else None)()
    except SystemExit as end:
        if end.code == EXIT_CODE:  # Typer turns Ctrl-C into this code without a word
            end_interrupted()
        raise
    except KeyboardInterrupt:  # while the command is imported; Typer takes over when it runs
        end_interrupted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if was_interrupted(error):
            end_interrupted()
        if garbled := _garbled(error):
            typer.echo(f"sentgen: {garbled!a} is no text: it is not UTF-8; write it again", err=True)
            sys.exit(1)
        if not isinstance(error, SentgenError):
            raise
        typer.echo(f"sentgen: {error}", err=True)
        sys.exit(1)


def _garbled(error: Exception) -> str | None:
    """Return the argument that is behind an error because it is not UTF-8, a RuntimeError in DuckDB."""
    if not isinstance(error, RuntimeError | UnicodeEncodeError):
        return None
    return next((word for word in sys.argv[1:] if any("\udc80" <= c <= "\udcff" for c in word)), None)
