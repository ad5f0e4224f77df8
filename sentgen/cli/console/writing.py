"""How rows are written to standard output, a part in memory at a time."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sentgen.output.tabular import Rows, csv_value, json_row

if TYPE_CHECKING:
    import pyarrow as pa


class FirstRows:
    """The first rows of a table in parts (limit 0: all): how many there were, and whether there are more."""

    def __init__(self, tables: Iterable[pa.Table | Rows], limit: int) -> None:
        self._tables, self._limit = tables, limit
        self.number, self.more = 0, False

    def __iter__(self) -> Iterator[pa.Table | Rows]:
        for table in self._tables:
            kept = table.slice(0, self._limit - self.number) if self._limit else table
            self.number += kept.num_rows
            yield kept
            # One that comes after the limit is cut to nothing, which tells that there is more.
            if kept.num_rows < table.num_rows:
                self.more = True
                return


def write_json(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    separator = "["
    for row in rows:
        sys.stdout.write(f"{separator}{json_row(columns, row)}")
        separator = ",\n "
    sys.stdout.write("[]\n" if separator == "[" else "]\n")


def write_jsonl(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    for row in rows:
        sys.stdout.write(f"{json_row(columns, row)}\n")


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str) -> None:
    # csv ends lines with \r\n if nobody says otherwise.
    writer = csv.writer(sys.stdout, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([csv_value(value) for value in row] for row in rows)
