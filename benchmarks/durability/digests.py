"""What a store holds, in a few numbers: two stores with the same digest hold the same rows.

A digest has for each table its rows and the sum of their hashes. Numbers that threads add up in any order are
compared to nine digits. When something happened and how long it took is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import duckdb

from sentgen.schema.engine import open_engine, raw

#: Table to its rows, the sum of their hashes, and the sums of its columns of floating-point numbers.
Digest = dict[str, list[int | float | str]]

#: The digest of a store that is not there, or of one in which nothing was made yet.
NOTHING: Digest = {}

#: Columns that differ from run to run.
_PASSING = ("seconds",)
#: Scores that are no times.
_BUT_TIMES = "metric not like '%-ms'"
_MEMORY = 1 << 30

_COLUMNS = """
select t.table_name, c.column_name, c.data_type
from duckdb_tables() t
join duckdb_columns() c using (database_oid, schema_oid, table_oid)
where t.database_name = current_database()
    and not t.temporary
    and not c.data_type like 'TIMESTAMP%'
order by t.table_name, c.column_index
"""


def digest_of(path: Path, *, read_only: bool) -> Digest:
    """Open a store as every command does, whatever its revision, and return its digest."""
    if not path.exists():
        return NOTHING
    engine = open_engine(path, read_only=read_only, memory_limit=_MEMORY)
    try:
        with engine.connect() as connection:
            return digest(raw(connection))
    finally:
        engine.dispose()


def digest(duck: duckdb.DuckDBPyConnection) -> Digest:
    """Return the digest of what a connection sees."""
    columns: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in duck.execute(_COLUMNS).fetchall():
        columns.setdefault(table, []).append((f'"{column}"', kind))
    return {table: _digest(duck, table, found) for table, found in columns.items()}


def _digest(
    duck: duckdb.DuckDBPyConnection, table: str, columns: list[tuple[str, str]]
) -> list[int | float | str]:
    kept = [(name, kind) for name, kind in columns if name.strip('"') not in _PASSING]
    exact = ", ".join(name for name, kind in kept if kind not in ("DOUBLE", "FLOAT"))
    sums = "".join(
        f", coalesce(sum({name} * (hash({exact}) % 997 + 1)), 0)"
        for name, kind in kept
        if kind in ("DOUBLE", "FLOAT")
    )
    where = f" where {_BUT_TIMES}" if table == "score" else ""
    query = f"select count(*), coalesce(sum(hash({exact})), 0)::varchar{sums} from {table}{where}"
    row = duck.execute(query).fetchone()
    assert row is not None
    return list(row)


def differing(found: Digest, expected: Digest) -> list[str]:
    """Return the tables in which two digests differ, with their rows."""
    tables = sorted({*found, *expected})
    return [
        f"{table}: {found.get(table, ['no table'])[0]} rows, not {expected.get(table, ['no table'])[0]}"
        for table in tables
        if not _same(found.get(table), expected.get(table))
    ]


def same(found: Digest, expected: Mapping[str, list[int | float | str]]) -> bool:
    """Say whether two stores hold the same."""
    return not differing(found, dict(expected))


def _same(found: list[int | float | str] | None, expected: list[int | float | str] | None) -> bool:
    if found is None or expected is None or len(found) != len(expected):
        return False
    return found[:2] == expected[:2] and all(
        math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-9)
        for a, b in zip(found[2:], expected[2:], strict=True)
    )
