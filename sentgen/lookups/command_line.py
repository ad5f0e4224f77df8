"""Command lines: parameters of SQL as ``NAME=VALUE``, the command for a question, and saved queries."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, NoReturn

from sentgen.errors import InputError
from sentgen.options import NOT, values_of
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.tables.saved import SavedQuery

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


SqlValue = str | int | float | bool | None


def parse_parameter(text: str) -> tuple[str, SqlValue]:
    """Read ``NAME=VALUE``; the first ``?`` of a query has the name 1.

    A value is a number, ``true``, ``false`` or ``null``, and else text; in double quotes it is always text.

    >>> [parse_parameter(text) for text in ("corpus=ewt", "1=5", '1="5"', "x=a=b")]
    [('corpus', 'ewt'), ('1', 5), ('1', '5'), ('x', 'a=b')]

    Raises:
        InputError: there is no name.
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InputError(
            f"{text[:40]!r} names no parameter; write NAME=VALUE for $NAME, and 1=VALUE for the first ?"
        )
    return name, _value(value)


def _value(text: str) -> SqlValue:
    try:
        parsed = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(parsed, (list, dict)) else parsed


def _refuse(name: str) -> NoReturn:
    # Python reads NaN and Infinity; they are not JSON, and a user means them as words.
    raise ValueError(name)


def format_parameter(name: str, value: SqlValue) -> str:
    """Write a parameter as ``NAME=VALUE``, so that `parse_parameter` reads the same.

    >>> [format_parameter(*pair) for pair in (("1", 5), ("1", "5"), ("corpus", "ewt"), ("x", None))]
    ['1=5', '1="5"', 'corpus=ewt', 'x=null']
    """
    plain = isinstance(value, str) and _value(value) == value and not value.startswith('"')
    return f"{name}={value if plain else json.dumps(value, ensure_ascii=False)}"


def command_line(command: str, question: DataclassInstance, number: str = "") -> str:
    """Return the command line for a question; options with their default values are left out.

    Args:
        command: words of the command, without ``sentgen``.
        question: the question that the command asks.
        number: a suffix for the names of files from which the command reads a text.
    """
    words, options = ["sentgen", *command.split()], list[str]()
    for parameter, value in values_of(question):
        option = parameter.option
        if value is None or option.line in ("hidden", "each"):
            continue
        # Values of a command line are text, whatever their type.
        same = value == parameter.default or str(value) == str(parameter.default)
        if same and not (option.argument and value):
            continue
        target, named = (words, []) if option.argument else (options, [parameter.dashed])
        if option.file:  # a text is too long for a command line
            target += [*named, f"{option.file}{number}"]
        elif isinstance(value, bool):
            options.append(parameter.dashed if value else parameter.off)
        elif option.line == "named":
            by_name = value if isinstance(value, dict) else {str(i): each for i, each in enumerate(value, 1)}
            for each in by_name.items():
                options += [option.short, format_parameter(*each)]
        else:
            for text in map(str, value if isinstance(value, list) else [value]):
                turned = bool(option.off) and text.startswith(NOT)
                target += [option.off, text.removeprefix(NOT)] if turned else [*named, text]
    return shlex.join([*words, *options])


def saved_rows(store: Store) -> Rows:
    """Return all saved queries as a table: name, command line and when each was saved."""
    with store.connect() as connection:
        rows = [(query.name, query.line, query.saved_at) for query in SavedQuery.all(connection)]
    return Rows(("name", "query", "saved_at"), rows)
