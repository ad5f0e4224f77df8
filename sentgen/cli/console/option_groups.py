"""Groups of options that several commands share, each declared once and taken as one parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Result = TypeVar("Result")


def option_group(
    function: Callable[..., Result],
    parameter: str,
    options: Mapping[str, tuple[Any, Any]],
    make: Callable[..., object],
) -> Callable[..., Result]:
    """Return a command that has options in place of one of its parameters.

    Args:
        function: the command.
        parameter: the parameter that is replaced.
        options: name of each option to its annotation, as Typer reads it, and its default.
        make: takes the options by name and returns what the command gets.
    """
    signature = inspect.signature(function, eval_str=True)
    kept = [one for one in signature.parameters.values() if one.name != parameter]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]

    @functools.wraps(function)
    def command(*arguments: Any, **given: Any) -> Result:
        chosen = {name: given.pop(name, default) for name, (_, default) in options.items()}
        return function(*arguments, **given, **{parameter: make(**chosen)})

    del command.__wrapped__  # else Typer would read the old signature
    parameters = [*kept, *added]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command
