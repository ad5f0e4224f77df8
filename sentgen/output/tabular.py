"""Tables on their way out: how a value is written as JSON, as CSV or in a column of Arrow.

The command line and the server write through these functions, so that both give the same.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from sentgen.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


#: Types of DuckDB whose values are the same by way of Arrow and without it, and their names in Arrow.
SIMPLE_TYPES = {
    "VARCHAR": "string",
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "DOUBLE": "float64",
}


class Rows:
    """A table on its way out: named columns, and rows that were made in Python or by Arrow.

    Two columns may have one name. What came as Arrow stays there, with its types, until somebody reads it.
    """

    def __init__(
        self, columns: Sequence[str], rows: Iterable[Sequence[object]], types: Sequence[str] = ()
    ) -> None:
        """Make a table of rows, a sequence of values each.

        Args:
            columns: their names.
            rows: the rows.
            types: those of the columns as DuckDB calls them, where they are known; all of `SIMPLE_TYPES`.
        """
        self.columns, self.types = list(columns), list(types)
        self._rows = rows if isinstance(rows, Sequence) else list(rows)
        self._table: pa.Table | None = None

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Rows:
        """Return the same table, which Arrow made."""
        made = cls(table.column_names, ())
        made._table = table
        return made

    @property
    def rows(self) -> Sequence[Sequence[Any]]:
        """The rows as Python values, all of them."""
        return self._rows if self._table is None else list(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self.columns == other.columns and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Sequence[Any]]:
        return iter(self._rows) if self._table is None else _python_rows(self._table)

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self._rows) if self._table is None else self._table.num_rows

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return a dictionary a row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, the first of this name."""
        index = self.columns.index(name)
        return [row[index] for row in self._rows] if self._table is None else self._table[index].to_pylist()

    def slice(self, offset: int, length: int | None = None) -> Rows:
        """Return some of the rows; ``None`` for all from the first of them on."""
        if self._table is not None:
            return Rows.from_arrow(self._table.slice(offset, length))
        end = None if length is None else offset + length
        return Rows(self.columns, self._rows[offset:end], self.types)

    def first(self, limit: int) -> tuple[Rows, bool]:
        """Return the first rows, 0 for all, and whether there are more."""
        more = 0 < limit < self.num_rows
        return (self.slice(0, limit) if more else self), more

    def renamed(self, columns: Sequence[str]) -> Rows:
        """Return the table with other names of its columns."""
        if self._table is not None:
            return Rows.from_arrow(self._table.rename_columns(list(columns)))
        return Rows(columns, self._rows, self.types)

    def select(self, names: Sequence[str]) -> Rows:
        """Return some of the columns, in this order."""
        return self._select([self.columns.index(name) for name in names])

    def without(self, names: Collection[str]) -> Rows:
        """Return the table without some columns."""
        return self._select([index for index, name in enumerate(self.columns) if name not in names])

    def _select(self, indexes: Sequence[int]) -> Rows:
        if self._table is not None:
            return Rows.from_arrow(self._table.select(list(indexes)))
        types = [self.types[index] for index in indexes] if self.types else ()
        rows = [tuple(row[index] for index in indexes) for row in self._rows]
        return Rows([self.columns[index] for index in indexes], rows, types)

    def with_texts(self, name: str, texts: Sequence[str]) -> Rows:
        """Return the table with texts in place of a column, or in a new last one."""
        index = self.columns.index(name) if name in self.columns else len(self.columns)
        if self._table is not None:
            import pyarrow as pa

            column, rest = pa.array(texts, pa.string()), self._table
            return Rows.from_arrow(
                rest.set_column(index, name, column)
                if index < rest.num_columns
                else rest.append_column(name, column)
            )
        columns, types = [*self.columns], [*self.types]
        columns[index : index + 1] = [name]
        types[index : index + 1] = ["VARCHAR"] if types else []
        rows = [(*row[:index], text, *row[index + 1 :]) for row, text in zip(self._rows, texts, strict=True)]
        return Rows(columns, rows, types)

    def arrow(self) -> pa.Table:
        """Return the same table in Arrow; where types are not known, a column of mixed ones becomes text."""
        if self._table is not None:
            return self._table
        import pyarrow as pa

        columns = list(zip(*self._rows, strict=True)) if self._rows else [()] * len(self.columns)
        types = map(SIMPLE_TYPES.__getitem__, self.types) if self.types else [None] * len(columns)
        arrays = [_arrow_column(values, kind) for values, kind in zip(columns, types, strict=True)]
        return pa.table(arrays, names=self.columns)


def _arrow_column(values: Sequence[object], kind: str | None) -> pa.Array:
    import pyarrow as pa

    if kind is not None:
        return pa.array(values, pa.type_for_alias(kind))
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())


def _python_rows(table: pa.Table) -> Iterator[tuple[object, ...]]:
    names = table.column_names
    for batch in table.to_batches(max_chunksize=4096):
        with writable(names):
            rows = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        yield from rows


@contextmanager
def writable(columns: Sequence[str]) -> Iterator[None]:
    """Say so where Arrow has values that cannot be written: Python has no year -4000, Parquet no intervals.

    Raises:
        InputError: there is such a value inside.
    """
    import pyarrow as pa

    try:
        yield
    except MemoryError:  # Arrow's is an ArrowException, too
        raise
    except (OverflowError, ValueError, pa.ArrowException) as error:
        shown = ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")
        raise InputError(
            f"a value of {shown} cannot be written ({str(error).rstrip('.')}); make it text in the query,"
            " such as cast(NAME as varchar)"
        ) from error


def distinct(columns: Sequence[str]) -> list[str]:
    """Tell columns of the same name apart by a number.

    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    numbers: dict[str, int] = {}
    for column in columns:
        name = column
        while name in numbers:
            numbers[column] += 1
            name = f"{column}_{numbers[column]}"
        numbers[name] = 1
    return list(numbers)


#: Types of values that JSON has as they are.
_PLAIN = frozenset({str, int, bool, type(None)})
#: Those that CSV has as they are.
_PLAIN_FIELDS = _PLAIN - {bool}
#: Made once: `json.dumps` makes one for each row.
_ROW = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def jsonable(value: object) -> object:
    """Return a value that JSON can hold: numbers stay numbers, what is no finite number becomes null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return jsonable(value.item()) if hasattr(value, "item") else str(value)


def json_row(columns: Sequence[str], row: Sequence[object]) -> str:
    """Return a row as a JSON object."""
    return _ROW.encode(
        {
            name: value if type(value) in _PLAIN else jsonable(value)
            for name, value in zip(columns, row, strict=True)
        }
    )


def csv_value(value: object) -> object:
    """Return a value as a field of CSV: lists, structures and truth values as JSON."""
    if type(value) in _PLAIN_FIELDS or (isinstance(value, float) and math.isfinite(value)):
        return value
    value = jsonable(value)
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value, ensure_ascii=False)
    return value


class _Line:
    """Takes a line, and gives it back to whoever made it."""

    @staticmethod
    def write(line: str) -> str:
        return line


def csv_lines(
    columns: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ","
) -> Iterator[str]:
    """Yield a table as CSV, line by line, its head first."""
    # csv ends lines with \r\n if nobody says otherwise.
    line = csv.writer(_Line, delimiter=delimiter, lineterminator="\n").writerow
    yield str(line(columns))
    for row in rows:
        yield str(line([csv_value(value) for value in row]))


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
