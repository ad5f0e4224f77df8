"""Options that are given again and again, and their opposites: ``--within 3L`` and ``--without 3L``.

Both are values of one list, so that their order is kept; those of the opposite begin with ``not``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from typer.core import TyperCommand, TyperGroup

from sentgen.options import NOT


def with_opposites(command: TyperCommand | TyperGroup) -> None:
    """Let a command tell options from their opposites."""
    opposites = {
        option.opts[1]: option.opts[0]
        for option in command.params
        # The other name may be a short one of the same.
        if [name[:2] for name in option.opts] == ["--", "--"] and getattr(option, "multiple", False)
    }
    if opposites:
        command.parse_args = partial(_parse, command.parse_args, opposites)  # type: ignore[method-assign]


def _parse(
    parse: Callable[[Any, list[str]], list[str]], opposites: Mapping[str, str], context: Any, words: list[str]
) -> list[str]:
    return parse(context, list(_told(words, opposites)))


def _told(words: list[str], opposites: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of a command line, an opposite as the option whose value says so.

    >>> list(_told(["a", "--without", "3L", "--without=b", "--", "--without"], {"--without": "--within"}))
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
            # Without a value it is refused as the other one.
            yield from (f"{NOT}{value}" for value in islice(following, 1))
    yield from following
