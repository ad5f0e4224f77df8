"""The application: help and completion read the table of commands, and only the one that runs is imported."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Literal, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from sentgen import __version__
from sentgen.cli.commands import COMMANDS, Listed
from sentgen.cli.console.completion import offering, with_plugins
from sentgen.cli.console.described import taking
from sentgen.cli.console.given_once import given_once
from sentgen.cli.console.opposites import with_opposites
from sentgen.cli.console.patience import be_patient
from sentgen.cli.console.unchecked import unchecked
from sentgen.output.wording import either, near

_MARKUP: Literal["markdown"] = "markdown"
_HELP = ["-h", "--help"]
#: What Typer makes; their bases are Click's, which Typer has within itself or not, by its version.
Command = TyperCommand | TyperGroup


class Commands(TyperGroup):
    """A group that lists its commands by the table, and imports the one that runs."""

    def __init__(self, *, listed: Listed | None = None, **settings: Any) -> None:
        self.listed = listed
        # Groups stand after single commands, as Typer lists them.
        within = sorted(listed.commands if listed else COMMANDS, key=lambda one: bool(one.commands))
        self._within = {one.name: one for one in within}
        settings["commands"] = {one.name: _stand_in(one) for one in within}
        super().__init__(**{**settings, "no_args_is_help": True, "rich_markup_mode": _MARKUP})
        unchecked(self)

    def load(self, name: str) -> Command:
        """Import a command; a group is one already."""
        one = self._within[name]
        if one.commands:
            return cast("Command", self.commands[name])
        made = imported(self.listed or one)
        return cast("Command", made.commands[name]) if isinstance(made, TyperGroup) else made

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words before a command; of one whose help is asked for, nothing but that is read."""
        if args and args[0] in self._within and not ctx.resilient_parsing:
            self._help(ctx, *args)
        return super().parse_args(ctx, args)

    def _help(self, ctx: Any, name: str, *words: str) -> None:
        """Show the help of a command or group, and end, if that is what the words behind it ask for."""
        command, asked = self.commands[name], any(word in _HELP for word in words)
        if isinstance(command, Commands):
            asked = asked or not words
        elif asked:
            command = with_plugins(self._group, described(self._within[name]))
            context = command.context_class(command, info_name=name, parent=ctx)
            # Else it is the value of another option, or what the command looks for.
            asked = "help" in command.make_parser(context).parse_args(list(words))[0]
        if asked:
            command.make_context(name, list(words), parent=ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that runs, with its name and its arguments."""
        if args and not ctx.resilient_parsing and args[0] not in self.commands and args[0][:1] != "-":
            ctx.fail(f"No such command {args[0]!r}.{self._meant(args[0])}")
        name, stand_in, rest = super().resolve_command(ctx, args)
        if name is None or stand_in is None or isinstance(stand_in, Commands):
            return name, cast("Command", stand_in), rest
        if ctx.resilient_parsing:  # a TAB
            return name, offering(self._group, name, rest) or described(self._within[name]), rest
        # Only now is a command imported, and no other.
        command = self.load(name)
        if not gc.isenabled():  # look for garbage again, but not among what was imported: nothing becomes it
            gc.freeze()
            gc.enable()
        return name, command, rest

    @property
    def _group(self) -> str:
        return self.listed.name if self.listed else ""

    def _meant(self, word: str) -> str:
        """Ask whether one of the commands was meant that are called so elsewhere, or nearly so here."""
        groups = [one for one in COMMANDS if one.commands and one is not self.listed]
        called = [f"sentgen {one.name}" for one in COMMANDS if self.listed and one.name == word]
        called += [f"sentgen {group.name} {word}" for group in groups if word in _names(group.commands)]
        found = called or near(word, self.commands, most=2)
        return f" Did you mean {either([repr(one) for one in found])}?" if found else ""


def _names(listed: Iterable[Listed]) -> list[str]:
    return [one.name for one in listed]


def _stand_in(listed: Listed) -> Command:
    """Return what help and completion need to know of a command: it has no options."""
    settings: dict[str, Any] = {"help": listed.summary, "rich_help_panel": listed.panel}
    if listed.commands:
        return Commands(name=listed.name, listed=listed, **settings)
    return TyperCommand(listed.name, **settings)


# Kept for programs that run many command lines: Typer takes 0.05 s to make a command with its options.
@cache
def imported(listed: Listed) -> Command:
    """Import a command, or a group with its commands."""
    module, _, attribute = listed.place.partition(":")
    return _made(listed, getattr(import_module(f"sentgen.cli.{module}"), attribute))


def described(listed: Listed) -> Command:
    """Return a command with its help and its options as the table has them, which does nothing."""
    return _made(listed, taking(listed.options), help=listed.help)


def _made(listed: Listed, found: Any, **settings: Any) -> Command:
    """Make a command of its function, or a group of its Typer."""
    app = typer.Typer(rich_markup_mode=_MARKUP)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=listed.name)
    else:
        app.command(listed.name, **settings)(found)
    # Not get_command: an app with one command becomes that command, without a group.
    made = cast("Command", get_group(app).commands[listed.name])
    for each in made.commands.values() if isinstance(made, TyperGroup) else [made]:
        command = cast("Command", each)
        be_patient(command)
        given_once(command)
        unchecked(command)
        with_opposites(command)
    return made


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
