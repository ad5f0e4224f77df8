"""The application: help and completion read the table of commands, and only the one that runs is imported."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from sentgen import __version__
from sentgen.cli.commands import COMMANDS, Listed, OptionSettings
from sentgen.cli.console.completion import offering, with_plugins
from sentgen.cli.console.parsing import adapt, skip_checks
from sentgen.errors import spelling
from sentgen.options import dashed
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
        within = sorted(listed.commands if listed else COMMANDS, key=lambda listed: bool(listed.commands))
        self._within = {each.name: each for each in within}
        settings["commands"] = {each.name: _stand_in(each) for each in within}
        super().__init__(**{**settings, "no_args_is_help": True, "rich_markup_mode": _MARKUP})
        skip_checks(self)

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command line; messages of the library name its options."""
        with spelling(dashed):
            return super().main(*args, **settings)

    def load(self, name: str) -> Command:
        """Import a command; a group is one already."""
        listed = self._within[name]
        if listed.commands:
            return cast("Command", self.commands[name])
        made = import_command(self.listed or listed)
        return cast("Command", made.commands[name]) if isinstance(made, TyperGroup) else made

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words before a command; of one whose help is asked for, nothing but that is read."""
        if args and args[0] in self._within and not ctx.resilient_parsing:
            self._help(ctx, *args)
        return super().parse_args(ctx, args)

    def _help(self, ctx: Any, name: str, *words: str) -> None:
        """Show the help of a command or group, and end, if that is what the words behind it ask for."""
        command, wanted = self.commands[name], any(word in _HELP for word in words)
        if isinstance(command, Commands):
            wanted = wanted or not words
        elif wanted:
            command = with_plugins(self._group, describe_command(self._within[name]))
            context = command.context_class(command, info_name=name, parent=ctx)
            # Else it is the value of another option, or what the command looks for.
            wanted = "help" in command.make_parser(context).parse_args(list(words))[0]
        if wanted:
            command.make_context(name, list(words), parent=ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that runs, with its name and its arguments."""
        if args and not ctx.resilient_parsing and args[0] not in self.commands and args[0][:1] != "-":
            ctx.fail(f"No such command {args[0]!r}.{self._suggestion(args[0])}")
        name, stand_in, rest = super().resolve_command(ctx, args)
        if name is None or stand_in is None or isinstance(stand_in, Commands):
            return name, cast("Command", stand_in), rest
        if ctx.resilient_parsing:  # a TAB
            return name, offering(self._group, name, rest) or describe_command(self._within[name]), rest
        # Only now is a command imported, and no other.
        command = self.load(name)
        if not gc.isenabled():  # look for garbage again, but not among what was imported: nothing becomes it
            gc.freeze()
            gc.enable()
        return name, command, rest

    @property
    def _group(self) -> str:
        return self.listed.name if self.listed else ""

    def _suggestion(self, word: str) -> str:
        """Ask whether one of the commands was meant that are called so elsewhere, or nearly so here."""
        groups = [each for each in COMMANDS if each.commands and each is not self.listed]
        called = [f"sentgen {each.name}" for each in COMMANDS if self.listed and each.name == word]
        called += [f"sentgen {group.name} {word}" for group in groups if word in _names(group.commands)]
        names = called or near(word, self.commands, most=2)
        return f" Did you mean {either(list(map(repr, names)))}?" if names else ""


def _names(listed: Iterable[Listed]) -> list[str]:
    return [each.name for each in listed]


def _stand_in(listed: Listed) -> Command:
    """Return what help and completion need to know of a command: it has no options."""
    settings: dict[str, Any] = {"help": listed.summary, "rich_help_panel": listed.panel}
    if listed.commands:
        return Commands(name=listed.name, listed=listed, **settings)
    return TyperCommand(listed.name, **settings)


# Kept for programs that run many command lines: Typer takes 0.05 s to make a command with its options.
@cache
def import_command(listed: Listed) -> Command:
    """Import a command, or a group with its commands."""
    from sentgen.cli.console.option_groups import with_options  # and the store: help does without

    module, _, attribute = listed.module.partition(":")
    function = getattr(import_module(f"sentgen.cli.{module}"), attribute)
    if not isinstance(function, typer.Typer):
        return _make(listed, with_options(function))
    for command in function.registered_commands:
        command.callback = command.callback and with_options(command.callback)
    return _make(listed, function)


def describe_command(listed: Listed) -> Command:
    """Return a command with its help and its options as the table has them, which does nothing."""
    return _make(listed, _doing_nothing(listed.options), help=listed.help)


def _make(listed: Listed, function: Any, **settings: Any) -> Command:
    """Make a command of its function, or a group of its Typer."""
    app = typer.Typer(rich_markup_mode=_MARKUP)
    if isinstance(function, typer.Typer):
        app.add_typer(function, name=listed.name)
    else:
        app.command(listed.name, **settings)(function)
    # Not get_command: an app with one command becomes that command, without a group.
    made = cast("Command", get_group(app).commands[listed.name])
    for each in made.commands.values() if isinstance(made, TyperGroup) else [made]:
        adapt(cast("Command", each))
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


#: The kinds of values by what the table calls them; a list there is one of choices.
OPTION_KINDS: dict[str, Any] = {
    "bool": bool,
    "float": float,
    "int": int,
    "list[str]": list[str],
    "Path": Path,
    "str": str,
}


def _doing_nothing(options: Sequence[OptionSettings]) -> Callable[..., None]:
    """Return a function that takes what the table tells, and does nothing with it."""

    def command(**_: object) -> None: ...

    signature = inspect.Signature([_described_parameter(**each) for each in options])
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    return command


def _described_parameter(
    *,
    name: str,
    kind: str | list[str],
    default: object = inspect.Parameter.empty,
    names: Sequence[str] = (),
    **settings: Any,
) -> inspect.Parameter:
    """Return a parameter as commands declare theirs; without names of an option it is an argument."""
    known = OPTION_KINDS[kind] if isinstance(kind, str) else Literal[tuple(kind)]
    about = typer.Option(*names, **settings) if names else typer.Argument(**settings)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[known, about]
    )
