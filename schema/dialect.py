"""DuckDB for SQLAlchemy, as far as the store needs it: PostgreSQL's SQL over one connection.

`duckdb-sqlalchemy` has 8,000 lines (types, reflection, MotherDuck, bulk copies) and asks for DuckDB below 2.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any, cast

import duckdb
from sqlalchemy import Connection, text
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.engine.interfaces import DBAPIConnection, IsolationLevel

from sentgen.extensions import NEVER_LOADED

#: What URLs of `create_engine` begin with. Plain ``duckdb`` is left to other packages.
DRIVER = "duckdb+sentgen"
#: Seconds after which a connection that another thread uses is asked again.
_BUSY = 0.001


class DuckCursor:
    """Run one statement, and keep its rows.

    Read at once: DuckDB has one open result for each connection. Other work,
    like the registration of a table, is refused until it is read to its end.
    Whoever reads more than fits into memory reads Arrow in batches (`engine.arrow_reader`).
    """

    arraysize = 1

    def __init__(self, duck: duckdb.DuckDBPyConnection) -> None:
        self._duck = duck
        #: Names and types of the columns; none for a statement that changes rows.
        self.description: list[tuple[Any, ...]] | None = None
        #: Rows that were changed.
        self.rowcount = -1
        self._rows: list[tuple[Any, ...]] = []
        self._next = 0

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement."""
        self._duck.execute(statement, parameters or None)
        rows, self._next = self._duck.fetchall(), 0
        changes = statement[:6].lower() in ("insert", "update", "delete")
        if changes and len(rows) == 1 and self._duck.description[0][0] == "Count":
            self.description, self.rowcount, self._rows = None, rows[0][0], []
        else:
            self.description, self._rows = self._duck.description, rows

    def executemany(self, statement: str, parameters: Sequence[Sequence[object]]) -> None:
        """Run a statement for each row of values."""
        self._duck.executemany(statement, parameters)
        self.description, self._rows = None, []

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, if there is one."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int = arraysize) -> list[tuple[Any, ...]]:
        """Return the next rows."""
        rows = self._rows[self._next : self._next + size]
        self._next += len(rows)
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all other rows."""
        return self.fetchmany(len(self._rows))

    def close(self) -> None:
        """Let go of the rows."""
        self._rows = []


class DuckConnection:
    """A connection as SQLAlchemy uses it."""

    def __init__(self, duck: duckdb.DuckDBPyConnection) -> None:
        #: DuckDB's own, in the same transaction.
        self.duck = duck
        self.is_autocommitting = False

    def cursor(self) -> DuckCursor:
        """Return what runs a statement."""
        return DuckCursor(self.duck)

    def begin(self) -> None:
        """Begin a transaction."""
        if not self.is_autocommitting:
            self.duck.begin()

    def commit(self) -> None:
        """Commit it, if there is one."""
        if not self.is_autocommitting:
            self.duck.commit()

    def rollback(self) -> None:
        """Roll it back, if there is one: SQLAlchemy does so with every connection that it is given back.

        Another thread may use it: then DuckDB refuses.
        """
        while True:
            try:
                with suppress(duckdb.TransactionException):
                    self.duck.rollback()
            except duckdb.Error as error:
                if "connection is busy" not in str(error):
                    raise
                time.sleep(_BUSY)
            else:
                return

    def close(self) -> None:
        """Close it."""
        self.duck.close()


class DuckDialect(PGDialect):
    """What SQLAlchemy and Alembic ask of a database."""

    name = "duckdb"
    driver = "sentgen"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_server_side_cursors = False
    supports_sane_multi_rowcount = False
    default_isolation_level: IsolationLevel = "SERIALIZABLE"

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Return the module with the classes of errors."""
        return duckdb

    def connect(self, *words: Any, config: dict[str, Any], **options: Any) -> DBAPIConnection:
        """Open the store."""
        opened = duckdb.connect(*words, config={**NEVER_LOADED, **config}, **options)  # type: ignore[misc]
        return cast(DBAPIConnection, DuckConnection(opened))

    def initialize(self, connection: Connection) -> None:
        """Ask the database nothing: it is no PostgreSQL."""

    def do_begin(self, dbapi_connection: Any) -> None:
        """Begin a transaction, which DuckDB has to be told."""
        dbapi_connection.begin()

    def get_isolation_level_values(self, dbapi_conn: DBAPIConnection) -> Sequence[IsolationLevel]:
        """Return what may be set."""
        return (self.default_isolation_level, "AUTOCOMMIT")

    def set_isolation_level(self, dbapi_connection: Any, level: IsolationLevel) -> None:
        """Have transactions, or have each statement commit by itself."""
        dbapi_connection.is_autocommitting = level == "AUTOCOMMIT"

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> bool:
        """Return whether there is a table; Alembic looks for its own."""
        query = text("select count(*) from duckdb_tables() where table_name = :name and schema_name = 'main'")
        return bool(connection.execute(query, {"name": table_name}).scalar())


registry.register(DRIVER.replace("+", "."), __name__, DuckDialect.__name__)
