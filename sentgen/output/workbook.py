"""Tables as workbooks of Excel: numbers stay numbers, text is never a formula, columns fit what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from io import UnsupportedOperation
from itertools import chain, islice
from math import isnan
from typing import IO, TYPE_CHECKING

from rich.cells import cell_len

from sentgen.errors import InputError, spell
from sentgen.output.tabular import csv_value, jsonable

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

#: What a sheet holds, its head included, and a cell, in units of UTF-16.
MOST_ROWS, MOST_CHARACTERS = 1_048_576, 32_767
#: Rows that say how wide the columns are; characters of the narrowest and the widest.
_LOOKED_AT, _NARROW, _WIDE = 1_000, 6, 60
#: Digits that a cell keeps of a number, the largest number, and the first year that its dates have.
_EXACT, _LARGEST, _FIRST_YEAR = 2**53, 9.99999999999999e307, 1900


def write_workbook(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    sink: IO[bytes],
    *,
    on_disk: bool = True,
    about: Mapping[str, str] | None = None,
) -> int:
    """Write a table as the first sheet of a workbook; return its rows.

    Args:
        columns: their names, each once.
        rows: the rows.
        sink: where the workbook goes.
        on_disk: whether rows wait in temporary files, so that a table of any size takes the same memory.
        about: what is said of it on a second sheet, by what that is.

    Raises:
        InputError: a sheet cannot hold that many rows, or a cell such a long text.
    """
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    # A text that looks like a link or a number stays a text.
    settings = {"constant_memory": on_disk, "in_memory": not on_disk, "nan_inf_to_errors": False}
    archive = _Archive(sink)
    try:
        with Workbook(archive, settings) as workbook:
            number = _fill(workbook, columns, rows)
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
    """Where a workbook goes until that fails, and what the error was.

    The archive that the library leaves open then writes its end wherever Python throws it away: were that to
    fail, too, it would be with a traceback that nobody can catch.
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
            except UnsupportedOperation:  # a pipe, which the archive has to know
                raise
            except OSError as error:
                self.error = error


def _fill(workbook: Workbook, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
    """Write a table as the first sheet of a workbook; return its rows."""
    following = iter(rows)
    first = list(islice(following, _LOOKED_AT))
    sheet = workbook.add_worksheet("sentgen")
    bold = workbook.add_format({"bold": True})
    forms = {
        datetime: workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        date: workbook.add_format({"num_format": "yyyy-mm-dd"}),
    }
    for column, width in enumerate(_widths(columns, first)):
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
            _write(sheet, number, column, value, forms, columns[column])
    return number


def _widths(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[int]:
    for index, name in enumerate(columns):
        longest = max(cell_len(str(row[index])) for row in rows) if rows else 0
        yield min(max(longest, cell_len(name), _NARROW) + 2, _WIDE)


def _write(
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
        elif not isnan(value):  # a cell has no such number, and an empty one would say that there is none
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
