"""Periods of numbers in the metadata, such as decades, against counting in Python."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

YEARS = ("1994", "1999", "2000", "2003-05-01", "1999-12", None, "unknown", "-5", "1e300", "1987.5", "2003 AD")
#: What begins the decade of each; none where there is no number, or too large a one.
DECADES = ("1990", "1990", "2000", "2000", "1990", None, None, "-10", None, "1980", None)


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A document of each year, one word longer than the one before."""
    folder = tmp_path_factory.mktemp("dated")
    lines = [
        {"id": f"d{number}", "text": "cat " + "x " * number} | ({"year": year} if year else {})
        for number, year in enumerate(YEARS)
    ]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    with Store(folder / "dated.duckdb", create=True) as store:
        ingest(store, [str(folder / "texts.jsonl")], Settings("texts"))
        with store.connect() as connection:
            yield connection


@pytest.mark.parametrize("key", ["year/10", "match.doc_year/10", "meta.year/10"])
def test_hits_are_counted_by_decade(key: str, dated: Connection) -> None:
    """With the tokens of all texts of that decade; of dates, it is that of the year."""
    answer = Frequencies(query="cat", by=[key]).ask(dated)
    rows = answer.table.to_pylist()
    hits, tokens = Counter[str](), Counter[str]()
    for number, decade in enumerate(DECADES):
        hits[decade or "_"] += 1
        tokens[decade or "_"] += number + 1

    assert {row[key]: row["count"] for row in rows} == hits
    for row in rows:
        assert row["per_million_in_part"] == pytest.approx(1e6 * row["count"] / tokens[row[key]])
    assert fetch_arrow(dated, answer.query.with_values()).to_pylist() == rows


def test_all_tokens_by_the_length_of_their_sentence(dated: Connection) -> None:
    """What every sentence has is a number, too: eleven sentences of 1 to 11 tokens."""
    rows = Frequencies(by=["length/4"]).ask(dated).table

    assert dict(zip(rows["length/4"].to_pylist(), rows["count"].to_pylist(), strict=True)) == {
        "8": 8 + 9 + 10 + 11,
        "4": 4 + 5 + 6 + 7,
        "0": 1 + 2 + 3,
    }


def test_lines_show_are_sorted_and_chosen_by_decade(dated: Connection) -> None:
    asked = Kwic(pattern="cat", show=["year/10"], sort="-year/10,document", limit=0)
    shown = asked.ask(dated).table["year/10"].to_pylist()
    rows = Kwic(pattern="cat", where="year/10 = 1990", limit=0).ask(dated).table["document"].to_pylist()
    later = Kwic(pattern="cat", where="year/10 >= 1990", count=True).ask(dated).table.to_pylist()

    assert shown == ["2000", "2000", "1990", "1990", "1990", "1980", "-10", None, None, None, None]
    assert rows == ["d0", "d1", "d4"]
    assert later == [{"hits": 5}]


@pytest.mark.parametrize("key", ["year/0", "year/", "year/x", "yaer/10", "year/1000000000000"])
def test_what_is_no_period_is_refused(key: str, dated: Connection) -> None:
    with pytest.raises(InputError, match="no attribute"):
        Frequencies(query="cat", by=[key]).ask(dated)
