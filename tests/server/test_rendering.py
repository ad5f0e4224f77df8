"""Answers are cut at the limits, and say so, in every format."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import python_calamine

from sentgen.output.tabular import Rows
from sentgen.server.operations import Limits
from sentgen.server.operations.operation import Result
from sentgen.server.rendering import render
from sentgen.server.wire import Format

LIMITS = Limits(rows=100, cells=1000, bytes=10_000)


def numbers(count: int) -> Result:
    """A table of one column with the numbers from 0."""
    return Result(Rows(["n"], [(number,) for number in range(count)]))


def rows_in(body: bytes, form: Format) -> int:
    """Count the rows of an answer."""
    if form is Format.JSON:
        return len(json.loads(body)["rows"])
    if form is Format.PARQUET:
        return int(pq.read_table(io.BytesIO(body)).num_rows)
    if form is Format.ARROW:
        return int(pa.ipc.open_stream(body).read_all().num_rows)
    if form is Format.XLSX:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(body))
        return len(book.get_sheet_by_index(0).to_python()) - 1
    return body.count(b"\n") - (form is not Format.JSONL)


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize(
    ("limits", "rows"),
    [
        (LIMITS, 20),
        (replace(LIMITS, rows=7), 7),
        (replace(LIMITS, rows=20), 20),
        (replace(LIMITS, cells=8), 8),
        (replace(LIMITS, rows=0), 0),
    ],
)
def test_rows_and_cells(form: Format, limits: Limits, rows: int) -> None:
    """Of 20 rows with a cell each, as many are written as the limits allow."""
    rendered = render(numbers(20), form, limits)

    assert rendered.rows == rows_in(rendered.body, form) == rows
    assert rendered.truncated == (rows < 20)


@pytest.mark.parametrize("form", list(Format))
def test_bytes(form: Format) -> None:
    """A table of too many bytes loses rows until it fits."""
    wide = Result(Rows.from_arrow(pa.table({"text": ["x" * 1000] * 20})))

    rendered = render(wide, form, LIMITS)

    assert 1 <= rendered.rows < 10
    assert rendered.rows == rows_in(rendered.body, form)
    assert len(rendered.body) < 12_000
    assert rendered.truncated


@pytest.mark.parametrize("form", list(Format))
def test_one_cell_that_is_too_large(form: Format) -> None:
    """A row that does not fit by itself is left out."""
    rendered = render(Result(Rows.from_arrow(pa.table({"text": ["x" * 20_000]}))), form, LIMITS)

    assert (rendered.rows, rendered.truncated) == (0, True)


def test_what_the_operation_cut_is_cut() -> None:
    """An answer that was truncated by the library is called so."""
    assert render(replace(numbers(2), truncated=True), Format.CSV, LIMITS).truncated


def test_json_says_everything() -> None:
    """JSON has the parts of an answer that are no table."""
    result = Result(Rows(["a", "a"], [(1, float("nan"))]), notes=["n"], sql=["s"], more={"m": 1})

    told = json.loads(render(result, Format.JSON, LIMITS, command="sentgen x").body)

    assert told == {
        "columns": ["a", "a_2"],
        "rows": [{"a": 1, "a_2": None}],
        "truncated": False,
        "notes": ["n"],
        "sql": ["s"],
        "command": "sentgen x",
        "more": {"m": 1},
    }


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_formulas_are_escaped_on_demand(text: str) -> None:
    """A spreadsheet sees text, where that was asked for; else the text is as it is."""
    result = Result(Rows(["text", "n"], [(text, -1)]))

    escaped = render(result, Format.TSV, LIMITS, escape_formulas=True).body.decode()
    plain = render(result, Format.CSV, LIMITS).body.decode()

    assert f"'{text}" in escaped
    assert "'" not in plain
    assert "'-1\n" not in escaped


def test_text_that_cannot_be_encoded() -> None:
    """Half a surrogate pair becomes a question mark instead of an error."""
    assert b'"?"' in render(Result(Rows(["a"], [("\ud800",)])), Format.JSONL, LIMITS).body
