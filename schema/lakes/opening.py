"""Open a lake in DuckDB: its files as views called as the tables of a store, and the views on top."""

from __future__ import annotations

from pathlib import Path

import duckdb
from sqlalchemy import Engine, event

from sentgen.errors import DamagedError
from sentgen.output.wording import quantity
from sentgen.schema import inspection
from sentgen.schema.base import metadata, quote_identifier
from sentgen.schema.engine import duck_of, new_engine, settings, spill_folder, temporary_folder
from sentgen.schema.lakes.layout import MANIFEST, Manifest, file_schema, read_manifest
from sentgen.schema.lakes.places import Place


def open_engine(lake: Place, *, memory_limit: int, threads: int | None = None) -> Engine:
    """Open a lake for reading, until the engine is disposed of; what a query spills lies beside a local one.

    Raises:
        NotFoundError: there is no lake.
        StoreError: it is of another version, or its manifest names a file that is not there.
    """
    manifest = read_manifest(lake)
    local = lake.files is None
    spill = spill_folder(Path(lake.root)) if local else temporary_folder(Path(Path(lake.root).name))
    engine = new_engine(
        None,
        {**settings(memory_limit, threads), "temp_directory": str(spill)},
        read_only=True,
        memory_limit=memory_limit,
    )
    event.listen(engine, "connect", lambda wrapped, _: create_views(duck_of(wrapped), lake, manifest))
    try:
        with engine.connect():
            return engine
    except BaseException:
        engine.dispose()
        raise


def create_views(duck: duckdb.DuckDBPyConnection, lake: Place, manifest: Manifest) -> None:
    """Create in an empty database what a store has: all of its tables, as views, and its views.

    Raises:
        DamagedError: a file is not there, or has another size than the manifest says.
    """
    _require_files(lake, manifest)
    if lake.files is not None:
        duck.register_filesystem(lake.files)
    # Its files never change, so that what their ends say of row groups is read once.
    duck.execute("set parquet_metadata_cache = true")
    for name in metadata.tables:
        try:
            duck.execute(f"create view {name} as {rows_of(lake, manifest, name)}")
        except duckdb.Error as error:
            raise DamagedError(
                f"{lake.path(name)}: not what was written, or not there ({str(error).splitlines()[0]}); "
                "copy the lake again, or make it again"
            ) from error
    version = f"select '{manifest.schema}' as version_num"
    duck.execute(f"create view {inspection.VERSION_TABLE} as {version}")
    for view in inspection.views():
        duck.execute(view.sql)


def rows_of(lake: Place, manifest: Manifest, name: str) -> str:
    """Return the query for the rows of a table, which has none without files."""
    files = manifest.tables.get(name, ())
    columns = metadata.tables[name].columns
    if not files:
        kinds = zip(columns, file_schema(name).types, strict=True)
        nothing = ", ".join(
            f"null::{_DUCKDB_TYPES[str(kind)]} as {quote_identifier(c.name)}" for c, kind in kinds
        )
        return f"select {nothing} where false"
    listed = ", ".join(literal(lake.path(file.path)) for file in files)
    # Named: what lacks a column is refused here, not in the middle of a command.
    chosen = ", ".join(quote_identifier(c.name) for c in columns)
    return f"select {chosen} from read_parquet([{listed}], hive_partitioning = false)"


def lock(duck: duckdb.DuckDBPyConnection, lake: Place, manifest: Manifest) -> None:
    """Cut a database with the views of a lake off from all files but those of the lake, for good."""
    listed = ", ".join(literal(lake.path(file.path)) for file in manifest.files)
    duck.execute(f"set allowed_paths = [{listed}]")
    duck.execute("set enable_external_access = false")
    duck.execute("set lock_configuration = true")


def attacks(lake: Place) -> tuple[str, ...]:
    """Return what DuckDB must refuse when it is locked: to read or write anything else, and to unlock it.

    What is allowed to be read is allowed to be written, too, as DuckDB has it. Files of a lake are closed to
    writing by their rights, and the guard lets no statement through that writes.
    """
    manifest, beside = literal(lake.path(MANIFEST)), literal(lake.path(f"{MANIFEST}.attack"))
    return (
        f"copy (select 1) to {beside} (use_tmp_file false)",
        f"select count(*) from read_blob({manifest})",
        f"select count(*) from read_text({manifest})",
        f"select count(*) from glob({literal(lake.path('**'))})",
        f"attach {beside} as attack",
        "set allowed_paths = []",
        "set disabled_filesystems = ''",
        "set enable_external_access = true",
    )


_DUCKDB_TYPES = {
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "string": "varchar",
    "bool": "boolean",
    "double": "double",
    "list<item: float>": "float[]",
    "list<item: int32>": "integer[]",
    "timestamp[us]": "timestamp",
}


def literal(text: str) -> str:
    """Return a string as SQL writes it."""
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def _require_files(lake: Place, manifest: Manifest) -> None:
    """Compare the sizes of the files with the manifest; of a bucket, DuckDB says what is missing."""
    if lake.files is not None:
        return
    for file in manifest.files:
        path = Path(lake.path(file.path))
        try:
            size = path.stat().st_size
        except OSError as error:
            raise DamagedError(
                f"{path}: the lake's manifest names this file, and it cannot be read "
                f"({error.strerror or error}); copy the lake again, or make it again"
            ) from error
        if size != file.bytes:
            raise DamagedError(
                f"{path}: {quantity(size, 'byte')}, and the lake's manifest says {file.bytes:,}; "
                "copy the lake again, or make it again"
            )
