"""Export a store to a lake, table by table, and load a lake into a store: equal rows make equal files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO

import pyarrow as pa

from sentgen.errors import DamagedError, StoreError
from sentgen.output.wording import quantity
from sentgen.schema.base import metadata, quote_identifier
from sentgen.schema.engine import arrow_reader, raw
from sentgen.schema.lakes import LakeFile, Manifest, file_schema
from sentgen.schema.places import MANIFEST, Place
from sentgen.schema.store import Store

#: Rows of a row group, which DuckDB reads or skips as a whole; DuckDB's own files have as many.
ROW_GROUP = 122_880
#: Rows of a file; DuckDB reads several files at a time.
FILE_ROWS = 80 * ROW_GROUP


def write_file(lake: Place, table: str, part: int, batches: Iterable[pa.RecordBatch]) -> LakeFile:
    """Write sorted rows of a table as one file, and return its entry for the manifest.

    The file is written under another name and renamed; equal rows make an equal file. One row group is in
    memory at a time.

    Args:
        part: index of the file among those of the table, from 0.
        batches: the rows, columns by name, in batches of any size.
    """
    with lake.draft() as (file, keep):
        rows = _write(file, file_schema(table), batches)
        size = file.tell()
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        name = LakeFile.name_of(table, part, digest)
        keep(name)
    return LakeFile(name, rows, size, digest)


def _write(file: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    # Imported late: servers read lakes without this module.
    import pyarrow.parquet as pq

    rows = 0
    # Floats hardly ever repeat: a dictionary would take a third of the time, and make the file larger.
    coded = [column.name for column in schema if column.type != pa.float64()]
    with pq.ParquetWriter(
        file, schema, compression="zstd", use_dictionary=coded, write_statistics=True
    ) as writer:
        for group in row_groups(batches, schema):
            writer.write_table(group, row_group_size=ROW_GROUP)
            rows += group.num_rows
    return rows


def row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows in tables of `ROW_GROUP` rows, the last one with fewer, in the columns of the schema."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch.select(schema.names).cast(schema))
        rows += batch.num_rows
        if rows >= ROW_GROUP:
            table = pa.Table.from_batches(waiting)
            whole = rows - rows % ROW_GROUP
            for begin in range(0, whole, ROW_GROUP):
                yield table.slice(begin, ROW_GROUP)
            waiting, rows = table.slice(whole).to_batches(), rows - whole
    if rows:
        yield pa.Table.from_batches(waiting)


def export(store: Store, lake: Place, *, progress: Callable[[str], None] = lambda _: None) -> Manifest:
    """Write all tables of a store as a lake, and return its manifest.

    If it is killed, there is no lake; the next run writes the same files again. Memory holds one row group at
    a time.

    Args:
        progress: called with one line for each table.

    Raises:
        StoreError: there is a lake already, or the lake cannot be written.
    """
    if lake.exists(MANIFEST):
        raise StoreError(f"{lake}: there is a lake here already; name another folder, or remove this one")
    tables = {}
    for name in metadata.tables:
        files = tuple(_files(store, lake, name))
        if files:
            tables[name] = files
            progress(f"{name}: {quantity(sum(file.rows for file in files), 'row')}")
    manifest = Manifest(tables)
    manifest.write(lake)
    return manifest


def load(lake: Place, path: Path, *, memory_limit: int | None = None) -> None:
    """Make a new store with the rows of a lake.

    Raises:
        DamagedError: a file of the lake differs from its hash in the manifest.
        StoreError: the store cannot be written.
    """
    manifest = Manifest.read(lake)
    for table in manifest.tables:
        if wrong := manifest.changed_files(lake, table):
            raise DamagedError(
                f"{lake.path(wrong[0].path)}: changed since it was written; "
                "copy the lake again, or make it again"
            )
    # With one thread, rows keep their order (`sentgen.schema.store.one_thread`).
    with (
        Store(path, create=True, memory_limit=memory_limit, threads=1) as store,
        store.connect() as connection,
    ):
        connection.rollback()
        duck = raw(connection)
        if lake.files is not None:
            duck.register_filesystem(lake.files)
        for reserved in ("word", "tag"):  # a transaction each: DuckDB cannot delete and insert a key in one
            duck.execute(f"delete from {reserved}")
        for name in metadata.tables:
            duck.execute(f"insert into {name} by name {manifest.rows_of(lake, name)}")
        duck.execute("checkpoint")


def _files(store: Store, lake: Place, table: str) -> Iterator[LakeFile]:
    columns = ", ".join(quote_identifier(column) for column in file_schema(table).names)
    with store.connect() as connection:
        # Rows come in the order of the store, which has sorted them by `sort_keys`.
        reader = arrow_reader(raw(connection), f"select {columns} from {table}", rows=ROW_GROUP)
        batches = (batch for batch in reader if batch.num_rows)
        for part, first in enumerate(batches):
            yield write_file(lake, table, part, _some(chain([first], batches)))


def _some(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches of one file, up to `FILE_ROWS` rows."""
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.num_rows
        if rows >= FILE_ROWS:
            return
