"""The metadata that every table of the store hangs on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import Column, Integer, MetaData, Table
from sqlalchemy.types import TypeEngine, UserDefinedType

T = TypeVar("T")

metadata = MetaData()


class OneOf(UserDefinedType[str]):
    """A type for one of a few strings: an enum in a store, a string in a lake."""

    cache_ok = True

    def __init__(self, *strings: str) -> None:
        self.strings = strings

    def get_col_spec(self, **_: object) -> str:
        """Return the type in SQL."""
        listed = ", ".join(f"'{string}'" for string in self.strings)
        return f"ENUM({listed})"


def column(
    name: str,
    kind: type[TypeEngine[T]] | TypeEngine[T],
    comment: str,
    *,
    nullable: bool = False,
    unique: bool | None = None,
    primary_key: bool = False,
) -> Column[T]:
    """Declare a column that has a description; not null unless said otherwise.

    Keys are never declared as constraints on the large tables: DuckDB would build an index in memory.
    ``sentgen db check`` tests them instead.
    """
    return Column(
        name,
        kind,
        comment=comment,
        nullable=nullable,
        unique=unique,
        primary_key=primary_key,
        autoincrement=False,  # ids come from `next_id`; left on, the dialect makes a sequence for each key
    )


def key(comment: str) -> Column[int]:
    """Declare the integer primary key of a small table."""
    return column("id", Integer, comment, primary_key=True)


def quote_identifier(name: str) -> str:
    """Quote an identifier for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a string as an SQL literal."""
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def row_digest(table: Table, database: str = "main") -> str:
    """Return the query for the number of rows of a table and the sum of their hashes, in any order.

    Args:
        database: the schema of the table, behind the name of an attached database if it is in one.
    """
    columns = ", ".join(quote_identifier(column.name) for column in table.columns)
    return f"select count(*), sum(hash({columns})) from {database}.{table.name}"


def now(*, exact: bool = False) -> datetime:
    """Return the current time as the store keeps it: UTC, without a zone, in seconds.

    Args:
        exact: whether to keep microseconds, for rows that are identified by their time.
    """
    time = datetime.now(UTC).replace(tzinfo=None)
    return time if exact else time.replace(microsecond=0)
