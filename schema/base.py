"""The metadata that every table of the store hangs on."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Integer, MetaData
from sqlalchemy.types import TypeEngine

metadata = MetaData()


def column(
    name: str, kind: type[TypeEngine[Any]] | TypeEngine[Any], comment: str, **options: Any
) -> Column[Any]:
    """Declare a column that has a description; not null unless said otherwise.

    Keys are never declared as constraints on the large tables: DuckDB would build an index in memory.
    ``sentgen db check`` tests them instead.
    """
    options.setdefault("nullable", False)
    if options.get("primary_key"):
        # Ids come from `next_id`; left on, the dialect makes a sequence for each key.
        options.setdefault("autoincrement", False)
    return Column(name, kind, comment=comment, **options)


def key(comment: str) -> Column[Any]:
    """Declare the integer primary key of a small table."""
    return column("id", Integer, comment, primary_key=True)


def quoted(name: str) -> str:
    """Quote an identifier for SQL."""
    return '"' + name.replace('"', '""') + '"'
