"""Rows that are found part by part, held in a table of DuckDB, which goes to the disk where memory ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import duckdb
from sqlalchemy import Connection

from sentgen.lookups.queries import Statement
from sentgen.schema.engine import raw


@contextmanager
def gathered(connection: Connection, name: str, parts: Iterable[Statement]) -> Iterator[None]:
    """Let statements of a connection read the rows of several queries as one table.

    Args:
        connection: the store; what is read only has tables of a connection, too.
        name: of the table.
        parts: queries with the same columns, at least one; each is asked before the next one is made.
    """
    duck, begin = raw(connection), f"create or replace temp table {name} as"
    try:
        for part in parts:
            duck.execute(f"{begin} {part.text}", part.used or None)
            begin = f"insert into {name}"
        yield
    finally:
        # A statement that was cut off has taken its transaction with it, and the table.
        with suppress(duckdb.Error):
            duck.execute(f"drop table if exists {name}")
