"""Values that Typer need not check: what was left out, any text where text is wanted, files that can be read.

For all others Typer imports pydantic, which takes 0.05 CPU s of a command; these come out as from there.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperCommand, TyperGroup


def unchecked(command: TyperCommand | TyperGroup) -> None:
    """Let a command take values that cannot be wrong without Typer's looking at them."""
    taken = inspect.signature(command.callback).parameters if command.callback else {}
    kinds = {name: getattr(one.annotation, "__origin__", None) for name, one in taken.items()}
    command.get_params = partial(_parameters, command.get_params, kinds)  # type: ignore[method-assign]


def _parameters(get: Callable[[Any], list[Any]], kinds: Mapping[str, Any], context: Any) -> list[Any]:
    """Return the parameters of a command, with those that Typer adds when it first asks for them."""
    found = get(context)
    for one in found:
        if "process_value" not in vars(one):
            kind = kinds.get(one.name)
            one.process_value = partial(_process, one.process_value, one, {kind, *get_args(kind)})
    return found


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
