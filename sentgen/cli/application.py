"""The application: the table of all commands, of which only the one that is asked for is imported."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from sentgen import __version__

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
