"""What ends a statement, or all: Ctrl-C, which is a KeyboardInterrupt at once, and an error of DuckDB itself.

While a statement runs, the thread that waits for it sees no signal: DuckDB looks for one
only now and then where it has several threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb


def interrupt(duck: duckdb.DuckDBPyConnection) -> None:
    """End what a connection still runs, which its closing would wait for."""
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
    """Make of an interrupted statement what Ctrl-C is elsewhere, so that nobody takes it for a failure.

    Raises:
        KeyboardInterrupt: the error is an interrupted statement.
    """
    # DuckDB's own words, of no class of its own, where it has heard the signal itself.
    if isinstance(error, duckdb.InterruptException) or _heard(error):
        raise KeyboardInterrupt from error


def has_broken(error: BaseException | None) -> bool:
    """Say whether an error comes from DuckDB's own mistakes: its database answers nothing until reopened.

    The library tells errors in words of its own; what they come from has the class.
    """
    while error is not None and not isinstance(error, duckdb.FatalException | duckdb.InternalException):
        error = error.__cause__ or error.__context__
    return error is not None


def _heard(error: BaseException | None) -> bool:
    return type(error) is RuntimeError and str(error) == "Query interrupted"
