"""Make a lake of a store: what it holds, table by table, in the order of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

import pyarrow as pa

from sentgen.errors import StoreError
from sentgen.output.wording import quantity
from sentgen.schema.base import metadata, quoted
from sentgen.schema.engine import arrow_reader, raw
from sentgen.schema.lakes.files import FILE_ROWS, ROW_GROUP, write_file
from sentgen.schema.lakes.layout import LakeFile, Manifest, file_schema, is_lake, write_manifest
from sentgen.schema.lakes.places import Place
from sentgen.schema.store import Store


def export(store: Store, place: Place, *, progress: Callable[[str], None] = lambda _: None) -> Manifest:
    """Write all tables of a store as a lake, and return its manifest.

    Killed, it leaves no lake; run again, it makes the same files. Memory holds one row group at a time.

    Args:
        store: the store, which is only read.
        place: where the lake shall be.
        progress: called with one line a table.

    Raises:
        StoreError: a lake is there already, or it cannot be written.
    """
    if is_lake(place):
        raise StoreError(f"{place}: there is a lake here already; name another folder, or remove this one")
    tables = {}
    for name in metadata.tables:
        files = tuple(_files(store, place, name))
        if files:
            tables[name] = files
            progress(f"{name}: {quantity(sum(file.rows for file in files), 'row')}")
    manifest = Manifest(tables)
    write_manifest(place, manifest)
    return manifest


def _files(store: Store, place: Place, table: str) -> Iterator[LakeFile]:
    columns = ", ".join(quoted(column) for column in file_schema(table).names)
    with store.connect() as connection:
        # In the order of the rows, which is how the store has sorted them.
        reader = arrow_reader(raw(connection), f"select {columns} from {table}", rows=ROW_GROUP)
        batches = (batch for batch in reader if batch.num_rows)
        for part, first in enumerate(batches):
            yield write_file(place, table, part, _some(chain([first], batches)))


def _some(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches of one file."""
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.num_rows
        if rows >= FILE_ROWS:
            return
