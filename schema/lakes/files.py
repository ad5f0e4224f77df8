"""Write the Parquet files of a lake: the same rows make the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from sentgen.schema.lakes.layout import LakeFile, file_name, file_schema
from sentgen.schema.lakes.places import Place

#: Rows of a row group, which DuckDB reads or skips as one: as many as in its own files.
ROW_GROUP = 122_880
#: Rows of a file, of which several are read at a time.
FILE_ROWS = 80 * ROW_GROUP


def write_file(place: Place, table: str, part: int, batches: Iterable[pa.RecordBatch]) -> LakeFile:
    """Write sorted rows of a table as one file, and return what the manifest says of it.

    It is written aside and renamed; written again, it is the same file. One row group is in memory at a time.

    Args:
        place: the lake.
        table: the table of the store.
        part: place of the file among those of the table, from 0.
        batches: the rows, columns by name, in batches of any size.
    """
    with place.draft() as (file, keep):
        rows = _write(file, file_schema(table), batches)
        size = file.tell()
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        name = file_name(table, part, digest)
        keep(name)
    return LakeFile(name, rows, size, digest)


def _write(file: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    rows = 0
    # Hardly any two logarithms are the same: a dictionary of them takes a third of the time, and more bytes.
    coded = [column.name for column in schema if column.type != pa.float64()]
    with pq.ParquetWriter(
        file, schema, compression="zstd", use_dictionary=coded, write_statistics=True
    ) as writer:
        for group in row_groups(batches, schema):
            writer.write_table(group, row_group_size=ROW_GROUP)
            rows += group.num_rows
    return rows


def row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows in tables of `ROW_GROUP` rows, the last one of less, with the columns of the schema."""
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
