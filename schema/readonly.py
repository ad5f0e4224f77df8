"""Run SQL from users who are not trusted, or who may make mistakes.

DuckDB's ``read_only`` alone does not protect a file: ``COPY ... TO '<the file itself>'`` writes to it. The
defences are, from the inside: the file is opened read-only, with all risky settings off; DuckDB's access to
the file system is disabled; the settings are locked; a self-test tries to break out and must fail; a guard
accepts only harmless queries (`sentgen.schema.guard`). A server adds a worker process that can be killed.

DuckDB opens the files of a lake (`sentgen.schema.lakes`) during queries; there, all other files are disabled.

Without the file system, queries cannot use temporary files: one that needs more than ``memory_limit`` fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import duckdb

from sentgen.errors import QueryRejected, StoreError, spell
from sentgen.output.tabular import SIMPLE_TYPES, Rows
from sentgen.schema import connections, lakes
from sentgen.schema.base import literal
from sentgen.schema.durability import write_lock
from sentgen.schema.engine import (
    Parameters,
    answer,
    arrow_reader,
    default_memory_limit,
    one_number,
    settings,
    translated_errors,
)
from sentgen.schema.guard import require_harmless, syntax_message
from sentgen.schema.manifests import place_of
from sentgen.schema.places import MANIFEST, Place, lake_at
from sentgen.schema.store import Store

if TYPE_CHECKING:  # not imported otherwise, as that takes a fifth of the time of a query
    import pyarrow as pa

#: Rows of a part that `parts` yields.
_PART = 2**16
# Replacement scans would read variables of this process as tables; temporary files would be written.
_SWITCHES = {
    "enable_external_access": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
_OPEN = {"enable_external_access": "true"}


@dataclass(frozen=True, slots=True)
class ResultSet:
    """The rows of a query, up to a limit, and whether there are more."""

    table: Rows
    truncated: bool


def query(
    path: Path, sql: str, parameters: Parameters = (), *, max_rows: int = 0, memory_limit: int | None = None
) -> ResultSet:
    """Run one query; ``max_rows`` 0 means all.

    Raises:
        QueryRejected: the query is wrong or not allowed.
        StoreError: the store cannot be read, or the query needs more memory than it may use.
    """
    with open_locked_store(path, memory_limit=memory_limit) as duck:
        require_harmless(duck, sql)
        return ask(duck, sql, parameters, max_rows=max_rows)


def ask(duck: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters, *, max_rows: int) -> ResultSet:
    """Run a query that has passed the guard on a locked connection."""
    import pyarrow as pa

    with _query_errors():
        reader = arrow_reader(duck, sql, parameters)
        batches, rows = [], 0
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            if max_rows and rows > max_rows:
                break
    return ResultSet(*Rows.from_arrow(pa.Table.from_batches(batches, reader.schema)).first(max_rows))


def check(duck: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters = ()) -> None:
    """Plan a query without running it, and refuse it as `parts` would before its first rows."""
    require_harmless(duck, sql)
    with _query_errors():
        duck.execute(f"explain {sql}", parameters or None)


def parts(
    duck: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters = (), *, arrow: bool = False
) -> Iterator[Rows]:
    """Run a query as `query` does, and yield its rows in parts, one of which is in memory at a time.

    There is at least one part, which is empty if there are no rows. Arrow is used only for columns with types
    that Python lacks, or with ``arrow``.
    """
    require_harmless(duck, sql)
    with _query_errors():
        relation = answer(duck, sql, parameters)
        types = [str(column[1]) for column in relation.description or ()]
        if arrow or not set(types) <= set(SIMPLE_TYPES):
            yield from _arrow_parts(relation.to_arrow_reader(8192))
            return
        names = [column[0] for column in relation.description or ()]
        duck.execute(sql, parameters or None)  # not as a relation, which would read all rows at once
        rows = duck.fetchmany(_PART)
        yield Rows(names, rows, types)
        while len(rows) == _PART and (rows := duck.fetchmany(_PART)):
            yield Rows(names, rows, types)


def _arrow_parts(reader: pa.RecordBatchReader) -> Iterator[Rows]:
    import pyarrow as pa

    batches: list[pa.RecordBatch] = []
    whole = False
    for batch in reader:
        batches.append(batch)
        if sum(waiting.num_rows for waiting in batches) >= _PART:
            yield Rows.from_arrow(pa.Table.from_batches(batches))
            batches, whole = [], True
    if batches or not whole:
        yield Rows.from_arrow(pa.Table.from_batches(batches, reader.schema))


@contextmanager
def _query_errors() -> Iterator[None]:
    """Turn errors of DuckDB into `QueryRejected`, with one line for the author of the query."""
    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise QueryRejected(
            f"the query needs too much memory; filter more, or raise {spell('memory_limit')}"
        ) from error
    except RuntimeError as error:
        connections.raise_if_interrupted(error)
        raise
    except (duckdb.Error, _arrow_error(), OSError) as error:  # OSError: a type that Arrow does not have
        connections.raise_if_interrupted(error)
        raise QueryRejected(f"{syntax_message(error)}{_cure(error)}") from error


def _cure(error: Exception) -> str:
    # DuckDB has no class for missing parameters, and its message does not know how sentgen takes values.
    missing = str(error).startswith("Invalid Input Error: Values were not provided")
    return f"; give them with {spell('param')}" if missing else ""


@contextmanager
def open_locked_store(path: Path, *, memory_limit: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a store as in `open_locked` and close it at the end."""
    duck = open_locked(path, memory_limit=memory_limit)
    try:
        yield duck
    finally:
        connections.interrupt(duck)
        duck.close()


def open_locked(
    path: Path, *, memory_limit: int | None = None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a store so that SQL can neither write, nor reach other files, nor change these settings.

    Raises:
        NotFoundError: there is no store.
        StoreError: the store cannot be opened, is of another version, or fails the test of its locks.
    """
    limit = memory_limit or default_memory_limit()
    path = place_of(path)
    if lake := lake_at(path):
        return _open_locked_lake(lake, memory_limit=limit, threads=threads)
    if not path.exists():
        raise write_lock.no_store(path)
    # First opened as any store, which repairs it after a crash, and reports errors.
    Store(path, read_only=True).close()

    def connect() -> duckdb.DuckDBPyConnection:
        with translated_errors(path):
            return duckdb.connect(str(path), read_only=True, config=settings(limit, threads) | _SWITCHES)

    duck = write_lock.wait_for(path, connect)
    try:
        lock(duck, path)
    except BaseException:
        duck.close()
        raise
    return duck


def _open_locked_lake(lake: Place, *, memory_limit: int, threads: int | None) -> duckdb.DuckDBPyConnection:
    """Open a lake as `open_locked` opens a store; DuckDB may open the files of the lake and no others."""
    path = Path(lake.root)
    with translated_errors(path):
        manifest = lakes.Manifest.read(lake)
        # DuckDB opens the files of the lake to create the views, before the list of allowed files is set.
        duck = duckdb.connect(":memory:", config=settings(memory_limit, threads) | _SWITCHES | _OPEN)
        try:
            manifest.create_views(duck, lake)
            manifest.lock(duck, lake)
            # DuckDB allows writing to the files that it may read. Those of a lake are protected by their
            # mode, and the guard refuses statements that write.
            others = (f"select count(*) from glob({literal(lake.path('**'))})", "set allowed_paths = []")
            _self_test(duck, path, (*_attacks(lake.path(MANIFEST)), *others))
        except BaseException:
            duck.close()
            raise
    return duck


def lock(duck: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Cut an open store off from the file system, irrevocably.

    Raises:
        StoreError: the store fails the test of its locks.
    """
    # After opening the store, which needs the file system; before the lock, after which nothing can be set.
    duck.execute("set disabled_filesystems = 'LocalFileSystem'")
    duck.execute("set lock_configuration = true")
    _self_test(duck, path, (*_attacks(str(path)), "create table attack (x integer)"))


def _attacks(file: str) -> tuple[str, ...]:
    """Return statements that a locked DuckDB must refuse: they read or write other files, or unlock it."""
    # They read a file that exists, so that DuckDB refuses the access and not a missing file.
    inside, beside = literal(file), literal(f"{file}.attack")
    return (
        f"copy (select 1) to {beside} (use_tmp_file false)",
        f"select count(*) from read_blob({inside})",
        f"select count(*) from read_text({inside})",
        f"attach {beside} as attack",
        "set disabled_filesystems = ''",
        "set enable_external_access = true",
    )


def _self_test(duck: duckdb.DuckDBPyConnection, path: Path, attacks: Sequence[str]) -> None:
    """Try to break out, and refuse the store if that succeeds, or if the store has macros of its own."""
    for attack in attacks:
        try:
            duck.execute(attack).fetchall()
        except duckdb.Error:
            continue
        raise StoreError(
            f"{path}: DuckDB {duckdb.__version__} let through what it must refuse; not opened: {attack}"
        )
    # A macro with the name of a harmless function would pass the guard.
    if one_number(duck, "select count(*) from duckdb_functions() where not internal"):
        raise StoreError(
            f"{path}: this store brings its own SQL functions, which sentgen never makes; not opened"
        )


def _arrow_error() -> type[Exception]:
    """Return the base class of Arrow's errors; Arrow is imported only after an error."""
    import pyarrow as pa

    return cast(type[Exception], pa.ArrowException)
