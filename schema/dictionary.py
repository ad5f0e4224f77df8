"""The data dictionary: every table and view of a store, and the meaning of each of its columns.

Views are SQL files, whose head describes the view and its columns. They are code: a writer creates them anew
when it opens a store in which they differ.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources

import duckdb

from sentgen.errors import NotFoundError
from sentgen.output.tabular import Rows
from sentgen.schema.base import literal, metadata
from sentgen.schema.engine import new_engine, raw
from sentgen.schema.tables import (  # noqa: F401  (they fill the metadata)
    alignment,
    corpus,
    counts,
    fidelity,
    models,
    parses,
    runs,
    saved,
)

#: Alembic's table, whose comment also records which views and comments a store has.
VERSION_TABLE = "alembic_version"
_VERSION_COMMENTS = {
    "": "Revision of the schema of this store.",
    "version_num": "Number of the newest migration that was applied.",
}
#: The views that a view reads.
_READ = re.compile(r"\bfrom (v_\w+)")


@dataclass(frozen=True, slots=True)
class View:
    """A view: its SQL, and the descriptions in the head of its file."""

    name: str
    description: str
    columns: dict[str, str]
    sql: str


@cache
def views() -> tuple[View, ...]:
    """Return all views, each after those that it reads."""
    files = resources.files("sentgen.schema").joinpath("views").iterdir()
    parsed = [_parse(f.name[:-4], f.read_text("utf-8")) for f in files if f.name.endswith(".sql")]
    # Creating a view binds it: the views that it reads must exist.
    known = {view.name for view in parsed}
    read = {view.name: (known - {view.name}).intersection(_READ.findall(view.sql)) for view in parsed}
    return tuple(sorted(parsed, key=lambda view: (_depth(view.name, read), view.name)))


def _parse(name: str, text: str) -> View:
    description: list[str] = []
    columns: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        if match := re.fullmatch(r"-- (\w+): (.+)", line):
            columns[match[1]] = match[2]
        else:
            description.append(line.removeprefix("-- "))
    return View(name, " ".join(description), columns, text)


def _depth(name: str, read: dict[str, set[str]]) -> int:
    return 1 + max((_depth(other, read) for other in read[name]), default=0)


def apply(duck: duckdb.DuckDBPyConnection) -> None:
    """Create all views anew and write all comments, within the caller's transaction."""
    old = duck.execute(
        "select view_name from duckdb_views() where not internal and view_name like 'v\\_%' escape '\\'"
    )
    # All views are dropped first, also those that sentgen does not have any more.
    for (name,) in old.fetchall():
        duck.execute(f"drop view {name}")
    duck.execute(_script())
    duck.execute(f"comment on table {VERSION_TABLE} is '{marker()}'")


@cache
def marker() -> str:
    """Return the comment of the version table in a store with the current views and comments."""
    fingerprint = hashlib.sha256(_script().encode()).hexdigest()[:12]
    return f"{_VERSION_COMMENTS['']} Views and comments: {fingerprint}."


@cache
def _script() -> str:
    comments = [_comment("column", f"{VERSION_TABLE}.version_num", _VERSION_COMMENTS["version_num"])]
    for table in metadata.sorted_tables:
        comments.append(_comment("table", table.name, table.comment or ""))
        comments += [_comment("column", f'{table.name}."{c.name}"', c.comment or "") for c in table.columns]
    for view in views():
        comments += [view.sql, _comment("view", view.name, view.description)]
        comments += [_comment("column", f'{view.name}."{name}"', text) for name, text in view.columns.items()]
    return "\n".join(comments)


def _comment(kind: str, name: str, text: str) -> str:
    return f"comment on {kind} {name} is {literal(text)};"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table or view."""

    name: str
    type: str
    nullable: bool
    description: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view; ``kind`` says which."""

    name: str
    kind: str
    description: str
    columns: tuple[Column, ...]

    @property
    def rows(self) -> Rows:
        """Return the columns of the table or view with their descriptions."""
        table = [
            (column.name, column.type.lower(), "yes" if column.nullable else "no", column.description)
            for column in self.columns
        ]
        return Rows(("column", "type", "nullable", "description"), table)

    @classmethod
    def named(cls, name: str) -> Relation:
        """Return the table or view of a name.

        Raises:
            NotFoundError: there is no table or view of that name.
        """
        for candidate in relations():
            if candidate.name == name.lower():
                return candidate
        close = get_close_matches(name.lower(), names(), n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise NotFoundError(f"no table or view {name!r}{hint} (sentgen schema lists them)")


@cache
def relations() -> tuple[Relation, ...]:
    """Return all views, then all tables, sorted by name."""
    descriptions, of_views = _descriptions(), {view.name for view in views()}
    columns: dict[str, list[Column]] = {}
    for table, name, kind, nullable in _catalogue():
        columns.setdefault(table, []).append(Column(name, kind, nullable, descriptions[table].get(name, "")))
    listed = [
        Relation(name, "view" if name in of_views else "table", descriptions[name][""], tuple(of))
        for name, of in columns.items()
    ]
    return tuple(sorted(listed, key=lambda relation: (relation.kind == "table", relation.name)))


@cache
def names() -> frozenset[str]:
    """Return the names of all tables and views, without looking up their types."""
    return frozenset(_descriptions())


def relation_rows(rows: Mapping[str, int]) -> Rows:
    """Return all tables and views with their descriptions; ``rows``: number of rows of tables, if known."""
    table = [(listed.name, listed.kind, rows.get(listed.name), listed.description) for listed in relations()]
    return Rows(("name", "kind", "rows", "description"), table)


def _descriptions() -> dict[str, dict[str, str]]:
    """Return relation to column to description; the relation itself is described under the empty name."""
    descriptions = {VERSION_TABLE: dict(_VERSION_COMMENTS)}
    for table in metadata.sorted_tables:
        descriptions[table.name] = {"": table.comment or ""} | {
            c.name: c.comment or "" for c in table.columns
        }
    for view in views():
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
            for view in views():
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
