"""Results as bytes: JSON, CSV, TSV, Parquet, Arrow or a workbook, cut at the limits of the server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentgen.output.tabular import (
    MOST_ROWS,
    csv_lines,
    csv_value,
    distinct,
    json_row,
    writable,
    write_parquet,
    write_workbook,
)
from sentgen.server.operations import Limits
from sentgen.server.operations.operation import Result
from sentgen.server.wire import MEDIA_TYPES, Format, Reply

#: Characters that begin a formula in spreadsheets (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(
    result: Result,
    form: Format,
    limits: Limits,
    *,
    command: str = "",
    citation: str = "",
    escape_formulas: bool = False,
) -> Reply:
    """Write a result.

    JSON is one object with rows and what there is to say about them; the other formats are the rows alone.

    Args:
        result: what to write.
        form: how.
        limits: the most rows, cells and bytes.
        command: the command line that gives the same, for JSON.
        citation: how to cite the answer, for JSON and a second sheet of a workbook.
        escape_formulas: put an apostrophe before what a spreadsheet would compute, in CSV and TSV.
    """
    columns = distinct(result.table.columns)
    # At least one row, even if it has too many cells.
    most = min(limits.rows, max(limits.cells // max(len(columns), 1), 1))
    if form in (Format.PARQUET, Format.ARROW):
        return _arrow(result, form, columns, most, limits.bytes)
    if form is Format.XLSX:
        about = {"citation": citation, "command": command} if citation else {}
        return _workbook(result, columns, most, limits.bytes, about)
    if form in (Format.CSV, Format.TSV):
        delimiter = "\t" if form is Format.TSV else ","
        fields = map(_harmless, result.table) if escape_formulas else iter(result.table)
        lines = csv_lines(_harmless(columns) if escape_formulas else columns, fields, delimiter)
        written, rows, cut = _within(lines, most, limits.bytes, heads=1)
    else:
        objects = (json_row(columns, row) for row in result.table)
        written, rows, cut = _within(objects, most, limits.bytes)
    truncated = cut or result.truncated
    if form is Format.JSON:
        document: dict[str, object] = {
            "columns": columns,
            "truncated": truncated,
            "notes": list(result.notes),
            "sql": list(result.sql),
            "command": command,
            "more": dict(result.more),
        }
        if citation:
            document["citation"] = citation
        # The rows are JSON already, and are inserted before the closing brace, not parsed again.
        head = json.dumps(document, ensure_ascii=False, allow_nan=False)[:-1]
        text = f'{head}, "rows": [{", ".join(written)}]}}'
    else:
        end = "\n" if form is Format.JSONL else ""
        text = "".join(f"{line}{end}" for line in written)
    return Reply(200, text.encode("utf-8", "replace"), MEDIA_TYPES[form], rows, truncated)


def _within(
    lines: Iterator[str], most_rows: int, most_bytes: int, *, heads: int = 0
) -> tuple[list[str], int, bool]:
    """Return the lines within the limits, the number of rows among them, and whether lines are left."""
    taken: list[str] = []
    size = 0
    for line in lines:
        # Checked in bytes before the line is added, so that the limit holds in any script.
        size += len(line.encode("utf-8", "replace"))
        if len(taken) - heads >= most_rows or size > most_bytes:
            return taken, max(len(taken) - heads, 0), True
        taken.append(line)
    return taken, max(len(taken) - heads, 0), False


def _harmless(row: Sequence[Any]) -> list[Any]:
    """Return the fields of a row, with an apostrophe before those that look like a formula."""
    fields = map(csv_value, row)
    return [
        f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value for value in fields
    ]


def _arrow(result: Result, form: Format, columns: Sequence[str], most_rows: int, most_bytes: int) -> Reply:
    """Write Parquet, or a stream of Arrow; a table with too many bytes is halved until it fits."""
    import pyarrow as pa  # imported only when needed, to save memory in each process

    whole = result.table.renamed(columns).arrow()
    part = whole.slice(0, most_rows)
    while part.num_rows and part.nbytes > most_bytes:
        # `nbytes` is the size in memory; the file is usually smaller.
        part = whole.slice(0, part.num_rows // 2)
    buffer = io.BytesIO()
    if form is Format.PARQUET:
        write_parquet(part.schema, [part], buffer)
    else:
        with writable(columns), pa.ipc.new_stream(buffer, part.schema) as stream:
            stream.write_table(part)
    truncated = result.truncated or part.num_rows < whole.num_rows
    return Reply(200, buffer.getvalue(), MEDIA_TYPES[form], part.num_rows, truncated)


def _workbook(
    result: Result, columns: Sequence[str], most_rows: int, most_bytes: int, about: Mapping[str, str]
) -> Reply:
    """Write a workbook of the rows that would fit as text."""
    fitting: list[Sequence[object]] = []
    size, cut = 0, False
    for row in result.table:
        size += sum(len(str(value).encode("utf-8", "replace")) + 1 for value in row)
        if cut := len(fitting) >= min(most_rows, MOST_ROWS - 1) or size > most_bytes:
            break
        fitting.append(row)
    buffer = io.BytesIO()
    number = write_workbook(columns, fitting, buffer, on_disk=False, about=about)
    return Reply(200, buffer.getvalue(), MEDIA_TYPES[Format.XLSX], number, cut or result.truncated)
