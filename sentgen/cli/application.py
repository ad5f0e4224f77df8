"""The application: help and completion read the table of commands; only the command that runs is imported.

Command lines are parsed with some additions to Typer. An option that takes one value is refused if it is
given twice, as one of the values would be lost. An option and its opposite, such as ``--within 3L`` and
``--without 3L``, add to the same list, so that their order is kept; values of the opposite begin with
``not``. Values that cannot be wrong are not checked. Commands with ``--db`` also have ``--wait``, the time to
wait for a store that another process has open.
"""

from __future__ import annotations

import gc
import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from sentgen import __version__
from sentgen.cli.commands import COMMANDS, Listed, OptionSettings
from sentgen.cli.console.completion import offering, with_plugins
from sentgen.errors import spelling
from sentgen.options import NOT, dashed
from sentgen.output.wording import either, near
from sentgen.system.processes import collect_again

_MARKUP: Literal["markdown"] = "markdown"
_HELP = ["-h", "--help"]
#: Classes of Typer; depending on its version, their base classes are those of Click or a copy in Typer.
Command = TyperCommand | TyperGroup
#: Key of a context in which later options replace earlier ones.
LATER_WINS = "later options win"
#: Default wait: longer than writing ten million tokens, or a model of them, takes (benchmarks/readers.py).
_SECONDS = 10.0


class Commands(TyperGroup):
    """A group that lists its commands by the table, and imports the one that runs."""

    def __init__(self, *, listed: Listed | None = None, **settings: Any) -> None:
        self.listed = listed
        # Single commands before groups, in the order of Typer.
        within = sorted(listed.commands if listed else COMMANDS, key=lambda listed: bool(listed.commands))
        self._within = {each.name: each for each in within}
        settings["commands"] = {each.name: _stand_in(each) for each in within}
        super().__init__(**{**settings, "no_args_is_help": True, "rich_markup_mode": _MARKUP})
        _skip_checks(self)

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
        """Show the help of a command or group, and end, if the words after its name ask for help."""
        command, wanted = self.commands[name], any(word in _HELP for word in words)
        if isinstance(command, Commands):
            wanted = wanted or not words
        elif wanted:
            command = with_plugins(self._group, describe_command(self._within[name]))
            context = command.context_class(command, info_name=name, parent=ctx)
            # Else the word is the value of another option, or an argument.
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
        if ctx.resilient_parsing:  # completion
            return name, offering(self._group, name, rest) or describe_command(self._within[name]), rest
        # Only here a command is imported, and no other one.
        command = self.load(name)
        if not gc.isenabled():  # as the program began
            collect_again()
        return name, command, rest

    @property
    def _group(self) -> str:
        return self.listed.name if self.listed else ""

    def _suggestion(self, word: str) -> str:
        """Return a question with commands of this name in other groups, or of similar names in this one."""
        groups = [each for each in COMMANDS if each.commands and each is not self.listed]
        called = [f"sentgen {each.name}" for each in COMMANDS if self.listed and each.name == word]
        called += [f"sentgen {group.name} {word}" for group in groups if word in _names(group.commands)]
        names = called or near(word, self.commands, most=2)
        return f" Did you mean {either(list(map(repr, names)))}?" if names else ""


def _names(listed: Iterable[Listed]) -> list[str]:
    return [each.name for each in listed]


def _stand_in(listed: Listed) -> Command:
    """Return a command without options, as a placeholder for help and completion."""
    settings: dict[str, Any] = {"help": listed.summary, "rich_help_panel": listed.panel}
    if listed.commands:
        return Commands(name=listed.name, listed=listed, **settings)
    return TyperCommand(listed.name, **settings)


# Kept for programs that run many command lines: Typer takes 0.05 s to make a command with its options.
@cache
def import_command(listed: Listed) -> Command:
    """Import a command, or a group with its commands."""
    from sentgen.cli.console.options import with_options  # here, as help does not need it, nor the store

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
    """Make a command from its function, or a group from its Typer object."""
    app = typer.Typer(rich_markup_mode=_MARKUP)
    if isinstance(function, typer.Typer):
        app.add_typer(function, name=listed.name)
    else:
        app.command(listed.name, **settings)(function)
    # Not `get_command`, which returns the command itself for an app with only one.
    made = cast("Command", get_group(app).commands[listed.name])
    for each in made.commands.values() if isinstance(made, TyperGroup) else [made]:
        _adapt(cast("Command", each))
    return made


def build() -> typer.Typer:
    """Make the application."""
    app = typer.Typer(
        name="sentgen",
        cls=Commands,
        help="A corpus and model server for statistical sentence generation.",
        context_settings={"help_option_names": _HELP},
        # Typer would print local variables with a traceback, which may contain texts of a corpus.
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


#: Types of values by their names in the table, which has a list for choices.
OPTION_KINDS: dict[str, Any] = {
    "bool": bool,
    "float": float,
    "int": int,
    "list[str]": list[str],
    "Path": Path,
    "str": str,
}


def _doing_nothing(options: Sequence[OptionSettings]) -> Callable[..., None]:
    """Return a function that has the parameters from the table, and does nothing."""

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
    """Return a parameter as commands declare it; without names of an option, it is an argument."""
    known = OPTION_KINDS[kind] if isinstance(kind, str) else Literal[tuple(kind)]
    about = typer.Option(*names, **settings) if names else typer.Argument(**settings)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[known, about]
    )


def _adapt(command: TyperCommand | TyperGroup) -> None:
    """Change how a command parses its words, as the docstring of the module says."""
    names = [parameter.name for parameter in command.params]
    if "db" in names and "wait" not in names:
        command.params.insert(names.index("db") + 1, _wait_option())
    opposites = {
        option.opts[1]: option.opts[0]
        for option in command.params
        # Two long names: a short name is no opposite.
        if [name[:2] for name in option.opts] == ["--", "--"] and getattr(option, "multiple", False)
    }
    command.parse_args = partial(_parse, command.parse_args, opposites)  # type: ignore[method-assign]
    _skip_checks(command)


def _parse(
    parse: Callable[[Any, list[str]], list[str]], opposites: Mapping[str, str], context: Any, words: list[str]
) -> list[str]:
    words = list(_replace_opposites(words, opposites))
    if not context.resilient_parsing and context.obj != LATER_WINS:
        refuse_repeated(context, words)
    return parse(context, words)


def _replace_opposites(words: list[str], opposites: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of a command line, with opposites replaced by the option and a value with ``not``.

    >>> words = ["a", "--without", "3L", "--without=b", "--", "--without"]
    >>> list(_replace_opposites(words, {"--without": "--within"}))
    ['a', '--within', 'not 3L', '--within=not b', '--', '--without']
    """
    following = iter(words)
    for word in following:
        if word == "--":
            yield word
            break
        name, equals, value = word.partition("=")
        if name not in opposites:
            yield word
        elif equals:
            yield f"{opposites[name]}={NOT}{value}"
        else:
            yield opposites[name]
            # Without a value, it is refused as the option itself is.
            yield from (f"{NOT}{value}" for value in islice(following, 1))
    yield from following


def refuse_repeated(context: Any, words: Sequence[str]) -> None:
    """Refuse words in which an option that is no list stands twice, as a mistake in the command line."""
    _, _, order = context.command.make_parser(context).parse_args(list(words))
    numbers = Counter(map(id, order))
    for option in order:
        lists = getattr(option, "multiple", False) or option.param_type_name == "argument"
        if numbers[id(option)] > 1 and not lists and option.name not in context.help_option_names:
            name = max(option.opts, key=len)
            context.fail(f"{name} is given {numbers[id(option)]} times, and takes one value; give it once")


def _skip_checks(command: TyperCommand | TyperGroup) -> None:
    """Skip the validation of omitted values, of texts, and of files that can be read.

    For all values Typer would import pydantic, which takes 0.05 CPU s; the results are the same.
    """
    parameters = inspect.signature(command.callback).parameters if command.callback else {}
    kinds = {name: getattr(each.annotation, "__origin__", None) for name, each in parameters.items()}
    command.get_params = partial(_parameters, command.get_params, kinds)  # type: ignore[method-assign]


def _parameters(get: Callable[[Any], list[Any]], kinds: Mapping[str, Any], context: Any) -> list[Any]:
    """Return the parameters of a command, with those that Typer adds at the first call."""
    parameters = get(context)
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            kind = kinds.get(parameter.name)
            parameter.process_value = partial(
                _process, parameter.process_value, parameter, {kind, *get_args(kind)}
            )
    return parameters


def _process(
    process: Callable[[Any, Any], Any], parameter: Any, kinds: set[object], context: Any, value: Any
) -> Any:
    """Return the value of a parameter as Typer does."""
    several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    if parameter.required and not value:
        return process(context, value)
    if value is None:
        value = () if several else None
    elif several and value and list[str] in kinds:
        value = list(value)
    elif isinstance(value, str) and Path in kinds and os.access(value, os.R_OK):
        value = Path(value)
    elif several or not (value is parameter.default or (isinstance(value, str) and str in kinds)):
        return process(context, value)
    return parameter.callback(context, parameter, value) if parameter.callback else value


def _note_wait(context: typer.Context, seconds: float) -> float:
    """Set the time to wait for a store, and the name of this process in messages of others that wait."""
    if context.resilient_parsing:  # completion does not wait
        return seconds
    from sentgen.schema.durability.write_lock import lock_policy

    lock_policy.wait, lock_policy.command = seconds, context.command_path
    return seconds


@cache
def _wait_option() -> TyperOption:
    """Return the option, as Typer makes it."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def command(
        wait: Annotated[
            float,
            typer.Option(
                "--wait",
                metavar="SECONDS",
                min=0,
                envvar="SENTGEN_WAIT",
                show_envvar=False,
                callback=_note_wait,
                help="How long to wait for a store that another process has. Also: $SENTGEN_WAIT.",
            ),
        ] = _SECONDS,
    ) -> None: ...

    (option,) = typer.main.get_command(app).params
    assert isinstance(option, TyperOption)
    # The callback handles it, so that no command has this parameter.
    option.expose_value = False
    return option
