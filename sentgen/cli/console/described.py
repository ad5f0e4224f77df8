"""A command as its help and its completion need it: made of the table of commands, without its import."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sentgen.cli.commands import Told

#: The kinds of values by what the table calls them; a list there is one of choices.
KINDS: dict[str, Any] = {
    "bool": bool,
    "float": float,
    "int": int,
    "list[str]": list[str],
    "Path": Path,
    "str": str,
}


def taking(options: Sequence[Told]) -> Callable[..., None]:
    """Return a function that takes what the table tells, and does nothing with it."""

    def command(**_: object) -> None: ...

    signature = inspect.Signature([_parameter(**one) for one in options])
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    return command


def _parameter(
    *,
    name: str,
    kind: str | list[str],
    default: object = inspect.Parameter.empty,
    names: Sequence[str] = (),
    **settings: Any,
) -> inspect.Parameter:
    """Return a parameter as commands declare theirs; without names of an option it is an argument."""
    known = KINDS[kind] if isinstance(kind, str) else Literal[tuple(kind)]
    about = typer.Option(*names, **settings) if names else typer.Argument(**settings)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[known, about]
    )
