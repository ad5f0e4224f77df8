"""Options that are given again and again, and their opposites: ``--within 3L`` and ``--without 3L``.

Both are values of one list, so that their order is kept; those of the opposite begin with ``not``.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any

from typer._click import Command, Context, Parameter

from sentgen.options import NOT


def with_opposites(command: Command) -> None:
    """Let a command tell options from their opposites."""
    for option in command.params:
        if len(option.opts) == 2 and getattr(option, "multiple", False):
            option.add_to_parser = partial(_add, option)  # type: ignore[method-assign]


def _add(option: Parameter, parser: Any, context: Context) -> None:
    """Add an option to a parser, with an opposite that says so of its value."""
    type(option).add_to_parser(option, parser, context)
    name = option.opts[1]
    opposite = copy(parser._long_opt[name])
    opposite.process = partial(_process, parser._long_opt[name])
    parser._long_opt[name] = opposite


def _process(option: Any, value: object, state: object) -> None:
    option.process(f"{NOT}{value}", state)
