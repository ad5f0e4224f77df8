"""How many rows come out: as many as ``--limit`` says; else some in a table for reading, all for programs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from sentgen.cli.console.output import Output

Result = TypeVar("Result")

_TOLD = "Rows to show; 0 for all."
_LIMIT = typer.Option("--limit", "-n", min=0, help=_TOLD)
#: A limit of rows, which `limited` knows by this option: another parameter may be called ``limit``, too.
LimitOption = Annotated[int, _LIMIT]


def limited(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return a command whose default limit of rows holds for tables for reading alone.

    What a program reads is all there is, as it does not see that there is more.
    """
    # Annotations are text, as all modules import `annotations` from the future.
    signature = inspect.signature(function, eval_str=True)
    defaults = {one.name: one.default for one in signature.parameters.values() if _is_limit(one)}

    @functools.wraps(function)
    def command(*arguments: object, out: Output, **given: object) -> Result:
        for name, default in defaults.items():
            if given.get(name) is None:
                # A graph is one of so many collocates, and never of all.
                given[name] = default if out.for_reading or given.get("graph") else 0
        return function(*arguments, out=out, **given)

    taken = [_told(one) if one.name in defaults else one for one in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=taken)  # type: ignore[attr-defined]
    return command


def _is_limit(one: inspect.Parameter) -> bool:
    return any(about is _LIMIT for about in getattr(one.annotation, "__metadata__", ()))


def _told(one: inspect.Parameter) -> inspect.Parameter:
    """Return a limit that may be left out, and says what that means."""
    if not one.default:
        return one
    told = f"{_TOLD} Default: {one.default} in tables, all in formats for programs."
    option = typer.Option("--limit", "-n", min=0, help=told)
    return one.replace(annotation=Annotated[int | None, option], default=None)
