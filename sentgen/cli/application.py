"""The application: help and completion read the table of commands, and only the one that runs is imported."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from sentgen import __version__
from sentgen.cli.commands import COMMANDS, Listed
from sentgen.cli.console.patience import patient

_MARKUP: Any = "markdown"
_HELP = ["-h", "--help"]


class Loaded(Mapping[str, Any]):
    """Name of a command to the command itself, imported when it is asked for."""

    def __init__(self, group: Listed | None, listed: tuple[Listed, ...]) -> None:
        self._group = group
        # Groups stand after single commands, as Typer lists them.
        self.listed = {one.name: one for one in sorted(listed, key=lambda one: bool(one.commands))}

    def __getitem__(self, name: str) -> Any:
        listed = self.listed[name]
        if listed.commands:
            return Commands(
                name=name,
                help=listed.help,
                rich_help_panel=listed.panel,
                commands=Loaded(listed, listed.commands),
            )
        if self._group:
            return _commands_of(self._group)[name]
        return _single(listed)

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)


# Kept for programs that run many command lines: Typer takes 0.05 s to make a command with its options.
@cache
def _single(listed: Listed) -> Any:
    app = typer.Typer(rich_markup_mode=_MARKUP)
    function = getattr(import_module(f"sentgen.cli.{listed.module}"), listed.attribute)
    app.command(listed.name, rich_help_panel=listed.panel)(function)
    # Not get_command: an app with one command becomes that command, without a group.
    return patient(get_group(app).commands[listed.name])


@cache
def _commands_of(group: Listed) -> Any:
    app = typer.Typer(rich_markup_mode=_MARKUP)
    app.add_typer(import_module(f"sentgen.cli.{group.module}").app, name=group.name)
    made: Any = get_group(app).commands[group.name]
    return {name: patient(command) for name, command in made.commands.items()}


class Commands(TyperGroup):
    """A group that lists its commands by the table, and imports the one that runs."""

    def __init__(self, *, commands: Any = None, **settings: Any) -> None:
        settings |= {"no_args_is_help": True, "rich_markup_mode": _MARKUP}
        super().__init__(**settings)
        self.commands: Any = commands or Loaded(None, COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return what help and completion need to know of a command."""
        if (listed := self.commands.listed.get(cmd_name)) is None:
            return None
        # A stand-in without options: help shows no more of it.
        return TyperCommand(cmd_name, help=listed.help, rich_help_panel=listed.panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that runs, with its name and its arguments."""
        name, listed, rest = super().resolve_command(ctx, args)
        if ctx.resilient_parsing and name and not self.commands.listed[name].commands:  # a TAB
            from sentgen.cli.console.completion import offering

            if offered := offering(ctx.info_name if ctx.parent else "", name, rest):
                return name, offered, rest
        # Only now is a command imported, and no other.
        command = self.commands[name] if listed else None
        if command and not isinstance(command, Commands) and any(word in _HELP for word in rest):
            from sentgen.cli.console.completion import with_plugins

            command = with_plugins(ctx.info_name if ctx.parent else "", command)
        if not gc.isenabled() and not isinstance(command, Commands):
            _collect_again()
        return name, command, rest


def _collect_again() -> None:
    """Look for garbage again, but not among what was imported: nothing there becomes garbage."""
    gc.freeze()
    gc.enable()


def build() -> typer.Typer:
    """Make the application."""
    app = typer.Typer(
        name="sentgen",
        cls=Commands,
        help="A corpus and model server for statistical sentence generation.",
        context_settings={"help_option_names": _HELP},
        # Typer would print local variables with a traceback, texts among them.
        pretty_exceptions_enable=False,
    )
    app.callback()(_group)
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
