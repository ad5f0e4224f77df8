"""Open a DuckDB file through SQLAlchemy, and say in one clear line why that or anything after it failed."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import duckdb
import pyarrow as pa
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from sentgen.errors import StoreError


def default_memory_limit() -> int:
    """Return a quarter of the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def open_engine(path: Path, *, read_only: bool, memory_limit: int, threads: int | None = None) -> Engine:
    """Open the file and keep it open until the engine is disposed of."""
    config: dict[str, Any] = {
        "memory_limit": f"{memory_limit // 2**20}MiB",
        "temp_directory": f"{path}.tmp",
        "preserve_insertion_order": "true",
    }
    if threads:
        config["threads"] = threads
    engine = create_engine(
        f"duckdb:///{path}",
        poolclass=StaticPool,
        connect_args={"read_only": read_only, "config": config},
    )
    with engine.connect():
        return engine


def raw(connection: Connection) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB connection below, in the same transaction: the way in and out for Arrow."""
    wrapped = connection.connection.dbapi_connection
    return cast(duckdb.DuckDBPyConnection, getattr(wrapped, "_ConnectionWrapper__c", wrapped))


def arrow_table(duck: duckdb.DuckDBPyConnection, query: str, parameters: Any = None) -> pa.Table:
    """Run a query and return its rows as an Arrow table."""
    return _arrow(duck.execute(query, parameters or None), "to_arrow_table", "fetch_arrow_table")()


def arrow_reader(duck: duckdb.DuckDBPyConnection, query: str, parameters: Any = None) -> pa.RecordBatchReader:
    """Run a query and return its rows in Arrow batches."""
    return _arrow(duck.execute(query, parameters or None), "to_arrow_reader", "fetch_record_batch")(8192)


def _arrow(duck: duckdb.DuckDBPyConnection, name: str, name_in_1_4: str) -> Callable[..., Any]:
    """Return a method that DuckDB renamed in 1.5, without the advice that 2.0 gives about it."""
    method = getattr(duck, name, None) or getattr(duck, name_in_1_4)

    def quietly(*arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return method(*arguments)

    return quietly


def sync_folder(folder: Path) -> None:
    """Have the disk keep what was renamed in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn what DuckDB and the file system raise into one clear line."""
    try:
        yield
    except DBAPIError as error:
        raise explain(path, error.orig or error) from error
    except (duckdb.Error, OSError) as error:
        raise explain(path, error) from error


_DAMAGED = (
    "not a valid duckdb",
    "corrupt",
    "checksum",
    "serialization error",
    "deserialize",
    "could not read enough bytes",
    "could not read all bytes",
    "unexpected end of file",
    "failure while replaying wal",
    "database has been invalidated",
)
_FULL = ("no space left", "errno 28", "file too large", "could not write all bytes", "disk quota exceeded")
_NEWER = ("newer version of duckdb", "created with a newer", "version number", "storage version")


def explain(path: Path, error: BaseException) -> StoreError:
    """Say in one line what went wrong with the store and what to do."""
    text = str(error)
    low = text.lower()
    if "could not set lock" in low or "conflicting lock" in low:
        return StoreError(
            f"{path}: the store is in use by another process; wait until it ends, or use a copy of the file"
        )
    if any(part in low for part in _FULL) or getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG):
        return StoreError(
            f"{path}: the disk is full; nothing of this step was stored. Free space and run it again"
        )
    if "out of memory" in low or isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(f"{path}: the memory limit was reached; run it again with a higher --memory-limit")
    if "different configuration" in low:
        return StoreError(f"{path}: open in this process already, with other settings; close it there first")
    if any(part in low for part in _NEWER):
        return StoreError(
            f"{path}: made by another version of DuckDB than {duckdb.__version__}; upgrade duckdb"
        )
    if any(part in low for part in _DAMAGED):
        return StoreError(
            f"{path}: not a sentgen store, or damaged; restore a backup, or choose another --db"
        )
    if isinstance(error, PermissionError) or "permission denied" in low or "read-only file system" in low:
        return StoreError(f"{path}: permission denied; check the rights of the file and its folder")
    if isinstance(error, IsADirectoryError) or "is a directory" in low:
        return StoreError(f"{path}: this is a folder; --db names a file")
    return StoreError(f"{path}: {text.splitlines()[0] if text else type(error).__name__}")
