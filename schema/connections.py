"""Interrupted statements: Ctrl-C becomes a KeyboardInterrupt; and internal errors of DuckDB.

While a statement runs, the thread that waits for it receives no signal: with several threads, DuckDB checks
for one only now and then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb


def interrupt(duck: duckdb.DuckDBPyConnection) -> None:
    """End the statement that a connection still runs: closing the connection would wait for it."""
    with suppress(duckdb.Error):  # closed already
        duck.interrupt()


@contextmanager
def cursor(duck: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a second connection to the same database, with transactions of its own; closed at the end."""
    with duck.cursor() as second:
        try:
            yield second
        finally:
            interrupt(second)


def raise_if_interrupted(error: BaseException | None) -> None:
    """Raise KeyboardInterrupt, as for Ctrl-C elsewhere, if an error is that of an interrupted statement.

    Raises:
        KeyboardInterrupt: the error is an interrupted statement.
    """
    # Where DuckDB received the signal itself, the error has no class of its own, only its message.
    if isinstance(error, duckdb.InterruptException) or (
        type(error) is RuntimeError and str(error) == "Query interrupted"
    ):
        raise KeyboardInterrupt from error


def has_broken(error: BaseException | None) -> bool:
    """Return whether an error is a fatal or internal one of DuckDB: the database must then be reopened.

    Errors of the library hide that of DuckDB, which is found as their cause.
    """
    while error is not None and not isinstance(error, duckdb.FatalException | duckdb.InternalException):
        error = error.__cause__ or error.__context__
    return error is not None
