"""Options that may stand once are refused where they stand twice: one of the values would be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup

#: What a context holds in which later options are meant to take the place of earlier ones.
LATER_WINS = "later options win"


def given_once(command: TyperCommand | TyperGroup) -> None:
    """Let a command refuse options that are given again, but for those that are lists."""
    command.parse_args = partial(_parse, command.parse_args)  # type: ignore[method-assign]


def _parse(parse: Callable[[Any, list[str]], list[str]], context: Any, words: list[str]) -> list[str]:
    if not context.resilient_parsing and context.obj != LATER_WINS:
        refuse_repeated(context, words)
    return parse(context, words)


def refuse_repeated(context: Any, words: Sequence[str]) -> None:
    """Refuse words in which an option that is no list stands twice, as a mistake in the command line."""
    _, _, order = context.command.make_parser(context).parse_args(list(words))
    numbers = Counter(map(id, order))
    for option in order:
        lists = getattr(option, "multiple", False) or option.param_type_name == "argument"
        if numbers[id(option)] > 1 and not lists and option.name not in context.help_option_names:
            name = max(option.opts, key=len)
            context.fail(f"{name} is given {numbers[id(option)]} times, and takes one value; give it once")
