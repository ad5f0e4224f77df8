"""The DuckDB connections that are open in this process, so that another thread can end what they run.

While a statement runs, the thread that waits for it sees no signal: DuckDB 1.5 looks for one in `execute`,
but not while rows are fetched, and 2.0 nowhere. `interrupt` from another thread ends nearly every statement
within 50 ms; a single call of a function such as `levenshtein` goes on to its end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

import duckdb

#: Connection to whether it can only read. Weak: one that is never closed does not keep its file locked.
_open: WeakKeyDictionary[duckdb.DuckDBPyConnection, bool] = WeakKeyDictionary()
#: Held while connections are interrupted, so that none is closed in the meantime.
_lock = threading.RLock()


def opened(duck: duckdb.DuckDBPyConnection, *, read_only: bool) -> None:
    """Let a connection be interrupted from now on."""
    with _lock:
        _open[duck] = read_only


def closing(duck: duckdb.DuckDBPyConnection) -> None:
    """End what a connection still runs, which its closing would wait for, and leave it in peace."""
    with _lock:
        if _open.pop(duck, None) is not None:
            _interrupt(duck)


@contextmanager
def cursor(duck: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a second connection to the same database, with transactions of its own; closed at the end."""
    with duck.cursor() as second:
        opened(second, read_only=_open.get(duck, False))
        try:
            yield second
        finally:
            closing(second)


def interrupt() -> None:
    """End what the connections run: a `duckdb.InterruptException` there, and nothing where nothing runs."""
    with _lock:
        for duck in list(_open):
            _interrupt(duck)


def _interrupt(duck: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):  # closed already
        duck.interrupt()


def only_reading() -> bool:
    """Say whether no connection could write."""
    with _lock:
        return all(_open.values())


def raise_if_interrupted(error: BaseException | None) -> None:
    """Make of an interrupted statement what Ctrl-C is elsewhere, so that nobody takes it for a failure.

    Raises:
        KeyboardInterrupt: the error is an interrupted statement.
    """
    if isinstance(error, duckdb.InterruptException):
        raise KeyboardInterrupt from error
