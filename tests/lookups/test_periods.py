"""Periods of numbers in the metadata, such as decades, against counting in Python."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.base.question import Question
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

YEARS = ("1994", "1999", "2000", "2003-05-01", "1999-12", None, "unknown", "-5", "1e300", "1987.5", "2003 AD")
#: The first year of the decade of each text; ``None`` without a number, or for one that is too large.
DECADES = ("1990", "1990", "2000", "2000", "1990", None, None, "-10", None, "1980", None)


def check_decades(rows: list[dict[str, Any]], key: str) -> None:
    """Compare counts by decade, also per tokens of the decade, with Python: one hit a text or region."""
    hits, tokens = Counter[str](), Counter[str]()
    for number, decade in enumerate(DECADES):
        hits[decade or "_"] += 1
        tokens[decade or "_"] += number + 1
    named = {row[key].replace("__undefined__", "_"): row for row in rows}

    assert {decade: row["count"] for decade, row in named.items()} == hits
    for decade, row in named.items():
        assert row["per_million_in_part"] == pytest.approx(1e6 * row["count"] / tokens[decade])


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store with a document of each year, one word longer than the one before."""
    folder = tmp_path_factory.mktemp("dated")
    lines = [
        {"id": f"d{number}", "title": f"t{number}", "text": "cat " + "x " * number}
        | ({"year": year} if year else {})
        for number, year in enumerate(YEARS)
    ]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    with Store(folder / "dated.duckdb", create=True) as store:
        ingest(store, [str(folder / "texts.jsonl")], Settings("texts"))
        with store.connect() as connection:
            yield connection


@pytest.mark.parametrize("key", ["year/10", "match.doc_year/10", "meta.year/10"])
def test_hits_are_counted_by_decade(key: str, dated: Connection) -> None:
    """Hits are counted by decade, per tokens of all texts of the decade; a date has that of its year."""
    answer = Frequencies(query="cat", by=[key]).ask(dated)
    rows = answer.table.to_pylist()

    check_decades(rows, key)
    assert fetch_arrow(dated, answer.query.with_values()).to_pylist() == rows


def test_all_tokens_by_the_length_of_their_sentence(dated: Connection) -> None:
    """The length of sentences has periods, too: eleven sentences of 1 to 11 tokens."""
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


@pytest.mark.parametrize("key", ["title/10", "meta.title/10", "document/10", "text/10"])
@pytest.mark.parametrize(
    "question",
    [
        lambda key: Frequencies(query="cat", by=[key]),
        lambda key: Frequencies(query="cat", by=["word"], mean=key),
        lambda key: Kwic(pattern="cat", show=[key]),
        lambda key: Kwic(pattern="cat", sort=key),
        lambda key: Kwic(pattern="cat", where=f"{key} = 1990"),
        lambda key: Match(request="pattern { N [form=cat] }", key=[f"meta.{key.removeprefix('meta.')}"]),
    ],
)
def test_what_is_never_a_number_has_no_periods(
    question: Callable[[str], Question], key: str, dated: Connection
) -> None:
    """A key without numbers is refused, with a value; in one with some numbers, other values count as missing."""
    name = key.removeprefix("meta.").removesuffix("/10")

    with pytest.raises(InputError, match=rf"and no {name} is one, such as '.+'; write {name}$"):
        question(key).ask(dated)


@pytest.fixture(scope="module")
def speeches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A document with a speech for each year, one word longer each; the last ones have no year, or no number."""
    folder = tmp_path_factory.mktemp("speeches")
    years = [f' born="{year}"' if year else "" for year in YEARS]
    text = "".join(
        f'<speech who="cat"{year}>\n<s>\ncat\tN\tcat\n' + "x\tX\tx\n" * number + "</s>\n</speech>\n"
        for number, year in enumerate(years)
    )
    (folder / "one.vert").write_text(f'<doc id="one">\n{text}</doc>\n')
    with Store(folder / "s.duckdb", create=True) as store:
        ingest(store, [str(folder / "one.vert")], Settings("one", columns="word,pos,lemma"))
        with store.connect() as connection:
            yield connection


def test_what_regions_say_has_periods_too(speeches: Connection) -> None:
    """Attributes of regions have periods in breakdowns, with the tokens of regions, in lines and in conditions."""
    key = "speech.born/10"
    answer = Frequencies(query='"cat"', by=[key], compare=True).ask(speeches)
    rows = answer.rows.to_pylist()
    asked = Kwic(pattern="cat", show=[key], sort=f"-{key}", limit=0)
    lines = asked.ask(speeches)
    chosen = Kwic(pattern="cat", where=f"{key} = 1990", count=True).ask(speeches)

    check_decades(rows, key)
    shown = ["2000", "2000", "1990", "1990", "1990", "1980", "-10", None, None, None, None]
    assert lines.rows.column(key) == shown
    assert lines.query.run(speeches).to_pylist() == lines.rows.to_pylist()
    assert chosen.rows.to_pylist() == [{"hits": 3}]
    assert Frequencies(query='"cat"', by=[key]).ask(speeches).query.run(speeches).num_rows == len(rows)


def test_regions_that_never_say_a_number(speeches: Connection) -> None:
    with pytest.raises(
        InputError, match=r"^speech\.who/10: periods are those .* such as 'cat'; write speech\.who$"
    ):
        Frequencies(query='"cat"', by=["speech.who/10"]).ask(speeches)


@pytest.mark.parametrize("key", ["speech.born/0", "speech.name/10", "spech.born/10"])
def test_what_regions_do_not_say_has_none(key: str, speeches: Connection) -> None:
    with pytest.raises(InputError, match=r"no attribute|no label"):
        Frequencies(query='"cat"', by=[key]).ask(speeches)


@pytest.mark.parametrize("key", ["year/10", "meta.year/10"])
@pytest.mark.parametrize("more", [[], ["N.form"]])
def test_hits_of_trees_are_counted_by_decade(key: str, more: list[str], dated: Connection) -> None:
    """Hits of requests are counted by decade as those of queries, also along with an attribute of a node."""
    rows = Match(request="pattern { N [form=cat] }", key=[*more, key]).ask(dated).rows.to_pylist()

    check_decades(rows, key)


def test_a_mean_is_that_of_periods(dated: Connection) -> None:
    """The mean is that of the hits with a decade."""
    (row,) = Frequencies(query="cat", by=["word"], mean="year/10").ask(dated).rows.to_pylist()
    numbers = [int(decade) for decade in DECADES if decade]

    assert row["mean"] == pytest.approx(sum(numbers) / len(numbers))


@pytest.mark.parametrize("key", ["N.form/10", "N/10", "e.label/10", "year/0", "yaer/10", "year/x", "N#S/10"])
def test_nodes_and_edges_have_no_periods(key: str, dated: Connection) -> None:
    with pytest.raises(InputError):
        Match(request="pattern { N [form=cat]; e: N -> S }", key=[key]).ask(dated)
