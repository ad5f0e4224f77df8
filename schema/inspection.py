"""The named views over the tables, kept as SQL files that say what they and their columns mean.

Views are code: they are created anew in every store that a writer opens after they changed.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

import duckdb

from sentgen.schema.base import metadata
from sentgen.schema.tables import (  # noqa: F401  (they fill the metadata)
    alignment,
    corpus,
    counts,
    fidelity,
    models,
    parses,
    runs,
    saved,
    vectors,
)

#: Alembic's table, whose comment also records which views and comments a store has.
VERSION_TABLE = "alembic_version"
VERSION_COMMENTS = {
    "": "Revision of the schema of this store.",
    "version_num": "Number of the newest migration that was applied.",
}
#: The views that a view reads.
_READ = re.compile(r"\bfrom (v_\w+)")


@dataclass(frozen=True, slots=True)
class View:
    """One view: its SQL and what the head of its file says about it."""

    name: str
    description: str
    columns: dict[str, str]
    sql: str


@cache
def views() -> tuple[View, ...]:
    """Return all views, each after those that it reads."""
    files = resources.files("sentgen.schema").joinpath("views").iterdir()
    parsed = [_parse(f.name[:-4], f.read_text("utf-8")) for f in files if f.name.endswith(".sql")]
    # Creating a view binds it: what it reads must be there.
    names = {view.name for view in parsed}
    read = {view.name: (names - {view.name}).intersection(_READ.findall(view.sql)) for view in parsed}
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


def view_names() -> tuple[str, ...]:
    """Return the names of all views, sorted."""
    return tuple(sorted(view.name for view in views()))


@cache
def _fingerprint() -> str:
    """Return what changes when a view or a comment does."""
    return hashlib.sha256(_script().encode()).hexdigest()[:12]


def apply(duck: duckdb.DuckDBPyConnection) -> None:
    """Create all views anew and write all comments, within the caller's transaction."""
    old = duck.execute(
        "select view_name from duckdb_views() where not internal and view_name like 'v\\_%' escape '\\'"
    )
    # All of them first: a view that sentgen has no more would stay.
    for (name,) in old.fetchall():
        duck.execute(f"drop view {name}")
    duck.execute(_script())
    duck.execute(f"comment on table {VERSION_TABLE} is '{marker()}'")


def marker() -> str:
    """Return the comment of the version table in a store with the current views and comments."""
    return f"{VERSION_COMMENTS['']} Views and comments: {_fingerprint()}."


@cache
def _script() -> str:
    comments = [_comment("column", f"{VERSION_TABLE}.version_num", VERSION_COMMENTS["version_num"])]
    for table in metadata.sorted_tables:
        comments.append(_comment("table", table.name, table.comment or ""))
        comments += [_comment("column", f'{table.name}."{c.name}"', c.comment or "") for c in table.columns]
    for view in views():
        comments += [view.sql, _comment("view", view.name, view.description)]
        comments += [_comment("column", f'{view.name}."{name}"', text) for name, text in view.columns.items()]
    return "\n".join(comments)


def _comment(kind: str, name: str, text: str) -> str:
    quoted = text.replace("'", "''")
    return f"comment on {kind} {name} is '{quoted}';"
