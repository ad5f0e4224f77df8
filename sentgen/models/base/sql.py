"""Read the SQL files beside the code: named statements with ``{placeholders}``.

A statement begins with a line ``-- name: NAME`` and ends at the next one. Placeholders are lists of columns,
numbers and expressions that the code makes, never text of a user.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from sqlalchemy import Connection

from sentgen.schema.store import raw


@cache
def statements(file: str) -> dict[str, str]:
    """Return the statements of a file by name."""
    text = resources.files("sentgen.models").joinpath(file).read_text(encoding="utf-8")
    by_name: dict[str, str] = {}
    # The text before the first name describes the file.
    for part in text.split("-- name: ")[1:]:
        name, _, body = part.partition("\n")
        by_name[name.strip()] = body.strip()
    return by_name


def run(connection: Connection, file: str, statement: str, **values: object) -> list[tuple[Any, ...]]:
    """Run a named statement and return its rows."""
    return rows(connection, statements(file)[statement].format(**values))


def rows(connection: Connection, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Run a statement on the underlying DuckDB connection and return its rows."""
    return list(raw(connection).execute(query, parameters).fetchall())


#: Up to this many numbers are written as literals, for which DuckDB reads few row groups.
_LITERALS = 64


def among(column: str, numbers: Sequence[int], name: str = "bits") -> tuple[str, dict[str, bytes]]:
    """Return the SQL condition that a column is one of some ascending numbers, and its parameters."""
    if len(numbers) <= _LITERALS:
        return f"{column} in ({', '.join(str(int(number)) for number in numbers)})", {}
    return among_bits(column, numbers, name)


def among_bits(column: str, numbers: Sequence[int], name: str = "bits") -> tuple[str, dict[str, bytes]]:
    """Return the same condition as a look-up in a bit string, which takes no time to plan.

    It costs a third of a list, for which DuckDB reads all columns before it filters.
    """
    first, last = int(numbers[0]), int(numbers[-1])
    bits = np.zeros(last + 2, np.bool_)  # the last bit is for all greater numbers
    bits[numbers] = True
    within = f"get_bit(${name}::blob::bit, least({column}, {last + 1})) = 1"
    return f"{column} between {first} and {last} and {within}", {name: np.packbits(bits).tobytes()}


def words(n: int, *, start: int = 1, prefix: str = "") -> str:
    """Return a list of word columns.

    >>> words(2), words(2, start=2, prefix="g.")
    ('w1, w2', 'g.w2, g.w3')
    """
    return ", ".join(f"{prefix}w{i}" for i in range(start, start + n))


def matching(left: str, right: str, n: int, *, skip: int = 0) -> str:
    """Return the condition that n words of two relations agree; ``skip`` passes over words of the left one.

    >>> matching("g", "l", 2, skip=1)
    'g.w2 = l.w1 and g.w3 = l.w2'
    """
    return " and ".join(f"{left}.w{i + skip} = {right}.w{i}" for i in range(1, n + 1))
