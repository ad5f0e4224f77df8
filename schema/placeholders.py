"""Values of the parameters of a query (``?``, ``$name``), as they are written on a command line."""

from __future__ import annotations

import json
from typing import NoReturn

from sentgen.errors import InputError

Value = str | int | float | bool | None


def parse_parameter(text: str) -> tuple[str, Value]:
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


def _value(text: str) -> Value:
    try:
        parsed = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(parsed, (list, dict)) else parsed


def _refuse(name: str) -> NoReturn:
    # Words to people, and no JSON either, though Python reads them.
    raise ValueError(name)


def format_parameter(name: str, value: Value) -> str:
    """Return what `parse_parameter` reads.

    >>> [format_parameter(*pair) for pair in (("1", 5), ("1", "5"), ("corpus", "ewt"), ("x", None))]
    ['1=5', '1="5"', 'corpus=ewt', 'x=null']
    """
    plain = isinstance(value, str) and _value(value) == value and not value.startswith('"')
    return f"{name}={value if plain else json.dumps(value, ensure_ascii=False)}"
