"""The vectors of a store: find, list and remove them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from sentgen.errors import NotFoundError
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.tables.vectors import vector_space, word_vector

_COLUMNS = (
    *("name", "corpora", "contexts", "window", "dimensions", "min_count"),
    *("smoothing", "shift", "power", "seed", "tokens", "words", "cells", "created_at"),
)


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    """A named set of vectors as it was built; columns of `vector_space`, ``corpora`` by their names."""

    id: int
    name: str
    corpora: tuple[str, ...]
    contexts: str
    window: int
    dimensions: int
    min_count: int
    smoothing: float
    shift: float
    power: float
    seed: int
    tokens: int
    words: int
    cells: int
    created_at: datetime


def _list_spaces(connection: Connection) -> list[SpaceInfo]:
    """Return all vectors, by name."""
    rows = connection.execute(select(vector_space).order_by(vector_space.c.name)).mappings()
    return [_space(dict(row)) for row in rows]


def _space(row: dict[str, Any]) -> SpaceInfo:
    # "window" means something to SQL, so that it is no name for a column.
    window, corpora = row.pop("reach"), tuple(row.pop("corpora").splitlines())
    return SpaceInfo(**row, window=window, corpora=corpora)


def find_space(connection: Connection, name: str | None) -> SpaceInfo:
    """Return the vectors of a name, or those that were built last.

    Raises:
        NotFoundError: there are none.
    """
    found = _list_spaces(connection)
    if name is None and found:
        return max(found, key=lambda space: space.id)
    for one in found:
        if one.name == name:
            return one
    there = ", ".join(one.name for one in found)
    told = f"there are: {there}" if there else "build some with: sentgen vectors build NAME --corpus CORPUS"
    raise NotFoundError(f"no vectors{'' if name is None else f' {name!r}'}; {told}")


def overview(store: Store, name: str | None = None) -> Rows:
    """Return all vectors, or those of a name, with their settings.

    Raises:
        NotFoundError: there are none of that name.
    """
    with store.connect() as connection:
        found = _list_spaces(connection) if name is None else [find_space(connection, name)]
    rows = [
        tuple(", ".join(one.corpora) if name == "corpora" else getattr(one, name) for name in _COLUMNS)
        for one in found
    ]
    return Rows(_COLUMNS, rows)


def remove(store: Store, name: str) -> SpaceInfo:
    """Remove vectors, and return what they were.

    Raises:
        NotFoundError: there are none of that name.
    """
    with store.begin() as connection:
        found = find_space(connection, name)
        connection.execute(delete(word_vector).where(word_vector.c.space_id == found.id))
        connection.execute(delete(vector_space).where(vector_space.c.id == found.id))
    return found
