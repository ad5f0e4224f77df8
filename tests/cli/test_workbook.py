"""Workbooks of Excel: what is written is read back by another library, and files of others are left alone."""

from __future__ import annotations

import io
import math
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import python_calamine
from hypothesis import given
from hypothesis import strategies as st

from sentgen.errors import InputError
from sentgen.output import workbook
from sentgen.output.workbook import write_workbook

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
            if value is None or value in ("", math.inf, -math.inf):
                assert other == ""
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


def test_what_no_sheet_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"a text of 32,768 characters in row 2 of text: a cell"):
        written(["text"], [["a"], ["b" * 32_768]])
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    assert len(read(written(["n"], [[1], [2]]))) == 3
    with pytest.raises(InputError, match=r"more rows than a sheet of Excel holds \(2\)"):
        written(["n"], [[1], [2], [3]])


def test_a_file_gets_all_rows(sentgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with (tmp_path / "words.csv").open("w") as file, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", file)
        told = sentgen("freq", "--csv", "--bom")
    lines = (tmp_path / "words.csv").read_text("utf-8-sig").splitlines()
    assert (len(lines) - 1, f"{number} rows" in told.err) == (number, True)
    assert (tmp_path / "words.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert foreign.read_text() == "of somebody else"
