"""Values of the store for lines of a set: as columns, for sorting, and for counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labeled_texts import conllu, listed

from sentgen.counts.ingestion import Settings, ingest
from sentgen.desk.agreement import LineReport
from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel
from sentgen.desk.line_sets import SetLines
from sentgen.errors import InputError
from sentgen.schema import Store


def with_genres(text: str) -> str:
    """Give the first document a genre, and its sentences years, the first of three digits."""
    text = text.replace("# newdoc id = talk", "# newdoc id = talk\n# meta::genre = speech")
    for number, year in enumerate((998, 1998, 2010, 2011, 2003), 1):
        text = text.replace(f"# sent_id = t{number}\n", f"# sent_id = t{number}\n# year = {year}\n")
    return text


@pytest.fixture
def dated(read: Callable[..., Path], tmp_path: Path, desk: Desk) -> Path:
    """The texts of the set, with metadata."""
    return read("dated.duckdb", text=with_genres(conllu()))


def test_metadata_and_attributes_are_columns(desk: Desk, dated: Path) -> None:
    """Columns are those of `kwic --show`; missing keys have no value, attributes are of the first token."""
    rows = listed(desk, dated, show=["genre,year", "length,lemma"])

    assert [*rows[0]][-7:] == ["genre", "year", "length", "lemma", "left", "node", "right"]
    assert [(row["genre"], row["year"], row["length"], row["lemma"]) for row in rows] == [
        ("speech", "998", "4", "make"),
        ("speech", "1998", "3", "make"),
        ("speech", "2010", "4", "make"),
        ("speech", "2003", "5", "make"),
        (None, None, "2", "make"),
        (None, None, "4", "make"),
        (None, None, "4", "make"),
    ]


def test_lines_are_sorted_by_a_key(desk: Desk, dated: Path) -> None:
    """Lines are sorted as in a concordance: without a value first, then by value, ties in their order."""
    assert [row["line"] for row in listed(desk, dated, sort="year")] == [5, 6, 7, 1, 2, 4, 3]
    assert [row["line"] for row in listed(desk, dated, sort="length")] == [5, 2, 1, 3, 6, 7, 4]
    assert [row["line"] for row in listed(desk, dated, sort="-year")] == [3, 4, 2, 1, 5, 6, 7]
    assert [row["line"] for row in listed(desk, dated, sort="-line")] == [7, 6, 5, 4, 3, 2, 1]


def test_what_is_gone_has_no_values(desk: Desk, read: Callable[..., Path]) -> None:
    """The line of a removed sentence has no genre, and comes first."""
    fewer = with_genres(conllu()).replace("# sent_id = t2\n", "# sent_id = u2\n")
    rows = listed(desk, read("fewer.duckdb", text=fewer), show=["genre"], sort="genre")

    assert [(row["line"], row["genre"]) for row in rows][:4] == [(2, None), (5, None), (6, None), (7, None)]
    assert rows[0]["state"] == "gone"


def test_a_label_is_listed_whatever_its_case(desk: Desk, dated: Path) -> None:
    GivenLabel(name="make", lines="2", label="LIGHT", labeler="ann").give(desk)

    assert [row["line"] for row in listed(desk, dated, label="Light")] == [2]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"show": ["gnre"]}, "no metadata 'gnre'; did you mean genre"),
        ({"sort": "gnre"}, "no sort key 'gnre'"),
        ({"sort": ""}, "no sort key ''"),
        ({"show": ["label"]}, "a line has a column 'label' already"),
        ({"show": ["node"]}, "a line has a column 'node' already"),
    ],
)
def test_unknown_keys_are_refused(asked: dict[str, Any], message: str, desk: Desk, dated: Path) -> None:
    with pytest.raises(InputError, match=message):
        listed(desk, dated, **asked)


def counted(desk: Desk, store: Path, by: str) -> list[tuple[Any, ...]]:
    """Key, measure, labeler, label, lines and value of each row."""
    with Store(store, read_only=True) as opened:
        rows, _ = LineReport(name="make", by=by).make(desk, opened.connect)
    assert rows.columns == [by, "measure", "labeler", "label", "lines", "value", "low", "high"]
    return [tuple(row[:6]) for row in rows]


def test_a_report_is_told_apart(desk: Desk, dated: Path) -> None:
    """Lines 1 to 4 are of speech; ann has labeled all but the fourth, ben the first two."""
    for lines, label, labeler in (("1-3", "light", "ann"), ("5-6", "full", "ann"), ("7", "light", "ann")):
        GivenLabel(name="make", lines=lines, label=label, labeler=labeler).give(desk)
    GivenLabel(name="make", lines="1", label="light", labeler="ben").give(desk)
    GivenLabel(name="make", lines="2", label="full", labeler="ben").give(desk)

    assert counted(desk, dated, "genre") == [
        ("_", "share", "ann", "full", 2, 2 / 3),
        ("_", "share", "ann", "light", 1, 1 / 3),
        ("speech", "share", "ann", "light", 3, 1.0),
        ("speech", "share", "ben", "light", 1, 0.5),
        ("speech", "share", "ben", "full", 1, 0.5),
        ("speech", "agreement", "ann, ben", None, 2, 0.5),
        ("speech", "kappa", "ann, ben", None, 2, None),
    ]
    assert [row[0] for row in counted(desk, dated, "length") if row[1:4] == ("share", "ann", "light")] == [
        "3",
        "4",
    ]


def test_a_report_by_nothing_is_refused(desk: Desk, dated: Path, tmp_path: Path) -> None:
    """A key that no line of the set has, and an unknown one, are refused."""
    GivenLabel(name="make", lines="1", label="light", labeler="ann").give(desk)
    with Store(dated) as opened:
        other = tmp_path / "other.conllu"
        other.write_text("# newdoc\n# meta::party = A\n1\tx\tx\tX\t_\t_\t0\troot\t_\t_\n\n", "utf-8")
        ingest(opened, [str(other)], Settings("other"))

    with pytest.raises(InputError, match="no line of make has party in the store"):
        counted(desk, dated, "party")
    with pytest.raises(InputError, match="no metadata 'gnre'"):
        counted(desk, dated, "gnre")


def test_pages_of_lines_have_the_same_values(desk: Desk, dated: Path) -> None:
    """A page of lines has the same values as the whole list."""
    with Store(dated, read_only=True) as opened, opened.connect() as connection:
        part = SetLines(name="make", show=["year"], sort="year", limit=2, offset=3).find(desk, connection)

    assert part.rows.column("year") == ["998", "1998"]
    assert part.total == 7
