"""The data dictionary: every table and view of a store, and what each of its columns means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

import duckdb

from sentgen.errors import NotFoundError
from sentgen.output.tabular import Rows
from sentgen.schema import inspection
from sentgen.schema.base import metadata
from sentgen.schema.engine import new_engine, raw
from sentgen.schema.inspection import VERSION_COMMENTS, VERSION_TABLE


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table or view."""

    name: str
    type: str
    nullable: bool
    description: str


@dataclass(frozen=True, slots=True)
class Relation:
    """One table or view; ``kind`` says which."""

    name: str
    kind: str
    description: str
    columns: tuple[Column, ...]

    @property
    def rows(self) -> Rows:
        """Return the columns of a table or view with what they mean."""
        table = [
            (column.name, column.type.lower(), "yes" if column.nullable else "no", column.description)
            for column in self.columns
        ]
        return Rows(("column", "type", "nullable", "description"), table)


@cache
def relations() -> tuple[Relation, ...]:
    """Return all views, then all tables, sorted by name."""
    descriptions = _descriptions()
    columns: dict[str, list[Column]] = {}
    for table, name, kind, nullable in _catalogue():
        columns.setdefault(table, []).append(Column(name, kind, nullable, descriptions[table].get(name, "")))
    found = [
        Relation(
            name, "view" if name in inspection.view_names() else "table", descriptions[name][""], tuple(of)
        )
        for name, of in columns.items()
    ]
    return tuple(sorted(found, key=lambda relation: (relation.kind == "table", relation.name)))


@cache
def names() -> frozenset[str]:
    """Return the names of all tables and views, without looking up their types."""
    return frozenset(_descriptions())


def relation(name: str) -> Relation:
    """Return one table or view.

    Raises:
        NotFoundError: there is none of that name.
    """
    for candidate in relations():
        if candidate.name == name.lower():
            return candidate
    close = get_close_matches(name.lower(), names(), n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise NotFoundError(f"no table or view {name!r}{hint} (sentgen schema lists them)")


def relation_rows(rows: Mapping[str, int]) -> Rows:
    """Return all tables and views with what they hold; ``rows`` are those of each table, where known."""
    table = [(listed.name, listed.kind, rows.get(listed.name), listed.description) for listed in relations()]
    return Rows(("name", "kind", "rows", "description"), table)


def _descriptions() -> dict[str, dict[str, str]]:
    """Return relation to column to description; the relation itself is described under the empty name."""
    descriptions = {VERSION_TABLE: dict(VERSION_COMMENTS)}
    for table in metadata.sorted_tables:
        descriptions[table.name] = {"": table.comment or ""} | {
            c.name: c.comment or "" for c in table.columns
        }
    for view in inspection.views():
        descriptions[view.name] = {"": view.description} | view.columns
    return descriptions


def _catalogue() -> list[tuple[str, str, str, bool]]:
    """Return table, column, type and nullability as DuckDB sees them in an empty store in memory."""
    # Only DuckDB knows the types of the columns of a view.
    engine = new_engine(None, {}, read_only=False, memory_limit=0)
    try:
        with engine.begin() as connection:
            metadata.create_all(connection)
            duck = raw(connection)
            duck.execute(f"create table {VERSION_TABLE} (version_num varchar not null)")
            for view in inspection.views():
                duck.execute(view.sql)
            return catalogue(duck)
    finally:
        engine.dispose()


def catalogue(duck: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str, bool]]:
    """Return table, column, type and nullability of all columns of a store, in their order."""
    return duck.execute(
        """
        select table_name, column_name, data_type, is_nullable
        from duckdb_columns()
        where not internal
            and database_name = current_database()
        order by table_name, column_index
        """
    ).fetchall()
