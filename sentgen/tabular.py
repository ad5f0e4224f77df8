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

import pyarrow as pa

from sentgen.errors import InputError


@dataclass(frozen=True, slots=True)
class Rows:
    """A table made in Python: the names of its columns, and one sequence of values a row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


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
    kept = list(rows)
    arrays = []
    for values in zip(*kept, strict=True) if kept else [()] * len(columns):
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
    item = {name: jsonable(value) for name, value in zip(columns, row, strict=True)}
    return json.dumps(item, ensure_ascii=False, allow_nan=False)


def csv_value(value: object) -> object:
    """Return a value as a field of CSV: lists, structures and truth values as JSON."""
    value = jsonable(value)
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value, ensure_ascii=False)
    return value
