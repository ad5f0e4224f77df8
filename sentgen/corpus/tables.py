"""Reads tables as rows of texts: CSV, TSV, Parquet, and the first sheet of a workbook."""

from __future__ import annotations

import csv
import json
import logging
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any, BinaryIO

from sentgen.corpus.sources import BLOCK_BYTES, BROKEN, check_expansion
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.output.tabular import csv_value

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

#: Lines by which the delimiter is detected, and rows by which columns are ordered by their text.
_SAMPLE = 200
_DELIMITERS = ",;\t|"
#: The line before the header that names the separator for Excel; spreadsheets add empty fields to it.
_SEPARATOR = re.compile(r'"?sep=([^\w"\r\n])"?[,;\t|]*', re.IGNORECASE)
#: Rows of Parquet that are in memory at once.
_BATCH = 1024
#: Most bytes of the unpacked members of a workbook.
_MOST_SHEET = 2 << 30
#: Most columns that a message names.
_MOST_TOLD = 12


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: its line or number in the sheet, and a text per column, empty for no value.

    In a column of lists, a value is a list, or ``None``.
    ``wrong`` is the reason why a row cannot be read; then it has no values.
    """

    number: int
    values: Sequence[Any] = ()
    wrong: str = ""

    def text(self, column: int) -> str:
        """Return a value as text, a list as JSON."""
        return as_text(self.values[column])


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table: the names of its columns, and its rows, which can be read only once.

    ``depths`` are the depths of nested lists by column, 0 for no list; without them, the table has no lists.
    """

    path: str
    columns: Sequence[str]
    rows: Iterator[TableRow]
    depths: Sequence[int] = ()

    def depth(self, column: int) -> int:
        """Return the depth of the nested lists of a column."""
        return self.depths[column] if self.depths else 0

    def column_index(self, name: str, option: str) -> int:
        """Return the index of a column; ``option`` gave the name, for the message.

        Raises:
            InputError: there is no column of that name.
        """
        if name not in self.columns:
            shown = ", ".join(self.columns[:_MOST_TOLD])
            more = ", ..." if len(self.columns) > _MOST_TOLD else ""
            raise InputError(f"{option} {name!r} is no column; there are: {shown}{more}", path=self.path)
        return self.columns.index(name)

    def most_text_first(self) -> str:
        """Return the names of columns for a message, those with the longest texts first; reads some rows."""
        sizes = [0] * len(self.columns)
        for row in islice(self.rows, _SAMPLE):
            for column in range(len(row.values)):
                sizes[column] += len(row.text(column))
        order = sorted(range(len(sizes)), key=lambda column: (-sizes[column], column))
        shown = ", ".join(self.columns[column] for column in order[:_MOST_TOLD])
        return shown + (", ..." if len(order) > _MOST_TOLD else "")


def _with_header(path: str, rows: Iterator[TableRow]) -> TextTable:
    """Return a table from rows of which the first names the columns."""
    first = next(rows, None)
    if first is None:
        raise InputError("is a table without a row", path=path)
    if first.wrong:
        raise InputError(first.wrong, path=path, line=first.number)
    columns = [name.strip() or f"column_{number}" for number, name in enumerate(first.values, 1)]
    for name in columns:
        if columns.count(name) > 1:
            raise InputError(f"two columns are called {name!r}; rename one", path=path, line=first.number)
    size = len(columns)

    def checked(row: TableRow) -> TableRow:
        if row.wrong or len(row.values) == size:
            return row
        return TableRow(row.number, wrong=f"{len(row.values)} fields in a row where the header has {size}")

    return TextTable(path, columns, map(checked, rows))


def read_csv(lines: Iterable[str], *, path: str, delimiter: str = "") -> TextTable:
    """Read CSV with a header, by RFC 4180; without a ``delimiter``, it is detected from the first lines.

    A line `sep=;` before the header, as Excel knows it, takes precedence over both.
    Quotes are part of the fields of a tab-separated table whose first lines have no quoted fields.
    """
    stream = iter(lines)
    sample = list(islice(stream, _SAMPLE))
    separator = _SEPARATOR.fullmatch(sample[0]) if sample else None
    if separator is not None:
        delimiter = separator[1]
    # A blank line in place of `sep=`, so that lines keep their numbers.
    before = [""] if separator else []
    sample = sample[len(before) :]
    delimiter = delimiter or _delimiter(sample)
    quotes = delimiter != "\t" or not _has_bare_quotes(sample)
    csv.field_size_limit(LIMITS.line_length)
    return _with_header(path, _csv_rows(chain(before, sample, stream), path, delimiter, quotes=quotes))


def _csv_rows(lines: Iterable[str], path: str, delimiter: str, *, quotes: bool) -> Iterator[TableRow]:
    several = (f"{line}\n" for line in lines)
    if quotes:
        read = csv.reader(several, delimiter=delimiter, strict=True)
    else:
        read = csv.reader(several, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    while True:
        number = read.line_num + 1
        try:
            values = next(read)
        except StopIteration:
            return
        except csv.Error as error:
            if "expected after" not in str(error):
                message = f"no row of CSV begins here ({error}); does a quote not close?"
                raise InputError(message, path=path, line=number) from error
            yield TableRow(number, wrong="a quote in this row does not close, or is not written twice")
            continue
        if values:
            yield TableRow(number, values)


def _delimiter(sample: Sequence[str]) -> str:
    """Return the delimiter that splits most rows into as many fields as the header.

    Among several, it is the one with more quotes next to it, and then the one that makes more fields.

    >>> _delimiter(["a;b,c", "1;2"]), _delimiter(["a", "b, c"])
    (';', ',')
    """
    joined = "\n".join(sample)

    def fits(delimiter: str) -> tuple[float, int, int]:
        rows = [row for row in csv.reader([f"{line}\n" for line in sample], delimiter=delimiter) if row]
        if len(sample) == _SAMPLE and len(rows) > 2:
            rows.pop()  # which may continue after the sample
        size = len(rows[0]) if rows else 0
        alike = sum(len(row) == size for row in rows)
        quotes = joined.count(f'{delimiter}"') + joined.count(f'"{delimiter}')
        return (alike / len(rows), quotes, size) if size > 1 else (0.0, 0, 0)

    csv.field_size_limit(LIMITS.line_length)
    try:
        return max(_DELIMITERS, key=fits)
    except csv.Error:
        return _DELIMITERS[0]


def _has_bare_quotes(sample: Sequence[str]) -> bool:
    """Return whether fields of a tab-separated table begin with a quote that does not quote the field."""
    fields = [field for line in sample for field in line.split("\t") if field.startswith('"')]
    if not fields:
        return False
    size = sample[0].count("\t")
    try:
        rows = [*csv.reader([f"{line}\n" for line in sample], delimiter="\t", strict=True)]
    except csv.Error:
        rows = []
    # Without rows, as a quoted field may continue after the sample.
    fit = rows and all(len(row) == size + 1 for row in rows if row)
    return not fit and all(line.count("\t") == size for line in sample if line)


def read_parquet(file: BinaryIO, *, path: str) -> TextTable:
    """Read Parquet, some rows at a time; numbers of labels are replaced by the names that the file has."""
    import pyarrow.parquet as pq

    with read_by_library(path, "Parquet"):
        opened = pq.ParquetFile(file)
        schema = opened.schema_arrow
        columns, depths = schema.names, [_depth(field.type) for field in schema]
        labels = [_labels_of(schema, name) for name in columns]

    def rows() -> Iterator[TableRow]:
        yield TableRow(0, columns)
        with read_by_library(path, "Parquet"):
            numbers = count(1)
            for batch in opened.iter_batches(_BATCH):
                values = [*map(_cells, batch.columns, depths, labels)]
                yield from map(TableRow, numbers, zip(*values, strict=True))

    return replace(_with_header(path, rows()), depths=depths)


def _cells(column: pa.Array, depth: int, labels: Sequence[str]) -> list[Any]:
    values = column.to_pylist()
    if labels:
        values = [_labelled(value, labels) for value in values]
    return values if depth else [*map(as_text, values)]


def _depth(kind: pa.DataType) -> int:
    """Return the depth of nested lists of texts, numbers or truth values; 0 for other types."""
    import pyarrow.types as of

    depth = 0
    while of.is_list(kind) or of.is_large_list(kind) or of.is_fixed_size_list(kind):
        depth, kind = depth + 1, kind.value_type
    return 0 if of.is_nested(kind) else depth


def _labels_of(schema: pa.Schema, name: str) -> Sequence[str]:
    """Return the names of the labels in a column, by number, from the metadata that Hugging Face writes."""
    try:
        feature = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"][name]
        while isinstance(feature.get("feature"), dict):
            feature = feature["feature"]
        names = feature["names"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return ()
    return names if isinstance(names, list) and all(isinstance(label, str) for label in names) else ()


def _labelled(value: object, labels: Sequence[str]) -> object:
    """Return the label of a number, or labels of a list of numbers; ``None`` for a number without a label."""
    if isinstance(value, list):
        return [_labelled(item, labels) for item in value]
    return labels[value] if isinstance(value, int) and 0 <= value < len(labels) else None


def read_sheet(file: BinaryIO, *, path: str) -> TextTable:
    """Read the first sheet of a workbook; cells with formulas have the values that were stored with them."""
    with needs("documents", "python-calamine"):
        from python_calamine import CalamineWorkbook

    check_archive(file, path=path, most=_MOST_SHEET)
    with read_by_library(path, "workbook"):
        workbook = CalamineWorkbook.from_filelike(file)
        first, *others = workbook.sheet_names
        sheet = workbook.get_sheet_by_name(first)
        above = sheet.start[0] if sheet.start else 0
        read = sheet.iter_rows()
    if others:
        names = ", ".join(others[:_MOST_TOLD])
        logger.warning("%s: the first sheet, %s, is read; not read: %s", path, first, names)

    def rows() -> Iterator[TableRow]:
        with read_by_library(path, "workbook"):
            for number, values in enumerate(read, above + 1):
                texts = [as_text(value) for value in values]
                if any(texts):
                    yield TableRow(number, texts)

    return _with_header(path, rows())


@contextmanager
def read_by_library(path: str, what: str) -> Iterator[None]:
    """Turn any exception of a library that reads a file into an `InputError` of one line."""
    try:
        yield
    except (MemoryError, InputError):
        raise
    except Exception as error:
        message = str(error).split("\n")[0][:200] or type(error).__name__
        raise InputError(f"cannot read this {what}: {message}", path=path) from error
    except BaseException as error:
        # A panic in Rust is a `BaseException`.
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(f"cannot read this {what}; it is damaged", path=path) from error


def as_text(value: object) -> str:
    """Return a value as text, whole numbers without a fraction and dates without a time; empty for none."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(csv_value(value)).removesuffix("T00:00:00")


def check_archive(file: BinaryIO, *, path: str, most: int | None = None) -> None:
    """Refuse a zip that is broken or expands too much; the sizes in its directory are not trusted.

    The file is seekable, and its position is 0 afterward; ``most`` are the bytes of all members together.
    """
    begins = file.read(4)
    file.seek(0)
    if begins[:2] != b"PK":
        return
    total = 0
    try:
        with zipfile.ZipFile(file) as archive:
            if len(archive.infolist()) > LIMITS.archive_members:
                raise InputError(f"more than {LIMITS.archive_members} members", path=path)
            for info in archive.infolist():
                with archive.open(info) as member:
                    expanded = 0
                    while block := member.read(BLOCK_BYTES):
                        expanded += len(block)
                        check_expansion(expanded, info.compress_size, path=path)
                    total += expanded
                    if most is not None and total > most:
                        raise InputError(f"expands to more than {most} bytes; save it as CSV", path=path)
    except BROKEN as error:
        raise InputError(f"cannot read this zip: {error}", path=path) from error
    file.seek(0)
