"""Keywords, against formulas in Python on the tokens of the ten sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log, log2
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from ten_sentences import LEMMAS, SENTENCES, parse
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.statistics.frequencies import By
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.measures import KeywordMeasure
from sentgen.schema import Store


def items(by: By) -> dict[str, Counter[str]]:
    """Return the counts of each item, by corpus."""
    found = {"toy": Counter[str](), "other": Counter[str]()}
    for corpus, _, text in SENTENCES:
        for form, tag, _, relation in parse(text):
            values = {By.WORD: form, By.LEMMA: LEMMAS.get(form, form), By.XPOS: tag, By.DEPREL: relation}
            found[corpus][values[by]] += 1
    return found


@pytest.mark.parametrize("by", [By.WORD, By.LEMMA, By.XPOS, By.DEPREL])
@pytest.mark.parametrize("sides", [("toy", "other"), ("other", "toy")])
def test_every_item_has_its_measures(by: By, sides: tuple[str, str], connection: Connection) -> None:
    """All items of both corpora, of 39 and 10 tokens, have the measures of the papers' formulas."""
    counts = items(by)
    here, there = (counts[side] for side in sides)
    c, d = here.total(), there.total()
    rows = Keywords(corpus=[sides[0]], against=[sides[1]], by=by, limit=0).ask(connection).table.to_pylist()

    assert {c, d} == {39, 10}
    assert {row[by] for row in rows} == set(here + there)
    for row in rows:
        a, b = here[row[by]], there[row[by]]
        both = [(a, c * (a + b) / (c + d)), (b, d * (a + b) / (c + d))]
        likelihood = 2 * sum(seen * log(seen / expected) for seen, expected in both if seen)
        assert (row["count"], row["reference_count"]) == (a, b)
        assert row["per_million"] == pytest.approx(1e6 * a / c)
        assert row["reference_per_million"] == pytest.approx(1e6 * b / d)
        assert row["log_likelihood"] == pytest.approx(likelihood if a / c >= b / d else -likelihood)
        assert row["log_ratio"] == pytest.approx(log2((a or 0.5) / c / ((b or 0.5) / d)))
        assert row["percent_diff"] == (pytest.approx(100 * (a / c / (b / d) - 1)) if b else None)


@pytest.mark.parametrize("measure", list(KeywordMeasure))
@pytest.mark.parametrize("negative", [False, True])
def test_the_order_is_that_of_the_measure(
    measure: KeywordMeasure, negative: bool, connection: Connection
) -> None:
    """Items are sorted by the measure, those that the reference lacks as if infinite; a limit takes the first."""

    def place(row: dict[str, Any]) -> float:
        value = row[measure.replace("-", "_")]
        return float("inf") if value is None else float(value)

    asked: dict[str, Any] = {"measure": measure, "negative": negative}
    rows = Keywords(corpus=["toy"], against=["other"], limit=0, **asked).ask(connection).table.to_pylist()
    few = Keywords(corpus=["toy"], against=["other"], limit=3, **asked).ask(connection)
    places = [place(row) for row in rows]

    assert places == sorted(places, reverse=not negative)
    assert few.table.to_pylist() == rows[:3]
    assert few.truncated


def test_capitals_and_rare_words(connection: Connection) -> None:
    """*the* occurs 6 times in toy, and once in other, which has *The* as well."""
    rows = Keywords(corpus=["toy"], against=["other"], min_count=7).ask(connection).table.to_pylist()
    folded = (
        Keywords(corpus=["toy"], against=["other"], min_count=8, ignore_case=True)
        .ask(connection)
        .table.to_pylist()
    )

    assert {row["word"]: (row["count"], row["reference_count"]) for row in rows} == {
        ".": (8, 0),
        "the": (6, 1),
    }
    assert {row["word"]: row["reference_count"] for row in folded} == {".": 0, "the": 2}
    assert Keywords(corpus=["toy"], against=["other"], min_count=9).ask(connection).notes == [
        "no word that occurs at least 9 times in both together"
    ]


@pytest.fixture
def mixed(tmp_path: Path) -> Iterator[Connection]:
    """A corpus that was lower-cased, and one that was not."""
    (tmp_path / "a.txt").write_text("The Cat sat .\n")
    (tmp_path / "b.txt").write_text("The dog sat .\n")
    with Store(tmp_path / "mixed.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "a.txt")], Settings("small", lowercase=True))
        ingest(store, [str(tmp_path / "b.txt")], Settings("large"))
        with store.connect() as connection:
            yield connection


def test_sides_that_cannot_be_compared(connection: Connection, mixed: Connection) -> None:
    """Wrong comparisons are refused with the cure."""
    with pytest.raises(InputError, match="compared with itself: toy"):
        Keywords(corpus=["toy"], against=["other", "toy"]).ask(connection)
    with pytest.raises(InputError, match="others to compare them with"):
        Keywords(corpus=["toy"], against=[]).ask(connection)
    with pytest.raises(NotFoundError, match="no corpus 'nope'"):
        Keywords(corpus=["toy"], against=["nope"]).ask(connection)
    with pytest.raises(InputError, match=r"lower-cased.*`ignore_case`"):
        Keywords(corpus=["small"], against=["large"]).ask(mixed)
    rows = (
        Keywords(corpus=["small"], against=["large"], ignore_case=True, limit=0).ask(mixed).table.to_pylist()
    )
    assert {row["word"] for row in rows if row["count"] == row["reference_count"]} == {"the", "sat", "."}


def test_the_command_takes_several_corpora(path: Path) -> None:
    """The command takes the corpora, those to compare them with, and a measure."""
    words = ("keyness", "toy", "--against", "other", "--measure", "log-ratio", "--negative", "-n", "1")
    told = CliRunner().invoke(build(), [*words, "--csv", "--db", str(path)])

    assert told.exit_code == 0
    header, row = told.stdout.splitlines()
    assert header.startswith("word,count,per_million,reference_count,")
    assert row.startswith("!,0,0.0,1,")
