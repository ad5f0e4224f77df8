"""Rows that are stored in a later transaction: kept in memory while they are few, else in Arrow files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from sqlalchemy import Connection

from sentgen.schema import folders
from sentgen.schema.store import append

#: Bytes of rows that are kept in memory: half a million tokens with their trees.
_IN_MEMORY = 32 << 20
#: Rows of a statement: with fewer than a row group (122,880), DuckDB copies them once more.
_STATEMENT_ROWS = 500_000


@dataclass(slots=True)
class _Part:
    """Rows of a table with the same columns in the same order."""

    table: str
    schema: pa.Schema
    rows: list[pa.Table] = field(default_factory=list)
    file: pa.OSFile | None = None
    written: pa.RecordBatchStreamWriter | None = None
    path: Path | None = None

    def spill(self, folder: Path) -> None:
        """Write the rows in memory to the disk."""
        if self.written is None:
            descriptor, name = tempfile.mkstemp(prefix=f"{self.table}-", dir=folder)
            os.close(descriptor)  # Windows removes nothing that is open
            self.path = Path(name)
            self.file = pa.OSFile(str(self.path), "wb")
            self.written = pa.ipc.new_stream(self.file, self.schema)
        self._flush(self.written)

    def _flush(self, written: pa.RecordBatchStreamWriter) -> None:
        for rows in self.rows:
            written.write_table(rows)
        self.rows.clear()

    def read(self) -> pa.RecordBatchReader:
        if self.written is None:
            return pa.Table.from_batches(
                [batch for rows in self.rows for batch in rows.to_batches()], self.schema
            ).to_reader()
        # Rows that were added after the last spill.
        self._flush(self.written)
        self.close()
        self.file = pa.OSFile(str(self.path), "rb")
        return pa.ipc.open_stream(self.file)

    def close(self) -> None:
        if self.written is not None and self.file is not None and not self.file.closed:
            if self.file.writable():
                self.written.close()
            self.file.close()


def _together(batches: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield tables of `_STATEMENT_ROWS` rows or more, but for the last one."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _STATEMENT_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


class Draft:
    """The rows that an ingestion will store; until then, others may read the store.

    Args:
        folder: folder for the files, which the caller removes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._parts, self._bytes = folder, list[_Part](), 0
        #: For each table the part to which rows are added.
        self._current: dict[str, _Part] = {}

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows of a table behind its earlier rows."""
        part = self._current.get(table)
        if part is None or part.schema != rows.schema:
            part = self._current[table] = _Part(table, rows.schema)
            self._parts.append(part)
        part.rows.append(rows)
        self._bytes += rows.nbytes
        if self._bytes > _IN_MEMORY:
            folders.make(self.folder)
            for one in self._parts:
                one.spill(self.folder)
            self._bytes = 0

    def write(self, connection: Connection) -> None:
        """Store all rows, and empty the draft."""
        for table, rows in self.read():
            # In several statements, as DuckDB keeps the rows of an insert in memory, up to its limit.
            for some in _together(rows):
                append(connection, table, some)
        self.close()

    def read(self) -> Iterator[tuple[str, pa.RecordBatchReader]]:
        """Yield each table with its rows; one whose rows differ in their columns is yielded repeatedly."""
        for part in self._parts:
            yield part.table, part.read()

    def close(self) -> None:
        """Remove the files."""
        for part in self._parts:
            part.close()
            if part.path is not None:
                part.path.unlink(missing_ok=True)
        self._parts, self._current, self._bytes = [], {}, 0
