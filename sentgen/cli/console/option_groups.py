"""Groups of options that several commands share, each declared once and taken as one parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer

from sentgen.cli.console.options import mistakes
from sentgen.options import Declaration, Option, Parameter, declared, parameters_of

if TYPE_CHECKING:
    from sentgen.cli.console.output import Output

Result = TypeVar("Result")


def option_group(
    function: Callable[..., Result],
    parameter: str,
    options: Mapping[str, tuple[object, object]],
    make: Callable[..., object],
    places: Mapping[str, str] | None = None,
) -> Callable[..., Result]:
    """Return a command that has options in place of one of its parameters.

    Args:
        function: the command.
        parameter: the parameter that is replaced.
        options: name of each option to its annotation, as Typer reads it, and its default.
        make: takes the options by name and returns what the command gets.
        places: other parameters of the command to the options that they follow.
    """
    # Annotations are text, as all modules import `annotations` from the future.
    signature = inspect.signature(function, eval_str=True)
    own = {each.name: each for each in signature.parameters.values()}
    places = places or {}
    parameters: list[inspect.Parameter] = []
    for name in (name for name in own if name not in places):
        if name != parameter:
            parameters.append(own[name])
            continue
        for option, (annotation, default) in options.items():
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(option, kind, default=default, annotation=annotation))
            parameters += [own[mine] for mine, before in places.items() if before == option]

    @functools.wraps(function)
    def command(*arguments: object, **given: object) -> Result:
        chosen = {name: given.pop(name, default) for name, (_, default) in options.items()}
        return function(*arguments, **given, **{parameter: make(**chosen)})

    del command.__wrapped__  # else Typer would read the old signature
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def options_of(
    declaration: type, parameter: str = "request", names: Iterable[str] = (), **places: str
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Give a command the options of a declaration in place of one of its parameters (see `sentgen.options`).

    Args:
        declaration: the class; its fields may be annotated with options of Typer, too.
        parameter: the parameter of the command that is replaced.
        names: fields to take, if not all.
        places: other parameters of the command to the options that they follow.
    """
    taken = parameters_of(declaration, names)
    options = {each.name: (_annotation(each), _default(each)) for each in taken}

    def make(**given: object) -> object:
        return made_of(declaration, given)

    return lambda function: option_group(function, parameter, options, make, places)


def made_of(declaration: type[Declaration], given: Mapping[str, object]) -> Declaration:
    """Make a declaration of options by name, as Typer reads them; leave out those of others.

    Raises:
        typer.BadParameter: options exclude each other.
    """
    taken = {each.name: each for each in parameters_of(declaration)}
    values = {
        name: value or [] if get_origin(taken[name].kind) is list else value
        for name, value in given.items()
        # A limit that is left out depends on the output; a query that is only checked has none.
        if name in taken and not (value is None and _limits_rows(taken[name]))
    }
    with mistakes():
        return declared(declaration, values)


def _limits_rows(parameter: Parameter) -> bool:
    return isinstance(parameter.option, Option) and parameter.option.rows


def _default(parameter: Parameter) -> object:
    if parameter.kind == list[str] and not (isinstance(parameter.option, Option) and parameter.option.given):
        return None
    return inspect.Parameter.empty if parameter.default is MISSING else parameter.default


def _annotation(parameter: Parameter) -> object:
    """Return the type and the option as Typer reads them."""
    option, kind = parameter.option, parameter.kind
    if not isinstance(option, Option):  # but what Typer reads already
        return Annotated[kind, option]
    if _limits_rows(parameter):
        return LimitOption
    if parameter.default is None:
        # Typer has no use for None beside a type: that it may be left out says the default.
        (kind,) = set(get_args(kind)) - {NoneType}
    if kind == int | str:
        kind = str  # which the library reads
    metavar = option.metavar
    if get_origin(kind) is Literal and not option.closed:
        # The library checks the value, and its message says what to do.
        kind, metavar = str, metavar or "|".join(get_args(kind))
    if parameter.default is None or kind == list[str]:
        kind = kind | None
    settings: dict[str, Any] = {"help": option.shell or option.help, "metavar": metavar}
    settings |= {"min": option.least, "max": option.most, "rich_help_panel": option.panel}
    if option.argument:
        return Annotated[kind, typer.Argument(**settings)]
    return Annotated[kind, typer.Option(*_names(parameter), **settings)]


def _names(parameter: Parameter) -> list[str]:
    """Return the names of an option on the command line."""
    dashed = parameter.name.replace("_", "-")
    if get_origin(parameter.kind) is list and parameter.option.off:
        return [f"--{dashed}", parameter.option.off]  # see `sentgen.cli.console.parsing`
    if parameter.kind == bool | None or parameter.default is True or parameter.option.off:
        return [f"--{dashed}/{parameter.option.off or f'--no-{dashed}'}"]
    return [f"--{dashed}", *([parameter.option.short] if parameter.option.short else [])]


_ROWS = "Rows to show; 0 for all."
_LIMIT = typer.Option("--limit", "-n", min=0, help=_ROWS)
#: A limit of rows, which `limit_rows` knows by this option: another parameter may be called ``limit``, too.
LimitOption = Annotated[int, _LIMIT]


def limit_rows(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return a command whose default limit of rows holds for tables for reading alone.

    What a program reads is all there is, as it does not see that there is more.
    """
    # Annotations are text, as all modules import `annotations` from the future.
    signature = inspect.signature(function, eval_str=True)
    defaults = {each.name: each.default for each in signature.parameters.values() if _is_limit(each)}

    @functools.wraps(function)
    def command(*arguments: object, out: Output, **given: object) -> Result:
        for name, default in defaults.items():
            if given.get(name) is None:
                # A graph is one of so many collocates, and never of all.
                given[name] = default if out.for_reading or given.get("graph") else 0
        return function(*arguments, out=out, **given)

    taken = [_optional(each) if each.name in defaults else each for each in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=taken)  # type: ignore[attr-defined]
    return command


def _is_limit(parameter: inspect.Parameter) -> bool:
    return any(about is _LIMIT for about in getattr(parameter.annotation, "__metadata__", ()))


def _optional(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a limit that may be left out, and says what that means."""
    if not parameter.default:
        return parameter
    about = f"{_ROWS} Default: {parameter.default} in tables, all in formats for programs."
    option = typer.Option("--limit", "-n", min=0, help=about)
    return parameter.replace(annotation=Annotated[int | None, option], default=None)
