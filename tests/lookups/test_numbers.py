"""Comparing strings as numbers: only decimal numbers count, and these are compared exactly."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import SentgenError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.output.text_table import cells_of
from sentgen.schema import Store

NUMBERS = (
    *("5", "-5", "+5", "0", "-0", "12.5", ".5", "5.", "1e3", "1E-3", "007", "1900", "99999"),
    *("9007199254740993", "9007199254740992", "1.0000000000000000001", "1", "1e30", "1234567890123456789"),
)
WORDS = (
    "inf",
    "Infinity",
    "-inf",
    "nan",
    "NaN",
    "1_000",
    "1,000",
    "0x10",
    "٣",
    "５",
    "½",
    "e5",
    "1e",
    "--5",
    ".",
    "1e999",
)
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store with a document for each string, as its word and as a value of its metadata."""
    folder = tmp_path_factory.mktemp("numbers")
    path = folder / "a.jsonl"
    rows = ({"id": f"d{n}", "size": one, "tokens": [one, "x"]} for n, one in enumerate((*NUMBERS, *WORDS)))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Store(folder / "store.duckdb", create=True) as made:
        ingest(made, [str(path)], Settings("numbers"))
        with made.connect() as connection:
            yield connection


def reference(sign: str, bound: str) -> set[str]:
    """Return the numbers with a relation to another one, by decimal arithmetic."""
    return {one for one in NUMBERS if OPERATORS[sign](Decimal(one), Decimal(bound))}


def nodes(question: Kwic | Match, connection: Connection) -> set[str]:
    """Return the words that a question finds."""
    return {row["node"] for row in question.ask(connection).table.to_pylist()}


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize(
    "bound", ["0", "4.9", "1", "-5", "9007199254740992", "1234567890123456788", "1.0000000000000000001"]
)
def test_numbers_are_compared_exactly(store: Connection, sign: str, bound: str) -> None:
    """Comparisons in CQL and in both notations of Grew are exact; words such as inf are no numbers."""
    asked = [
        Kwic(cql=f'[word {sign} "{bound}"]', limit=0),
        Match(request=f'pattern {{ X [form {sign} "{bound}"] }}', limit=0),
        Match(request=f'pattern {{ X []; X.form {sign} "{bound}" }}', limit=0),
    ]

    assert [nodes(one, store) for one in asked] == [reference(sign, bound)] * 3


@pytest.mark.parametrize("sign", [*OPERATORS, "="])
def test_metadata_are_compared_as_numbers(store: Connection, sign: str) -> None:
    """A bound with more digits than can be compared is refused; with =, it is compared as text."""
    equal = {one for one in NUMBERS if Decimal(one) == Decimal("5")}
    found = nodes(Kwic(cql='[word != "x"]', where=f"size {sign} 5", limit=0), store)

    assert found == (equal if sign == "=" else reference(sign, "5"))
    long = Kwic(cql='[word != "x"]', where=f"size {sign} 9007199254740993")
    if sign == "=":
        assert nodes(long, store) == {"9007199254740993"}
    else:
        with pytest.raises(SentgenError, match="more digits"):
            long.ask(store)


@pytest.mark.parametrize("bound", [*WORDS, "12345678901234567890", "0.00000000000000000001", " 5"])
def test_what_is_no_number_is_refused_as_a_bound(store: Connection, bound: str) -> None:
    """A bound that is no number, or has more digits than can be compared, is refused."""
    for question in (
        Kwic(cql=f'[word > "{bound}"]'),
        Match(request=f'pattern {{ X [form > "{bound}"] }}'),
        Match(request=f'pattern {{ X []; X.form > "{bound}" }}'),
    ):
        with pytest.raises(SentgenError, match="number"):
            question.ask(store)


def test_two_tokens_are_compared_as_numbers(store: Connection) -> None:
    """A word that is no number is neither greater nor less than another one."""
    within = Kwic(cql='a:[] b:[word="x"] :: a.word >= a.word', limit=0)

    assert {node.removesuffix(" x") for node in nodes(within, store)} == set(NUMBERS)


def test_means_and_orders_take_numbers_alone(store: Connection) -> None:
    """The mean is that of the numbers; sorted lines have the numbers first, in their order."""
    few = [one for one in NUMBERS if re.fullmatch("[0-9]{1,5}", one)]
    listed = Frequencies(query='[word="[0-9]{1,5}|inf|NaN|1_000"]', by=["upos"], mean="word", limit=0)
    (row,) = listed.ask(store).table.to_pylist()
    lines = Kwic(cql='[word != "x"]', sort="size", limit=0).ask(store).table.to_pylist()

    assert row["mean"] == pytest.approx(float(sum(map(Decimal, few))) / len(few))
    ordered = [line["node"] for line in lines]
    assert [Decimal(one) for one in ordered[: len(NUMBERS)]] == sorted(map(Decimal, NUMBERS))


def test_tables_are_blank_where_a_number_is_not_finite() -> None:
    """Infinite numbers and NaN are blank in tables, also if no number of the column is finite."""
    infinite = [float("inf"), float("nan"), float("-inf"), None]

    assert cells_of(infinite) == [""] * 4
    assert cells_of([*infinite, 1.0])[:4] == [""] * 4
