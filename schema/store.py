"""The store: one DuckDB file, opened through SQLAlchemy, with a memory limit and clear refusals.

A lake (`sentgen.schema.lakes`) is opened as a read-only store.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, Executable, Table, func, select

from sentgen.default_store import default_path, unnamed_path
from sentgen.errors import NotFoundError, StoreError, spell
from sentgen.output.tabular import Rows
from sentgen.schema import lakes, migrate
from sentgen.schema.base import now
from sentgen.schema.connections import cursor, has_broken
from sentgen.schema.durability import block_journal, write_lock
from sentgen.schema.engine import (
    Parameters,
    arrow_table,
    default_memory_limit,
    one_number,
    one_thread,
    open_engine,
    raw,
    translated_errors,
)
from sentgen.schema.manifests import place_of, refuse_snapshot
from sentgen.schema.migrate import require_database
from sentgen.schema.places import Place, lake_at

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = [
    "Store",
    "append",
    "default_memory_limit",
    "default_path",
    "fetch_arrow",
    "fetch_rows",
    "next_id",
    "now",
    "one_thread",
    "raw",
    "scalar",
    "translated_errors",
]

#: Counted tokens, plus n-grams of models. From `_FEW` of them, a model is built in 0.06 s, which is as long
#: as opening the file twice.
_COUNTED = "select (select coalesce(sum(tokens), 0) from segment) + (select count(*) from model_ngram)"
_FEW = 30_000


class Store:
    """An open store; a context manager that closes it, and removes it if nothing was written before an error.

    Args:
        path: the DuckDB file; or a lake: a folder with a manifest, or a URL; or a folder of snapshots, of
            which the newest is opened.
        create: make a new store if there is none, in a folder that exists.
        read_only: allow other readers beside this one, and no writing.
        memory_limit: bytes that DuckDB may use, a quarter of the machine's memory if ``None``.
        threads: threads that DuckDB may use, all cores if ``None``.
        wait: seconds to wait for another process that has the store; ``None`` for as long as
            `sentgen.schema.durability.write_lock.lock_policy` say.

    Raises:
        NotFoundError: there is no store at ``path``, or no folder to make it in.
        StoreError: the store is locked by another process, damaged, not a store, or of another version; or it
            is a lake or a snapshot and should be written.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        create: bool = False,
        read_only: bool = False,
        memory_limit: int | None = None,
        threads: int | None = None,
        wait: float | None = None,
    ) -> None:
        self.path = place_of(Path(path))
        self.memory_limit = memory_limit or default_memory_limit()
        self._threads, self._open, self._shared = threads, 0, False
        #: Whether this made the file, and nothing has been written to it.
        self._is_new = False
        #: Execution options of connections, through which higher packages give them objects.
        self.lent: dict[str, object] = {}
        self._lock: write_lock.WriteLock | None = None
        self.lake = lake_at(self.path)
        if self.lake:
            self.engine = self._opened_lake(self.lake, read_only=read_only)
            return
        if not self.path.exists() and not create:
            raise write_lock.no_store(self.path)
        require_database(self.path)
        if not read_only:
            refuse_snapshot(
                self.path, f"this writes, and needs the store that it was made from, with {spell('db')}"
            )
        with translated_errors(self.path):
            if self.path == unnamed_path():
                self.path.parent.mkdir(parents=True, exist_ok=True)
            elif not self.path.parent.exists():  # mistyped, more likely than not
                raise NotFoundError(
                    f"{self.path}: there is no folder {self.path.parent}; make it, or choose another"
                    f" {spell('db')}"
                )
            if not read_only:
                self._lock = write_lock.wait_for(
                    self.path, lambda: write_lock.WriteLock.take(self.path), seconds=wait
                )
                # A finalizer, as garbage collection may end a store that was not closed.
                self._let_go = weakref.finalize(self, self._lock.release)
            self._is_new = not self.path.exists()
            try:
                self.engine = self._opened(read_only=read_only, wait=wait)
                try:
                    migrate.prepare(self.engine, self.path, read_only=read_only)
                    if read_only:
                        self._tell_of_writer()
                except BaseException:
                    self.engine.dispose()
                    raise
            except BaseException:
                self._release()
                raise

    def _opened_lake(self, lake: Place, *, read_only: bool) -> Engine:
        if not read_only:
            raise StoreError(
                f"{lake}: a lake is only read; this writes, and needs a store: a file, with {spell('db')}"
            )
        with translated_errors(self.path):
            return lakes.open_engine(lake, memory_limit=self.memory_limit, threads=self._threads)

    def _opened(self, *, read_only: bool, wait: float | None) -> Engine:
        def opened() -> Engine:
            return open_engine(
                self.path, read_only=read_only, memory_limit=self.memory_limit, threads=self._threads
            )

        return write_lock.wait_for(self.path, opened, seconds=wait)

    def _tell_of_writer(self) -> None:
        """Warn of the process that writes to a store without corpora, which would look like an unused one."""
        if who := write_lock.holder(self.path):
            with self.engine.connect() as connection:
                first = connection.exec_driver_sql("select 1 from corpus limit 1").first()
            if first is None:
                write_lock.logger.warning(
                    "nothing is stored yet: %s, writes to this store; wait until it ends", who
                )

    def _release(self) -> None:
        if self._lock:
            self._let_go()

    @contextmanager
    def begin(self, *, in_order: bool = False) -> Iterator[Connection]:
        """Open a transaction that is committed at the end, or rolled back as a whole.

        Args:
            in_order: keep the order of appended rows, on one thread (`one_thread`), commit included.
        """
        with translated_errors(self.path):
            self._reacquire_write()
            with (
                self._counted(),
                self.engine.connect().execution_options(**self.lent) as connection,
                one_thread(connection) if in_order else nullcontext(),
                connection.begin(),
            ):
                yield connection
            self._is_new = False

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a connection for reading."""
        with (
            translated_errors(self.path),
            self._counted(),
            self.engine.connect().execution_options(**self.lent) as connection,
        ):
            try:
                yield connection
            except BaseException as error:
                # A broken connection answers nothing more; the next one opens the file again.
                if has_broken(error):
                    connection.invalidate()
                raise

    @contextmanager
    def second(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a second connection, with its own transactions; until it closes, this stays the writer."""
        with translated_errors(self.path):
            self._reacquire_write()
            self._is_new = False
            with self._counted():
                with self.engine.connect() as connection:
                    first = raw(connection)
                with cursor(first) as duck:
                    yield duck

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def downgrade_to_read(self, *, unless_small: bool = False) -> None:
        """Let other processes read until this one writes again, for which it waits until they have closed.

        No other process can write meanwhile, so that data read before stay valid. Temporary tables are lost.
        Nothing happens where this process cannot keep other writers out.

        Args:
            unless_small: stay the writer if reading all counts and models takes less time than opening the
                file twice.
        """
        if self._shared or self._open or not (self._lock and self._lock.is_shareable):
            return  # others may read already, or cannot: a connection is open, or the lock is not shareable
        if unless_small and self._is_small():
            return
        self._close()
        self._lock.announce(writing=False)
        self._shared = True
        with translated_errors(self.path):
            self.engine = self._opened(read_only=True, wait=math.inf)

    def _is_small(self) -> bool:
        with self.connect() as connection:
            return one_number(raw(connection), _COUNTED) < _FEW

    def _reacquire_write(self) -> None:
        if not self._shared or self._lock is None:
            return
        if self._open:
            raise RuntimeError("a shared store is still read where it should be written")
        self._lock.announce(writing=True)
        self.engine.dispose()
        # Without a time limit: giving up would lose the results of this process.
        self.engine = self._opened(read_only=False, wait=math.inf)
        self._shared = False

    def close(self) -> None:
        """Close the file; all commits are on the disk."""
        self._close()
        self._release()

    def _close(self) -> None:
        self.engine.dispose()
        if self.lake:
            return
        # After DuckDB has closed the file, so that closing it here gives up no lock of DuckDB.
        block_journal.put_back_closed(self.path)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if error is not None and self._is_new:  # refused input should not leave an empty store behind
            self.path.resolve().unlink(missing_ok=True)
        self._release()


def append(
    connection: Connection, table: str, rows: pa.Table | pa.RecordBatch | pa.RecordBatchReader
) -> None:
    """Append Arrow rows to a table; columns are matched by name."""
    _rows = rows  # DuckDB finds the variable by name; a registered table would be held until the commit
    raw(connection).execute(f"insert into {table} by name select * from _rows")


def fetch_arrow(connection: Connection, query: str, parameters: Parameters = ()) -> pa.Table:
    """Run one query and return its rows as an Arrow table."""
    return arrow_table(raw(connection), query, parameters)


def fetch_rows(connection: Connection, query: str, parameters: Parameters = ()) -> Rows:
    """Run one query and return its rows as a table for output."""
    return Rows.from_arrow(fetch_arrow(connection, query, parameters))


def next_id(connection: Connection, table: Table) -> int:
    """Return the id of the next row of a table."""
    return scalar(connection, select(func.max(table.c.id))) + 1


def scalar(connection: Connection, statement: Executable) -> int:
    """Return the one number that a query yields, 0 for null."""
    return int(connection.execute(statement).scalar() or 0)
