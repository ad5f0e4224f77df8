"""Tables for output, and their values as JSON, as CSV, in columns of Arrow and in workbooks.

The command line and the server both use these functions, so that they write the same. In workbooks, numbers
stay numbers, text is never a formula, and columns are as wide as their content.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from io import UnsupportedOperation
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from sentgen.errors import InputError, spell

if TYPE_CHECKING:
    import pyarrow as pa
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet


#: Types of DuckDB whose values are the same through Arrow as without it, with the types of Arrow.
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
    """A table for output: named columns, and rows from Python or from Arrow.

    Two columns may have the same name. A table from Arrow stays in Arrow, with its types, until it is read.
    """

    def __init__(
        self, columns: Sequence[str], rows: Iterable[Sequence[object]], types: Sequence[str] = ()
    ) -> None:
        """Make a table of rows, which are sequences of values.

        Args:
            columns: names of the columns.
            rows: the rows.
            types: names of the types in DuckDB, if known; all must be in `SIMPLE_TYPES`.
        """
        self.columns, self.types = list(columns), list(types)
        self._rows = rows if isinstance(rows, Sequence) else list(rows)
        self._table: pa.Table | None = None

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Rows:
        """Return the table for one of Arrow."""
        made = cls(table.column_names, ())
        made._table = table
        return made

    @property
    def rows(self) -> Sequence[Sequence[Any]]:
        """All rows, with Python values."""
        return self._rows if self._table is None else list(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self.columns == other.columns and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Sequence[Any]]:
        return iter(self._rows) if self._table is None else _python_rows(self._table)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self._rows) if self._table is None else self._table.num_rows

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return a dictionary per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self]

    def column(self, name: str) -> list[Any]:
        """Return the values of the first column of a name."""
        index = self.columns.index(name)
        return [row[index] for row in self._rows] if self._table is None else self._table[index].to_pylist()

    def slice(self, offset: int, length: int | None = None) -> Rows:
        """Return ``length`` rows from an offset on; ``None`` for all that follow."""
        if self._table is not None:
            return Rows.from_arrow(self._table.slice(offset, length))
        end = None if length is None else offset + length
        return Rows(self.columns, self._rows[offset:end], self.types)

    def first(self, limit: int) -> tuple[Rows, bool]:
        """Return the first ``limit`` rows, 0 for all, and whether there are more."""
        more = 0 < limit < self.num_rows
        return (self.slice(0, limit) if more else self), more

    def renamed(self, columns: Sequence[str]) -> Rows:
        """Return the table with other names for its columns."""
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
        """Return the table in Arrow; a column of unknown type with values of several types becomes text."""
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
    """Turn an error about values that cannot be written, as a year -4000, or an interval in Parquet.

    Raises:
        InputError: the block inside had such a value.
    """
    import pyarrow as pa

    try:
        yield
    except MemoryError:  # that of Arrow is also an ArrowException
        raise
    except (OverflowError, ValueError, pa.ArrowException) as error:
        shown = ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")
        raise InputError(
            f"a value of {shown} cannot be written ({str(error).rstrip('.')}); make it text in the query,"
            " such as cast(NAME as varchar)"
        ) from error


def distinct(columns: Sequence[str]) -> list[str]:
    """Return distinct names of columns, with a number after those that occur before.

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


#: Types of values that JSON can hold unchanged.
_PLAIN = frozenset({str, int, bool, type(None)})
#: Types of values that CSV can hold unchanged.
_PLAIN_FIELDS = _PLAIN - {bool}
#: One encoder for all rows, as `json.dumps` would make one for each.
_ROW = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def jsonable(value: object) -> object:
    """Return a value that JSON can hold: numbers stay numbers, and infinite ones and NaN become null."""
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
    """The output of a CSV writer, which returns each line to the caller in place of writing it."""

    @staticmethod
    def write(line: str) -> str:
        return line


def csv_lines(
    columns: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ","
) -> Iterator[str]:
    """Yield a table as CSV, line by line, beginning with the header."""
    # The default of csv is \r\n.
    line = csv.writer(_Line, delimiter=delimiter, lineterminator="\n").writerow
    yield str(line(columns))
    for row in rows:
        yield str(line([csv_value(value) for value in row]))


def write_parquet(schema: pa.Schema, tables: Iterable[pa.Table], sink: IO[bytes]) -> int:
    """Write the parts of a table, of which one is in memory at a time; return the number of rows.

    A part without rows gets no row group, as some readers fail on empty ones. Columns of the same name get a
    number.
    """
    import pyarrow as pa  # here, as most processes do not need it
    import pyarrow.parquet as pq

    names, rows = distinct(schema.names), 0
    renamed = pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])
    with writable(names), pq.ParquetWriter(sink, renamed) as writer:
        for table in tables:
            if table.num_rows:
                writer.write_table(table.rename_columns(names))
                rows += table.num_rows
    return rows


#: Most rows of a sheet, with the header, and most characters of a cell, in units of UTF-16.
MOST_ROWS, MOST_CHARACTERS = 1_048_576, 32_767
#: Number of first rows by which the widths of columns are set; least and largest width in characters.
_LOOKED_AT, _NARROW, _WIDE = 1_000, 6, 60
#: Largest exact integer of a cell, largest number, and first year of dates.
_EXACT, _LARGEST, _FIRST_YEAR = 2**53, 9.99999999999999e307, 1900


def write_workbook(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    sink: IO[bytes],
    *,
    on_disk: bool = True,
    about: Mapping[str, str] | None = None,
) -> int:
    """Write a table as the first sheet of a workbook; return the number of rows.

    Args:
        columns: distinct names of the columns.
        rows: the rows.
        sink: file to write the workbook to.
        on_disk: whether rows are held in temporary files, so that memory does not grow with the table.
        about: names and values for a second sheet.

    Raises:
        InputError: there are more rows than a sheet can hold, or a text is too long for a cell.
    """
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    # XlsxWriter refuses NaN and infinity, which a workbook cannot hold, instead of writing errors for them.
    settings = {"constant_memory": on_disk, "in_memory": not on_disk, "nan_inf_to_errors": False}
    archive = _Archive(sink)
    try:
        with Workbook(archive, settings) as workbook:
            number = _fill_sheet(workbook, columns, rows)
            if about:
                sheet = workbook.add_worksheet("source")
                sheet.set_column(1, 1, _WIDE)
                for row, (name, text) in enumerate(about.items()):
                    sheet.write_string(row, 0, name)
                    sheet.write_string(row, 1, text[: MOST_CHARACTERS // 2])
    except FileCreateError as error:
        archive.error = error.args[0]
    if archive.error:
        raise archive.error
    return number


class _Archive:
    """The file of a workbook, which ignores writes after the first error, and keeps that error.

    After an error, the library leaves its archive open, which writes its end when Python deletes it: if that
    failed, too, Python would print a traceback that nobody can catch.
    """

    def __init__(self, sink: IO[bytes]) -> None:
        self._sink, self._place = sink, 0
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        self._try(lambda: self._sink.write(data))
        self._place += len(data)
        return len(data)

    def seek(self, offset: int) -> int:
        self._try(lambda: self._sink.seek(offset))
        self._place = offset
        return offset

    def tell(self) -> int:
        return self._place

    def flush(self) -> None:
        self._try(self._sink.flush)

    def _try(self, do: Callable[[], object]) -> None:
        if self.error is None:
            try:
                do()
            except UnsupportedOperation:  # by which the archive recognises a pipe
                raise
            except OSError as error:
                self.error = error


def _fill_sheet(workbook: Workbook, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
    """Write a table to the first sheet of a workbook; return the number of rows."""
    following = iter(rows)
    first = list(islice(following, _LOOKED_AT))
    sheet = workbook.add_worksheet("sentgen")
    bold = workbook.add_format({"bold": True})
    forms = {
        datetime: workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        date: workbook.add_format({"num_format": "yyyy-mm-dd"}),
    }
    for column, width in enumerate(_sheet_widths(columns, first)):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 0)
    for column, name in enumerate(columns):
        sheet.write_string(0, column, name, bold)
    number = 0
    for number, row in enumerate(chain(first, following), 1):
        if number >= MOST_ROWS:
            raise InputError(
                f"more rows than a sheet of Excel holds ({MOST_ROWS - 1:,}); ask for fewer with"
                f" {spell('limit')},"
                f" or write {spell('csv')} or {spell('parquet')}"
            )
        for column, value in enumerate(row):
            _write_cell(sheet, number, column, value, forms, columns[column])
    return number


def _sheet_widths(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[int]:
    from rich.cells import cell_len  # here, as most output does not need it

    for index, name in enumerate(columns):
        longest = max(cell_len(str(row[index])) for row in rows) if rows else 0
        yield min(max(longest, cell_len(name), _NARROW) + 2, _WIDE)


def _write_cell(
    sheet: Worksheet, row: int, column: int, value: object, forms: Mapping[type[date], object], name: str
) -> None:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Decimal):
        value = jsonable(value) if value.is_finite() else float(value)
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) < _EXACT):
        if abs(value) <= _LARGEST:
            sheet.write_number(row, column, value)
        elif not math.isnan(
            value
        ):  # a cell has no such number, and an empty one would say that there is none
            sheet.write_string(row, column, str(value))
    elif isinstance(value, date) and value.year >= _FIRST_YEAR and getattr(value, "tzinfo", None) is None:
        sheet.write_datetime(row, column, value, forms[datetime if isinstance(value, datetime) else date])
    elif value is not None:
        text = str(csv_value(value)) if not isinstance(value, time) else value.isoformat()
        if (units := len(text.encode("utf-16-le")) // 2) > MOST_CHARACTERS:
            raise InputError(
                f"a text of {units:,} characters in row {row:,} of {name}: a cell of Excel holds"
                f" {MOST_CHARACTERS:,}; write {spell('csv')} or {spell('parquet')}"
            )
        if text:
            sheet.write_string(row, column, text)
