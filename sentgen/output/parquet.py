"""How tables become Parquet, on the command line and in answers of the server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from sentgen.output.tabular import distinct, writable

if TYPE_CHECKING:
    import pyarrow as pa


def write_parquet(schema: pa.Schema, tables: Iterable[pa.Table], sink: IO[bytes]) -> int:
    """Write the parts of a table, of which one is in memory at a time; return their rows.

    A part without rows gets no row group, in which some readers look for values in vain. Columns of the same
    name are told apart by a number.
    """
    import pyarrow as pa  # as few ask for it, not every process should hold it
    import pyarrow.parquet as pq

    names, rows = distinct(schema.names), 0
    renamed = pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])
    with writable(names), pq.ParquetWriter(sink, renamed) as writer:
        for table in tables:
            if table.num_rows:
                writer.write_table(table.rename_columns(names))
                rows += table.num_rows
    return rows
