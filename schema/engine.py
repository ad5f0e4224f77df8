"""Open a DuckDB file through SQLAlchemy, and turn its errors into one clear line.

The dialect has only what the store needs over one connection. `duckdb-sqlalchemy` has 8,000 lines (types,
reflection, MotherDuck, bulk copies) and requires DuckDB below 2.
"""

from __future__ import annotations

import errno
import glob
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import duckdb
from sqlalchemy import ARRAY, URL, Connection, Engine, create_engine, event, text
from sqlalchemy.dialects import registry
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import DBAPIConnection, IsolationLevel
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.compiler import GenericTypeCompiler
from sqlalchemy.util import LRUCache

from sentgen import temporary
from sentgen.errors import DamagedError, MemoryLimitError, SentgenError, StoreError, spell
from sentgen.never_loaded import NEVER_LOADED
from sentgen.schema import connections
from sentgen.schema.durability import block_journal, write_lock
from sentgen.schema.durability.duckdb_faults import STORAGE_VERSION, WITHOUT_LOG, logs_of
from sentgen.system.processes import machine_memory

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.pool import PoolProxiedConnection


#: The scheme of URLs for `create_engine`. Plain ``duckdb`` is left to other packages.
_DRIVER = "duckdb+sentgen"
#: Seconds between attempts to use a connection that another thread uses.
_BUSY_SECONDS = 0.001
#: SQL of the statements that were run last, shared by all stores that a process opens.
_COMPILED: LRUCache[Any, Any] = LRUCache(500)


class _DuckCursor:
    """A cursor of the DB API that runs a statement and reads all of its rows at once.

    DuckDB has one open result for each connection, and refuses other work, such as the registration of a
    table, until it is read to its end. Answers that do not fit into memory are read in Arrow batches
    (`engine.arrow_reader`).
    """

    arraysize = 1

    def __init__(self, duck: duckdb.DuckDBPyConnection) -> None:
        self._duck = duck
        #: Names and types of the columns; none for a statement that changes rows.
        self.description: list[tuple[Any, ...]] | None = None
        #: Number of rows that were changed.
        self.rowcount = -1
        self._rows: list[tuple[Any, ...]] = []
        self._next = 0

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> None:
        self._duck.execute(statement, parameters or None)
        rows, self._next = self._duck.fetchall(), 0
        changes = statement[:6].lower() in ("insert", "update", "delete")
        if changes and len(rows) == 1 and self._duck.description[0][0] == "Count":
            self.description, self.rowcount, self._rows = None, rows[0][0], []
        else:
            self.description, self._rows = self._duck.description, rows

    def executemany(self, statement: str, parameters: Sequence[Sequence[object]]) -> None:
        self._duck.executemany(statement, parameters)
        self.description, self._rows = None, []

    def fetchone(self) -> tuple[Any, ...] | None:
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int = arraysize) -> list[tuple[Any, ...]]:
        rows = self._rows[self._next : self._next + size]
        self._next += len(rows)
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.fetchmany(len(self._rows))

    def close(self) -> None:
        self._rows = []


class _DuckConnection:
    """A connection of the DB API, as SQLAlchemy uses it."""

    def __init__(self, duck: duckdb.DuckDBPyConnection) -> None:
        #: The connection of DuckDB, in the same transaction.
        self.duck = duck
        self.is_autocommitting = False

    def cursor(self) -> _DuckCursor:
        return _DuckCursor(self.duck)

    def begin(self) -> None:
        if not self.is_autocommitting:
            self.duck.begin()

    def commit(self) -> None:
        """Commit the transaction, if there is one."""
        if not self.is_autocommitting:
            self.duck.commit()

    def rollback(self) -> None:
        """Roll the transaction back, if there is one, as SQLAlchemy does when a connection is returned.

        While another thread uses the connection, DuckDB refuses, and this method waits.
        """
        while True:
            try:
                with suppress(duckdb.TransactionException):
                    self.duck.rollback()
            except duckdb.Error as error:
                if "connection is busy" not in str(error):
                    raise
                time.sleep(_BUSY_SECONDS)
            else:
                return

    def close(self) -> None:
        self.duck.close()


class _DuckTypes(GenericTypeCompiler):
    """Names of the types that DuckDB calls differently from other databases."""

    def visit_ARRAY(self, type_: ARRAY[Any], **settings: Any) -> str:  # noqa: N802
        return f"{self.process(type_.item_type, **settings)}[]"

    def visit_datetime(self, type_: object, **_: Any) -> str:
        return "TIMESTAMP WITHOUT TIME ZONE"

    def visit_double(self, type_: object, **_: Any) -> str:
        return "DOUBLE PRECISION"


# SQLAlchemy's dialect of PostgreSQL is nearer, but its import takes a tenth of the start of a command.
class DuckDialect(DefaultDialect):
    """The dialect of DuckDB for SQLAlchemy and Alembic."""

    name = "duckdb"
    driver = "sentgen"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_sane_multi_rowcount = False
    supports_native_boolean = True
    supports_multivalues_insert = True
    supports_comments = True
    postfetch_lastrowid = False
    type_compiler_cls = _DuckTypes
    default_isolation_level: IsolationLevel = "SERIALIZABLE"

    def __eq__(self, other: object) -> bool:
        """Return True for any dialect of this class, so that all stores share compiled SQL."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Return the module with the classes of errors."""
        return duckdb

    def connect(self, *words: Any, config: dict[str, Any], **options: Any) -> DBAPIConnection:
        """Open the store."""
        opened = duckdb.connect(*words, config={**NEVER_LOADED, **config}, **options)  # type: ignore[misc]
        return cast(DBAPIConnection, _DuckConnection(opened))

    def initialize(self, connection: Connection) -> None:
        """Do nothing, as the queries of the default dialect are for other databases."""

    def do_begin(self, dbapi_connection: Any) -> None:
        """Begin a transaction; in DuckDB, this is a statement."""
        dbapi_connection.begin()

    def get_isolation_level_values(self, dbapi_conn: DBAPIConnection) -> Sequence[IsolationLevel]:
        """Return the isolation levels that can be set."""
        return (self.default_isolation_level, "AUTOCOMMIT")

    def set_isolation_level(self, dbapi_connection: Any, level: IsolationLevel) -> None:
        """Use transactions, or commit after each statement."""
        dbapi_connection.is_autocommitting = level == "AUTOCOMMIT"

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> bool:
        """Return whether there is a table; Alembic checks for its version table."""
        query = text("select count(*) from duckdb_tables() where table_name = :name and schema_name = 'main'")
        return bool(connection.execute(query, {"name": table_name}).scalar())


registry.register(_DRIVER.replace("+", "."), __name__, DuckDialect.__name__)


#: Values of ``?``, or of ``$name``.
Parameters = Sequence[object] | Mapping[str, object]

#: Name of the execution option of a connection that says how many bytes its DuckDB may use.
MEMORY_LIMIT = "memory_limit"
#: Name of the execution option that says that nobody can change the store while the connection is open.
_READ_ONLY = "read_only"
#: Name of the execution option with the object that has the labels of line sets, kept outside of the store.
LINE_LABELS = "line_labels"
#: Share of the memory of a process that counting may take, and that of DuckDB.
# Measured: docs/design.md, "Measurements".
COUNTING_SHARE = 0.35
DATABASE_SHARE = 0.4


def default_memory_limit() -> int:
    """Return a quarter of the machine's memory in bytes."""
    return machine_memory() // 4


def open_engine(path: Path, *, read_only: bool, memory_limit: int, threads: int | None = None) -> Engine:
    """Open the file and keep it open until the engine is disposed of.

    A compaction may replace the file before this process has its lock; then the new file is opened.

    Raises:
        InUseError: another process has the store, or a writer wants it.
        StoreError: the store cannot be opened.
    """
    # Readers leave a store to a writer that waits for it; else they could keep the writer out for good.
    if read_only and (writer := write_lock.holder(path)) and writer.writing:
        raise write_lock.in_use(path)
    while True:
        file = _identity(path)
        engine = _open_engine(path, read_only=read_only, memory_limit=memory_limit, threads=threads)
        # None: the file is new, so that nobody can have replaced it.
        if file in (None, _identity(path)):
            return engine
        engine.dispose()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode, which differ for another file of the same name; None without a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _open_engine(path: Path, *, read_only: bool, memory_limit: int, threads: int | None) -> Engine:
    # Before DuckDB replays a log, which changes these blocks.
    block_journal.put_back(path)
    # There is one writer, so that its folder can have a fixed name; each reader has a folder of its own.
    spill = spill_folder(path) if read_only else path.with_name(f"{path.name}.tmp")
    config = {
        **settings(memory_limit, threads),
        **WITHOUT_LOG,
        **STORAGE_VERSION,
        "temp_directory": str(spill),
        # Queries skip row groups of the sorted tables by the order of their rows.
        "preserve_insertion_order": "true",
    }
    engine = new_engine(path, config, read_only=read_only, memory_limit=memory_limit)
    if not read_only:
        _keep_blocks(engine, path)
    # SQLAlchemy connects late: connect now, so that errors of the file are raised here.
    with translated_errors(path), engine.connect():
        if not read_only:
            _remove_spilled(path)
            temporary.hold(spill, _clear_spilled)
            event.listen(engine, "close", lambda *_: temporary.let_go(spill))
        return engine


def settings(memory_limit: int, threads: int | None) -> dict[str, str | bool | int | float | list[str]]:
    """Return the settings of DuckDB with which every connection is opened."""
    return {
        **NEVER_LOADED,
        "memory_limit": f"{memory_limit // 2**20}MiB",
        **({"threads": threads} if threads else {}),
    }


def new_engine(
    database: Path | None,
    config: Mapping[str, object],
    *,
    read_only: bool,
    memory_limit: int,
) -> Engine:
    """Return an engine with one connection, to a file or to a database in memory.

    With one connection, one transaction is open at a time: with two, DuckDB writes a log. In memory, another
    connection would have a database of its own.
    """
    engine = create_engine(
        URL.create(_DRIVER, database=str(database or ":memory:")),
        poolclass=StaticPool,
        connect_args={"read_only": bool(database) and read_only, "config": dict(config)},
        execution_options={MEMORY_LIMIT: memory_limit, _READ_ONLY: read_only, "compiled_cache": _COMPILED},
    )
    event.listen(engine, "close", lambda wrapped, _: connections.interrupt(duck_of(wrapped)))
    return engine


def _keep_blocks(engine: Engine, path: Path) -> None:
    """Save the blocks that a commit may rewrite before it does, also at the checkpoint of closing."""
    dialect = engine.dialect

    def do_commit(wrapped: PoolProxiedConnection) -> None:
        with block_journal.keep_blocks(duck_of(wrapped), path):
            type(dialect).do_commit(dialect, wrapped)

    def closing(wrapped: object, _: object) -> None:
        # DuckDB checkpoints a log when it closes, outside of any commit; a database that failed writes none.
        if any(log.exists() for log in logs_of(path)):
            with suppress(duckdb.FatalException):
                block_journal.keep(duck_of(wrapped), path)

    dialect.do_commit = do_commit  # type: ignore[method-assign, assignment]
    event.listen(engine, "close", closing)


def spill_folder(path: Path) -> Path:
    """Return the folder in which a reader spills: beside the store, or, if that is not writable, temporary.

    Each process has a folder of its own, as DuckDB gives its files the same names in all of them: two readers
    that spilled into one folder read each other's blocks.
    """
    if os.access(path.parent, os.W_OK):
        beside = path.with_name(f"{path.name}.tmp-{os.getpid()}")
        temporary.hold(beside, _clear_spilled)
        return beside
    return temporary_folder(path.absolute())


def temporary_folder(path: Path) -> Path:
    """Make a temporary folder in which this process spills, which is removed when the process ends."""
    return _temporary_folder(path, os.getpid())


@cache
def _temporary_folder(path: Path, process: int) -> Path:
    return temporary.folder_of_process(f"sentgen-{process}-", f"-{path.name}")


def _remove_spilled(path: Path) -> None:
    """Remove the files of readers that were killed: no reader runs while this process may write."""
    for leftover in path.parent.glob(f"{glob.escape(path.name)}.tmp-*"):
        if leftover.name.rpartition("-")[2].isdecimal():
            _clear_spilled(leftover)


def _clear_spilled(folder: str | Path) -> None:
    """Remove spilled files, by the names that DuckDB gives: the folder may have other files, too."""
    with suppress(OSError):
        for spilled in Path(folder).glob("duckdb_temp_*"):
            spilled.unlink()
        Path(folder).rmdir()


def raw(connection: Connection) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB connection below, in the same transaction, through which Arrow tables are read."""
    return duck_of(connection.connection.dbapi_connection)


def connection_cache(connection: Connection) -> dict[Any, Any]:
    """Return the cache of a store that nobody can change; for another store, a new dict each time."""
    return connection.info if connection.get_execution_options().get(_READ_ONLY) else {}


@contextmanager
def one_thread(connection: Connection) -> Iterator[None]:
    """Use one thread: appended rows keep their order, and take half the CPU time of two threads.

    A commit on a busy machine takes half, too, as the second thread waits by running.
    """
    raw(connection).execute("set threads = 1")
    try:
        yield
    finally:
        # A failed transaction refuses statements, and the new error would hide the first one: hence a
        # second connection. A database that a full disk has invalidated refuses all statements.
        with suppress(duckdb.FatalException), connections.cursor(raw(connection)) as other:
            other.execute("reset threads")


def duck_of(wrapped: object) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB connection below a connection of the dialect."""
    return cast(_DuckConnection, wrapped).duck


def one_row(
    duck: duckdb.DuckDBPyConnection, query: str, parameters: Parameters = ()
) -> tuple[Any, ...] | None:
    """Return the only row of a query, or None if it has none.

    All rows are read, as a connection with unread rows refuses other work.
    """
    rows = duck.execute(query, parameters or None).fetchall()
    return rows[0] if rows else None


def one_number(duck: duckdb.DuckDBPyConnection, query: str, parameters: Parameters = ()) -> int:
    """Return the number that a query yields, 0 for null or no row."""
    row = one_row(duck, query, parameters)
    return int(row[0] or 0) if row else 0


def answer(
    duck: duckdb.DuckDBPyConnection, query: str, parameters: Parameters = ()
) -> duckdb.DuckDBPyRelation:
    """Return a relation with the columns of a query, which is run when its rows are read.

    The connection refuses other work until all rows are read. Unlike the result of `execute`, the rows of a
    relation are not copied on the way to Arrow.
    """
    return duck.sql(query, params=parameters or None)


def arrow_table(duck: duckdb.DuckDBPyConnection, query: str, parameters: Parameters = ()) -> pa.Table:
    """Run a query and return its rows as an Arrow table."""
    return answer(duck, query, parameters).to_arrow_table()


def arrow_reader(
    duck: duckdb.DuckDBPyConnection, query: str, parameters: Parameters = (), *, rows: int = 8192
) -> pa.RecordBatchReader:
    """Run a query and return its rows in Arrow batches of at most ``rows`` rows."""
    return answer(duck, query, parameters).to_arrow_reader(rows)


@contextmanager
def register_arrow(duck: duckdb.DuckDBPyConnection, **tables: pa.Table) -> Iterator[None]:
    """Let statements of a connection read Arrow tables by name until the context ends."""
    for name, rows in tables.items():
        duck.register(name, rows)
    try:
        yield
    finally:
        # A caller that reads a part of an answer may have closed the connection before.
        with suppress(duckdb.ConnectionException):
            for name in tables:
                duck.unregister(name)


#: Errors of writing rows to standard output: its reader has ended, or it is closed.
_OF_OUTPUT = (errno.EPIPE, errno.EBADF)


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn errors of DuckDB and of the file system into one clear line."""
    try:
        yield
    except DBAPIError as error:
        connections.raise_if_interrupted(error.orig)
        raise explain(path, error.orig or error) from error
    except RuntimeError as error:
        connections.raise_if_interrupted(error)
        raise
    except (duckdb.Error, OSError) as error:
        if getattr(error, "errno", None) in _OF_OUTPUT:
            raise
        connections.raise_if_interrupted(error)
        raise explain(path, error) from error


# Errors are recognized by their messages, as DuckDB has no classes for them. Errors of queries quote the
# query, which may contain any words; of other errors, only those of a log that is replayed are of this class.
_OF_QUERIES = (duckdb.DataError, duckdb.IntegrityError, duckdb.ProgrammingError)
_REPLAYING = re.compile(r"[a-z ]+ error: failure while replaying wal")
# All errors after a database was invalidated quote the first error, with the names of files in it.
_ORIGINAL = re.compile(r'Original error: "(.*)"', re.DOTALL)
# Names of files, which DuckDB and the system put in quotes, may contain any words, too.
_NAMES = re.compile(r'"[^"]*"|\'[^\']*[/\\][^\']*\'')
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
)
_FULL = ("no space left", "errno 28", "file too large", "could not write all bytes", "disk quota exceeded")
#: The last where a locked store, which is cut off from the file system, would spill.
_NO_MEMORY = ("out of memory", "memory allocation failure", "localfilesystem has been disabled")
#: The last two in Windows, of which the first is in the language of the system.
_IN_USE = ("could not set lock", "conflicting lock", "used by another process", "file is already open in")
_NEWER = ("newer version of duckdb", "created with a newer", "version number", "storage version")


def explain(path: Path, error: BaseException) -> SentgenError:
    """Return an error that says in one line what went wrong with the store and what to do."""
    if isinstance(error, DBAPIError):
        error = error.orig or error
    message = str(error)
    low = _without_names(path, error).lower()
    if isinstance(error, _OF_QUERIES) and not _REPLAYING.match(low):
        return _plainly(path, error)
    # In this order, as a full disk also invalidates the database, which by itself would mean damage.
    if any(part in low for part in _IN_USE):
        return write_lock.in_use(path, message)
    if any(part in low for part in _FULL) or getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG):
        return StoreError(
            f"{path}: the disk is full; nothing of this step was stored. Free space and run it again"
        )
    if isinstance(error, duckdb.OutOfMemoryException) or any(part in low for part in _NO_MEMORY):
        return MemoryLimitError(
            f"{path}: the memory limit was reached; raise {spell('memory_limit')} and run it again"
        )
    if "different configuration" in low:
        return StoreError(f"{path}: open in this process already, with other settings; close it there first")
    if any(part in low for part in _NEWER):
        return StoreError(
            f"{path}: made by another version of DuckDB than {duckdb.__version__}; upgrade duckdb"
        )
    if any(part in low for part in _DAMAGED):
        return DamagedError(
            f"{path}: not a sentgen store, or damaged; restore a backup, or choose another {spell('db')}"
        )
    if isinstance(error, PermissionError) or "permission denied" in low or "read-only file system" in low:
        return StoreError(f"{path}: permission denied; check the rights of the file and its folder")
    if isinstance(error, IsADirectoryError) or "is a directory" in low:
        return StoreError(
            f"{path}: this is a folder; {spell('db')} names a file, a lake (a folder with a manifest)"
            " or snapshots"
        )
    if connections.has_broken(error):
        return StoreError(
            f"{path}: DuckDB failed, which is a mistake of its own ({low.splitlines()[0]}); run it again,"
            " or in another way"
        )
    return _plainly(path, error)


def _plainly(path: Path, error: BaseException) -> StoreError:
    return StoreError(f"{path}: {str(error).partition(chr(10))[0] or type(error).__name__}")


def _without_names(path: Path, error: BaseException) -> str:
    """Return the message of an error without the names of files in it."""
    # An error of the system has a message of its own.
    message = getattr(error, "strerror", None) or str(error)
    for name in {str(path), os.path.abspath(path), os.path.realpath(path)}:
        if os.sep in name:
            message = message.replace(name, "")
    return _NAMES.sub("", _ORIGINAL.sub(r"\1", message))
