"""The store: one DuckDB file, opened through SQLAlchemy, with a memory limit and clear refusals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import duckdb
import pyarrow as pa
from platformdirs import user_data_path
from sqlalchemy import Connection, Engine, Executable, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from sentgen.errors import NotFoundError, StoreError
from sentgen.schema import migrate


def default_path() -> Path:
    """Return where the store lives unless the user says otherwise: $SENTGEN_DB, else the user's data folder."""
    chosen = os.environ.get("SENTGEN_DB")
    return Path(chosen) if chosen else user_data_path("sentgen") / "sentgen.duckdb"


def default_memory_limit() -> int:
    """Return a quarter of the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


class Store:
    """An open store; a context manager that closes it.

    Args:
        path: the DuckDB file.
        create: make a new store if there is none (its folder too).
        read_only: allow other readers beside this one, and no writing.
        memory_limit: bytes that DuckDB may use, a quarter of the machine's memory if ``None``.
        threads: threads that DuckDB may use, all cores if ``None``.

    Raises:
        NotFoundError: there is no store at ``path``.
        StoreError: it is locked by another process, damaged, not a store, or of another version.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        create: bool = False,
        read_only: bool = False,
        memory_limit: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.memory_limit = memory_limit or default_memory_limit()
        if not self.path.exists() and not create:
            raise NotFoundError(f"{self.path}: no store here; make one with: sentgen ingest PATH --corpus NAME")
        with translated_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.engine = self._connect(read_only, threads)
            try:
                migrate.prepare(self.engine, self.path, read_only=read_only)
            except BaseException:
                self.engine.dispose()
                raise

    def _connect(self, read_only: bool, threads: int | None) -> Engine:
        config: dict[str, Any] = {
            "memory_limit": f"{self.memory_limit // 2**20}MiB",
            "temp_directory": f"{self.path}.tmp",
            "preserve_insertion_order": "true",
        }
        if threads:
            config["threads"] = threads
        engine = create_engine(
            f"duckdb:///{self.path}",
            poolclass=StaticPool,
            connect_args={"read_only": read_only, "config": config},
        )
        with engine.connect():
            return engine

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Open a transaction that is committed at the end, or rolled back as a whole."""
        with translated_errors(self.path), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a connection for reading."""
        with translated_errors(self.path), self.engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close the file; what was committed is on the disk."""
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def raw(connection: Connection) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB connection below, in the same transaction: the way in and out for Arrow."""
    wrapped = connection.connection.dbapi_connection
    return cast(duckdb.DuckDBPyConnection, getattr(wrapped, "_ConnectionWrapper__c", wrapped))


def append(connection: Connection, table: str, rows: pa.Table | pa.RecordBatch | pa.RecordBatchReader) -> None:
    """Append Arrow rows to a table; columns are matched by name."""
    duck = raw(connection)
    duck.register("_rows", rows)
    try:
        duck.execute(f"insert into {table} by name select * from _rows")
    finally:
        duck.unregister("_rows")


def fetch_arrow(connection: Connection, query: str, parameters: Sequence[Any] = ()) -> pa.Table:
    """Run one query and return its rows as an Arrow table."""
    return raw(connection).execute(query, parameters).to_arrow_table()


def scalar(connection: Connection, statement: Executable) -> int:
    """Return the one number that a query yields, 0 for null."""
    return int(connection.execute(statement).scalar() or 0)


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn what DuckDB and the file system raise into one clear line."""
    try:
        yield
    except DBAPIError as error:
        raise _explain(path, error.orig or error) from error
    except (duckdb.Error, OSError) as error:
        raise _explain(path, error) from error


def _explain(path: Path, error: BaseException) -> StoreError:
    text = str(error)
    low = text.lower()
    if "could not set lock" in low or "conflicting lock" in low:
        return StoreError(
            f"{path}: the store is in use by another process; wait until it ends, or use a copy of the file"
        )
    if "no space left" in low or "errno 28" in low or "file too large" in low or "could not write all bytes" in low:
        return StoreError(f"{path}: the disk is full; nothing of this step was stored. Free space and run it again")
    if "out of memory" in low or isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(f"{path}: the memory limit was reached; run it again with a higher --memory-limit")
    if "not a valid duckdb" in low or "corrupt" in low or "checksum" in low or "serialization" in low:
        return StoreError(f"{path}: not a sentgen store, or damaged; restore a backup, or choose another --db")
    if isinstance(error, PermissionError) or "permission denied" in low:
        return StoreError(f"{path}: permission denied; check the rights of the file and its folder")
    return StoreError(f"{path}: {text.splitlines()[0] if text else type(error).__name__}")
