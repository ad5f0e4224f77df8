"""Groups of options that several commands share, each declared once and taken as one parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer

from sentgen.cli.console.options import mistakes
from sentgen.cli.console.row_limits import LimitOption
from sentgen.options import Declaration, Option, Parameter, declared, parameters_of

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
    own = {one.name: one for one in signature.parameters.values()}
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
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def asking(
    declaration: type, parameter: str = "asked", names: Iterable[str] = (), **places: str
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Give a command the options of a declaration in place of one of its parameters (see `sentgen.options`).

    Args:
        declaration: the class; its fields may be annotated with options of Typer, too.
        parameter: the parameter of the command that is replaced.
        names: fields to take, if not all.
        places: other parameters of the command to the options that they follow.
    """
    asked = list(parameters_of(declaration, names))
    options = {one.name: (_annotation(one), _default(one)) for one in asked}

    def make(**given: object) -> object:
        return made_of(declaration, given)

    return lambda function: option_group(function, parameter, options, make, places)


def made_of(declaration: type[Declaration], given: Mapping[str, object]) -> Declaration:
    """Make a declaration of options by name, as Typer reads them; leave out those of others.

    Raises:
        typer.BadParameter: options exclude each other.
    """
    taken = {one.name: one for one in parameters_of(declaration)}
    values = {
        name: value or [] if get_origin(taken[name].kind) is list else value
        for name, value in given.items()
        # A limit that is left out depends on the output; a query that is only checked has none.
        if name in taken and not (value is None and _limits_rows(taken[name]))
    }
    with mistakes():
        return declared(declaration, values)


def _limits_rows(one: Parameter) -> bool:
    return isinstance(one.option, Option) and one.option.rows


def _default(one: Parameter) -> object:
    if one.kind == list[str] and not (isinstance(one.option, Option) and one.option.given):
        return None
    return inspect.Parameter.empty if one.default is MISSING else one.default


def _annotation(one: Parameter) -> object:
    """Return the type and the option as Typer reads them."""
    option, kind = one.option, one.kind
    if not isinstance(option, Option):  # but what Typer reads already
        return Annotated[kind, option]
    if _limits_rows(one):
        return LimitOption
    if one.default is None:
        # Typer has no use for None beside a type: that it may be left out says the default.
        (kind,) = set(get_args(kind)) - {NoneType}
    if kind == int | str:
        kind = str  # which the library reads
    metavar = option.metavar
    if get_origin(kind) is Literal and not option.closed:
        # The library checks the value, and its message says what to do.
        kind, metavar = str, metavar or "|".join(get_args(kind))
    if one.default is None or kind == list[str]:
        kind = kind | None
    told: dict[str, Any] = {"help": option.shell or option.help, "metavar": metavar}
    told |= {"min": option.least, "max": option.most, "rich_help_panel": option.panel}
    if option.argument:
        return Annotated[kind, typer.Argument(**told)]
    return Annotated[kind, typer.Option(*_names(one), **told)]


def _names(one: Parameter) -> list[str]:
    """Return the names of an option on the command line."""
    dashed = one.name.replace("_", "-")
    if get_origin(one.kind) is list and one.option.off:
        return [f"--{dashed}", one.option.off]  # see `sentgen.cli.console.opposites`
    if one.kind == bool | None or one.default is True or one.option.off:
        return [f"--{dashed}/{one.option.off or f'--no-{dashed}'}"]
    return [f"--{dashed}", *([one.option.short] if one.option.short else [])]
