"""Workbooks of Excel: what is written is read back by another library, and files of others are left alone."""

from __future__ import annotations

import io
import math
import re
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import python_calamine
from hypothesis import given
from hypothesis import strategies as st

from sentgen.errors import InputError
from sentgen.output import tabular
from sentgen.output.tabular import write_workbook

#: What XML can hold; a carriage return alone comes back as a line feed.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\ufffe\uffff"), max_size=20)
VALUE = st.one_of(st.none(), st.booleans(), st.integers(-(2**52), 2**52), st.floats(allow_nan=False), TEXT)


def read(content: bytes) -> list[list[object]]:
    """Return the rows of the one sheet."""
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    assert book.sheet_names == ["sentgen"]
    return list(book.get_sheet_by_index(0).to_python(skip_empty_area=False))


def written(columns: list[str], rows: list[list[object]]) -> bytes:
    sink = io.BytesIO()
    assert write_workbook(columns, rows, sink) == len(rows)
    return sink.getvalue()


@given(rows=st.lists(st.tuples(VALUE, VALUE), max_size=5))
def test_what_is_written_is_read(rows: list[tuple[object, object]]) -> None:
    found = read(written(["a", "b"], [["first", "last"], *map(list, rows), ["end", "end"]]))
    assert found[:2] == [["a", "b"], ["first", "last"]]
    for row, back in zip(rows, found[2:-1], strict=True):
        for value, other in zip(row, back, strict=True):
            if value is None or value == "":
                assert other == ""
            elif isinstance(value, float) and abs(value) > 9.99999999999999e307:  # as Excel's help has it
                assert other == str(value)
            elif isinstance(value, float):
                assert other == pytest.approx(value, rel=1e-14)
            else:
                assert (other, type(other) is bool) == (value, isinstance(value, bool))


def test_types_of_values() -> None:
    """Dates are dates where Excel has them, large numbers and formulas are text, no number is an empty cell."""
    values: list[object] = [
        date(2001, 2, 3),
        datetime(2001, 2, 3, 4, 5, 6),
        date(1800, 1, 1),
        2**60,
        Decimal("1.5"),
        "=1+1",
        "http://example.org",
        math.nan,
        ["a", 1],
    ]
    [_, found] = read(written([f"c{number}" for number in range(9)], [values]))
    assert found == [
        date(2001, 2, 3),
        datetime(2001, 2, 3, 4, 5, 6),
        "1800-01-01",
        str(2**60),
        1.5,
        "=1+1",
        "http://example.org",
        "",
        '["a", 1]',
    ]


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (Decimal("Infinity"), "inf"),
        (np.float64("-inf"), "-inf"),
        (date(1899, 12, 31), "1899-12-31"),
        (datetime(1899, 12, 31, 23, 59), "1899-12-31T23:59:00"),
        # Excel has a day 60 that never was, the 29th of February 1900.
        (date(1900, 1, 1), date(1900, 1, 1)),
        (date(1900, 2, 28), date(1900, 2, 28)),
        (date(1900, 3, 1), date(1900, 3, 1)),
        (date(9999, 12, 31), date(9999, 12, 31)),
        (datetime(2001, 1, 1, tzinfo=UTC), "2001-01-01T00:00:00+00:00"),
    ],
)
def test_numbers_and_dates_that_excel_has_not(value: object, back: object) -> None:
    """What is no number or date of Excel is text, and not an empty cell."""
    assert read(written(["value"], [[value]])) == [["value"], [back]]


def test_columns_are_as_wide_as_what_they_hold() -> None:
    """A Chinese character takes two, a combining one none; a name counts as well."""
    rows = [["日本語の言葉", "e\u0301" * 10, 1.5, "x" * 99], ["a", "b", None, "c"]]
    content = written(["word", "accents", "a name of 20 letters", "long"], rows)
    sheet = zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml").decode()

    # Excel adds 0.7109375 for the edges of a cell.
    assert [int(float(width)) for width in re.findall(r' width="([\d.]+)"', sheet)] == [14, 12, 22, 60]


def test_a_cell_holds_units_of_utf_16() -> None:
    """An emoji has two of them; Excel repairs, and cuts, a file with more."""
    assert read(written(["text"], [["😀" * 16_383]])) == [["text"], ["😀" * 16_383]]
    with pytest.raises(InputError, match=r"a text of 32,768 characters in row 1 of text: a cell"):
        written(["text"], [["😀" * 16_384]])


def test_what_no_sheet_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"a text of 32,768 characters in row 2 of text: a cell"):
        written(["text"], [["a"], ["b" * 32_768]])
    monkeypatch.setattr(tabular, "MOST_ROWS", 3)
    assert len(read(written(["n"], [[1], [2]]))) == 3
    with pytest.raises(InputError, match=r"more rows than a sheet of Excel holds \(2\)"):
        written(["n"], [[1], [2], [3]])


def test_a_file_gets_all_rows(sentgen, tmp_path: Path) -> None:
    """Unless a limit is given; what lies there and cannot be replaced whole stays."""
    foreign = tmp_path / "words.xlsx.draft"
    foreign.write_text("of somebody else")
    path = tmp_path / "words.xlsx"
    (tmp_path / "a.txt").write_text(" ".join(f"word{number}" for number in range(30)) + ".\n")
    sentgen("ingest", "a.txt", "--corpus", "c")
    made = sentgen("freq", "--xlsx", str(path))
    number = len(read(path.read_bytes())) - 1
    assert number > 20
    assert f"{path}: {number} rows" in made.err
    sentgen("freq", "--xlsx", str(path), "--limit", "3")
    assert len(read(path.read_bytes())) == 4
    told = sentgen("freq", "--csv", "--bom")
    assert (told.out[0], told.out.count("\n") - 1) == ("\ufeff", number)
    assert foreign.read_text() == "of somebody else"
