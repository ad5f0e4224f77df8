"""The command line that asks what a declaration asks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from sentgen.options import NOT, values_of
from sentgen.schema.placeholders import written

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def command_line(command: str, asked: DataclassInstance, number: str = "") -> str:
    """Return a command with its options; those that have their defaults are left out.

    Args:
        command: its words, without ``sentgen``.
        asked: what it is asked.
        number: stands behind the name of a file, where the command reads a text from one.
    """
    words, options = ["sentgen", *command.split()], list[str]()
    for one, value in values_of(asked):
        option = one.option
        if value is None or option.line in ("hidden", "each"):
            continue
        # What is a number or a word is told as text by the command line.
        same = value == one.default or str(value) == str(one.default)
        if same and not (option.argument and value):
            continue
        place, named = (words, []) if option.argument else (options, [one.dashed])
        if option.file:  # a text is too long for a command line
            place += [*named, f"{option.file}{number}"]
        elif isinstance(value, bool):
            options.append(one.dashed if value else one.off)
        elif option.line == "named":
            by_name = value if isinstance(value, dict) else {str(i): each for i, each in enumerate(value, 1)}
            for each in by_name.items():
                options += [option.short, written(*each)]
        else:
            for text in map(str, value if isinstance(value, list) else [value]):
                turned = bool(option.off) and text.startswith(NOT)
                place += [option.off, text.removeprefix(NOT)] if turned else [*named, text]
    return shlex.join([*words, *options])
