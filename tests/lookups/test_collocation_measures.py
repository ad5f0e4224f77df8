"""Measures of collocations: against tables counted in Python, against NLTK, and against printed values."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, log, log2, log10, sqrt
from pathlib import Path
from typing import Any

import duckdb
import pytest
from nltk.metrics import BigramAssocMeasures
from scipy.stats import hypergeom
from sqlalchemy import Connection
from ten_sentences import SENTENCES, parse
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.measures import COLUMN, FORMULAS, Measure

SPOKEN = [[token[0] for token in parse(text)] for _, _, text in SENTENCES]
ARCS = [
    (relation, form, tokens[head - 1][0])
    for tokens in (parse(text) for _, _, text in SENTENCES)
    for form, _, head, relation in tokens
    if head
]


def exact_tail(o11: int, r1: int, c1: int, n: int) -> float:
    """Return the one-sided p-value of Fisher's exact test, summed up in integers."""
    larger = o11 * n >= r1 * c1
    tables = range(o11, min(r1, c1) + 1) if larger else range(max(0, r1 + c1 - n), o11 + 1)
    share = Fraction(sum(comb(c1, k) * comb(n - c1, r1 - k) for k in tables), comb(n, r1))
    size = -(log10(share.numerator) - log10(share.denominator))
    return size if larger else -size


def by_hand(o11: int, r1: int, c1: int, n: int, f: int) -> dict[str, float | None]:
    """Compute all measures of one table, cell by cell."""
    cells = {(1, 1): o11, (1, 0): r1 - o11, (0, 1): c1 - o11, (0, 0): n - r1 - c1 + o11}
    rows, columns = {1: r1, 0: n - r1}, {1: c1, 0: n - c1}
    expected = {(i, j): rows[i] * columns[j] / n for i, j in cells}
    likelihood = 2 * sum(seen * log(seen / expected[cell]) for cell, seen in cells.items() if seen)
    e11 = expected[1, 1]

    def chance(cell: tuple[int, int], of: int) -> float | None:
        return cells[cell] / of if of else None

    with_node, without = chance((1, 1), rows[1]), chance((0, 1), rows[0])
    with_other, alone = chance((1, 1), columns[1]), chance((1, 0), columns[0])
    assert with_node is not None
    assert with_other is not None
    return {
        "logdice": 14 + log2(2 * o11 / (f + c1)),
        "pmi": log2(o11 / e11),
        "log_likelihood": likelihood if o11 >= e11 else -likelihood,
        "mi2": log2(o11**2 / e11),
        "mi3": log2(o11**3 / e11),
        "t_score": (o11 - e11) / sqrt(o11),
        "z_score": (o11 - e11) / sqrt(e11),
        "dice": 2 * o11 / (f + c1),
        "delta_p_collocate": None if without is None else with_node - without,
        "delta_p_node": None if alone is None else with_other - alone,
        "fisher": exact_tail(o11, r1, c1, n),
        "min_sensitivity": min(with_node, with_other),
    }


def asked(o11: int, r1: int, c1: int, n: int, *columns: str) -> dict[str, Any]:
    """Compute measures of one table in SQL, all unless some are named."""
    formulas = ", ".join(f"{FORMULAS[name]} as {name}" for name in columns or FORMULAS)
    pair = f"select {o11}::double as o11, {r1}::double as r1, {c1}::double as c1, {n}::double as n, r1 as f"
    found = duckdb.connect().execute(f"select {formulas} from ({pair})")
    return dict(zip(columns or FORMULAS, found.fetchall()[0], strict=True))


@pytest.mark.parametrize("node", ["dow", "the", "fell", "."])
@pytest.mark.parametrize(("window", "left", "right"), [("L2-R1", 2, 1), ("R3", 0, 3), ("4", 4, 4)])
def test_measures_in_a_window(node: str, window: str, left: int, right: int, connection: Connection) -> None:
    """Every collocate in a window has the measures of its table of frequencies."""
    frequency = Counter(form for sentence in SPOKEN for form in sentence)
    near = Counter[str]()
    for sentence in SPOKEN:
        nodes = [place for place, form in enumerate(sentence) if form == node]
        for place, form in enumerate(sentence):
            if place not in nodes and any(at - left <= place <= at + right for at in nodes):
                near[form] += 1
    found = Collocations(word=node, window=window, min_count=1, limit=0, all_measures=True)
    rows = found.ask(connection).table.to_pylist()

    assert {row["collocate"]: row["count"] for row in rows} == dict(near)
    for row in rows:
        word = row["collocate"]
        table = (near[word], near.total(), frequency[word], frequency.total(), frequency[node])
        for name, value in by_hand(*table).items():
            assert row[name] == pytest.approx(value, abs=1e-9), (word, name)


def test_every_measure_is_worked_out_and_defined() -> None:
    """Every measure has a formula, a reference in Python, and a section on the page of measures."""
    page = (Path(__file__).parents[2] / "docs" / "measures.md").read_text("utf-8")

    assert set(COLUMN.values()) == FORMULAS.keys() == by_hand(1, 2, 2, 9, 2).keys()
    assert [measure for measure in Measure if f"`{measure}`" not in page] == []


@pytest.mark.parametrize("node", ["dow", "fell", "stock"])
def test_measures_by_relation(node: str, connection: Connection) -> None:
    """Every head and modifier has the measures of its table of frequencies."""
    found = Collocations(word=node, dependency="*", min_count=1, limit=0, all_measures=True)
    rows = found.ask(connection).table.to_pylist()
    assert rows
    for row in rows:
        pairs = [arc[1:] for arc in ARCS if arc[0] == row["relation"]]
        this, that = (0, 1) if row["role"] == "modifier" else (1, 0)
        table = (
            sum(pair[this] == row["collocate"] and pair[that] == node for pair in pairs),
            sum(pair[that] == node for pair in pairs),
            sum(pair[this] == row["collocate"] for pair in pairs),
            len(pairs),
        )
        assert (row["count"], row["frequency"]) == (table[0], table[2])
        for name, value in by_hand(*table, table[1]).items():
            assert row[name] == pytest.approx(value, abs=1e-9), (row["collocate"], name)


@pytest.mark.parametrize(
    ("table", "column", "printed"),
    [
        # Manning and Schütze 1999, Foundations of statistical natural language processing, ch. 5:
        # "new companies", "Ayatollah Ruhollah".
        ((8, 15828, 4675, 14307668), "t_score", 0.999932),
        # Dunning 1993, "Accurate methods for the statistics of surprise and coincidence": "the swiss".
        ((110, 2552, 221, 31777), "log_likelihood", 270.72),
        ((20, 42, 20, 14307668), "pmi", 18.38),
        # Gries 2013, "50-something years of work on collocations": "of course" in the spoken BNC.
        ((5610, 174548, 7867, 10409868), "delta_p_collocate", 0.032),
        ((5610, 174548, 7867, 10409868), "delta_p_node", 0.697),
        # Fisher 1935, The design of experiments: the lady who tasted tea; 1 and 17 of 70.
        ((4, 4, 4, 8), "fisher", 1.8451),
        ((3, 4, 4, 8), "fisher", 0.6146),
    ],
)
def test_printed_values(table: tuple[int, int, int, int], column: str, printed: float) -> None:
    """Values of papers are reproduced to their printed digits."""
    digits = len(str(printed).partition(".")[2])
    assert asked(*table, column)[column] == pytest.approx(printed, abs=0.6 * 10**-digits)


@pytest.mark.parametrize("table", [(8, 15828, 4675, 14307668), (20, 42, 20, 14307668), (5, 10, 200, 300)])
def test_nltk_has_the_same(table: tuple[int, int, int, int]) -> None:
    """Measures that NLTK has agree; its log-likelihood has no sign."""
    o11, r1, c1, n = table
    found, theirs = asked(*table), BigramAssocMeasures
    of_theirs = (o11, (r1, c1), n)

    assert found["pmi"] == pytest.approx(theirs.pmi(*of_theirs))
    assert found["t_score"] == pytest.approx(theirs.student_t(*of_theirs), abs=1e-9)
    assert abs(found["log_likelihood"]) == pytest.approx(theirs.likelihood_ratio(*of_theirs), abs=1e-6)
    assert found["dice"] == pytest.approx(theirs.dice(*of_theirs))
    assert found["mi3"] == pytest.approx(log2(theirs.mi_like(*of_theirs) * n))


@pytest.mark.parametrize(
    "table",
    [
        (1, 1, 1, 1),
        (100, 1000, 1000, 10_000),
        (90, 1000, 1000, 10_000),
        (110_000, 1_000_000, 1_000_000, 10_000_000),
        (99_900, 1_000_000, 1_000_000, 10_000_000),
        (100_001, 1_000_000, 1_000_000, 10_000_000),
        (114_426, 3_200_000, 203_580, 9_967_724),
        (7, 3_000_000_000, 900, 4_000_000_000),
    ],
)
def test_fisher_of_large_counts(table: tuple[int, int, int, int]) -> None:
    """Logarithms of p-values are right below the range of floats, and near the middle of the distribution."""
    o11, r1, c1, n = table
    larger = o11 * n >= r1 * c1
    tail = hypergeom.logsf(o11 - 1, n, c1, r1) if larger else hypergeom.logcdf(o11, n, c1, r1)
    value = asked(*table, "fisher")["fisher"]

    assert value == pytest.approx((-1 if larger else 1) * tail / log(10), rel=1e-6, abs=1e-6)


def test_what_is_shown(connection: Connection, path: Path) -> None:
    """An answer has the usual measures and the ranking one, or all of them."""
    told = Collocations(word="dow", measure=Measure.MI3).ask(connection).table.column_names
    every = Collocations(word="dow", all_measures=True).ask(connection).table.column_names
    typed = CliRunner().invoke(
        build(), ["collocations", "dow", "--measure", "mi3", "--csv", "--db", str(path)]
    )

    assert told == ["collocate", "count", "frequency", "logdice", "pmi", "log_likelihood", "mi3"]
    assert every == ["collocate", "count", "frequency", *COLUMN.values()]
    assert typed.stdout.splitlines()[0].split(",") == told
