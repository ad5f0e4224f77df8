"""Tables on their way out: how a value is written as JSON, as CSV or in a column of Arrow.

The command line and the server write through these functions, so that both give the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from sentgen.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Rows:
    """A table made in Python: the names of its columns, and one sequence of values a row.

    ``types`` are those of the columns as DuckDB calls them, where they are known.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    types: Sequence[str] = ()

    @property
    def num_rows(self) -> int:
        """How many rows there are, by the name that Arrow has for it."""
        return len(self.rows)

    def slice(self, offset: int, length: int) -> Rows:
        """Return some of the rows."""
        return Rows(self.columns, self.rows[offset : offset + length], self.types)

    def to_pylist(self) -> list[dict[str, object]]:
        """Return a dictionary a row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


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


def names_of(table: pa.Table | Rows) -> list[str]:
    """Return the names of the columns."""
    return list(table.columns if isinstance(table, Rows) else table.column_names)


def rows_of(table: pa.Table | Rows) -> Iterator[Sequence[object]]:
    """Yield the rows as Python values."""
    return iter(table.rows) if isinstance(table, Rows) else arrow_rows(table)


def column_of(table: pa.Table | Rows, name: str) -> list[Any]:
    """Return the values of a column."""
    if not isinstance(table, Rows):
        return list(table[name].to_pylist())
    index = list(table.columns).index(name)
    return [row[index] for row in table.rows]


def with_column(table: pa.Table | Rows, name: str, texts: Sequence[str]) -> pa.Table | Rows:
    """Return the table with texts in place of a column, or in a new last one."""
    names = names_of(table)
    index = names.index(name) if name in names else len(names)
    if isinstance(table, Rows):
        columns, types = [*table.columns], [*table.types]
        columns[index : index + 1] = [name]
        types[index : index + 1] = ["VARCHAR"] if types else []
        rows = [(*row[:index], text, *row[index + 1 :]) for row, text in zip(table.rows, texts, strict=True)]
        return Rows(columns, rows, types)
    import pyarrow as pa

    column = pa.array(texts, pa.string())
    return table.set_column(index, name, column) if name in names else table.append_column(name, column)


def without_columns(table: pa.Table | Rows, names: Sequence[str]) -> pa.Table | Rows:
    """Return the table without some columns."""
    if not names:
        return table
    if not isinstance(table, Rows):
        return table.drop_columns(list(names))
    indexes = [index for index, name in enumerate(table.columns) if name not in names]
    types = [table.types[index] for index in indexes] if table.types else ()
    rows = [tuple(row[index] for index in indexes) for row in table.rows]
    return Rows([table.columns[index] for index in indexes], rows, types)


def in_order(table: pa.Table | Rows, names: Sequence[str]) -> pa.Table | Rows:
    """Return the table with its columns in another order."""
    if not isinstance(table, Rows):
        return table.select(list(names))
    indexes = [list(table.columns).index(name) for name in names]
    types = [table.types[index] for index in indexes] if table.types else ()
    return Rows(list(names), [tuple(row[index] for index in indexes) for row in table.rows], types)


def arrow_of(table: pa.Table | Rows) -> pa.Table:
    """Return the same table in Arrow."""
    if not isinstance(table, Rows):
        return table
    if not table.types:
        return as_arrow(table.columns, table.rows)
    import pyarrow as pa

    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    types = [pa.type_for_alias(SIMPLE_TYPES[name]) for name in table.types]
    arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=list(table.columns))


def arrow_rows(table: pa.Table) -> Iterator[tuple[object, ...]]:
    """Yield the rows of an Arrow table as Python values."""
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


def as_arrow(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> pa.Table:
    """Build an Arrow table; a column of mixed types becomes text."""
    import pyarrow as pa

    listed = list(rows)
    arrays = []
    for values in zip(*listed, strict=True) if listed else [()] * len(columns):
        try:
            arrays.append(pa.array(values))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            arrays.append(pa.array([None if value is None else str(value) for value in values], pa.string()))
    return pa.table(arrays, names=list(columns))


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
