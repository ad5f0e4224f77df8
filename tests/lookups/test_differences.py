"""Significance and size of differences between parts, against counts by hand and SciPy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import exp, log, log2
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency, contingency, power_divergence
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

#: Genre to the counts of *must* and *can*, and the number of words; the last one has neither.
PARTS = {"news": (30, 8, 400), "fiction": (6, 20, 300), "speech": (9, 0, 100), "_": (0, 0, 50)}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store with two documents of each genre."""
    folder = tmp_path_factory.mktemp("parts")
    lines = []
    for genre, (must, can, size) in PARTS.items():
        words = ["must"] * must + ["can"] * can + ["x"] * (size - must - can)
        for half in (0, 1):
            key = {"genre": genre} if genre != "_" else {}
            lines.append({"id": f"{genre}{half}", "text": " ".join(words[half::2])} | key)
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    with Store(folder / "parts.duckdb", create=True) as store:
        ingest(store, [str(folder / "texts.jsonl")], Settings("texts"))
        with store.connect() as connection:
            yield connection


def effects(word: int, genre: str) -> dict[str, Any]:
    """Return the measures of a genre against all others, by SciPy and by formulas."""
    (a, c), total = (PARTS[genre][word], PARTS[genre][2]), sum(size for *_, size in PARTS.values())
    b, d = sum(each[word] for each in PARTS.values()) - a, total - c
    table = np.array([[a, c - a], [b, d - b]])
    expected = [c * (a + b) / total, d * (a + b) / total]
    likelihood = power_divergence([a, b], expected, lambda_="log-likelihood").statistic
    found = {
        "log_likelihood": likelihood if a / c >= b / d else -likelihood,
        "chi_square": chi2_contingency(table, correction=False).statistic,
        "bic": likelihood - log(total),
        "log_ratio": log2((a / c) / (max(b, 0.5) / d)),
        "percent_diff": 100 * ((a / c) / (b / d) - 1) if b else None,
        "p": chi2.sf(likelihood, 1),
    }
    for name, measured in (
        ("relative_risk", contingency.relative_risk(a, c, b, d)),
        ("odds_ratio", contingency.odds_ratio(table, kind="sample")),
    ):
        low, high = measured.confidence_interval(0.95) if b else (None, None)
        value = getattr(measured, "relative_risk", None) or getattr(measured, "statistic", None)
        found |= {name: value if b else None, f"{name}_low": low, f"{name}_high": high}
    found |= {f"log_ratio_{end}": log2(found[f"relative_risk_{end}"]) for end in ("low", "high") if b}
    return found


@pytest.mark.parametrize("sort", ["", "-log_likelihood"])
def test_every_part_is_compared_with_the_others(sort: str, parts: Connection) -> None:
    answer = Frequencies(query="must", by=["genre"], compare=True, sort=sort).ask(parts)
    rows = {row["genre"]: row for row in answer.table.to_pylist()}

    assert rows.keys() == {"news", "fiction", "speech"}
    for genre, row in rows.items():
        expected = effects(0, genre)
        assert row["p_bonferroni"] == pytest.approx(min(1, 3 * expected.pop("p")), rel=1e-6)
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-5)
    assert fetch_arrow(parts, answer.query.with_values()).to_pylist() == answer.table.to_pylist()


def test_by_hand(parts: Connection) -> None:
    """Of *must*, fiction has 6 in 300 words, the others 39 in 550; all have 45 in 850, so 15.88 and 29.12
    are expected: 2 (6 ln(6 / 15.88) + 39 ln(39 / 29.12)) = 11.11, and 2 % is 71.8 % less than 7.09 %."""
    (row,) = (
        row
        for row in Frequencies(query="must", by=["genre"], compare=True).ask(parts).table.to_pylist()
        if row["genre"] == "fiction"
    )

    assert row["log_likelihood"] == pytest.approx(-11.11, abs=0.01)
    assert row["percent_diff"] == pytest.approx(-71.8, abs=0.05)
    assert row["relative_risk"] == pytest.approx(0.282, abs=0.0005)
    assert row["bic"] == pytest.approx(11.11 - 6.745, abs=0.01)


def test_all_parts_together(parts: Connection) -> None:
    """A part without a hit counts, too: the tests of all four have three degrees of freedom."""
    (remark,) = Frequencies(query="must", by=["genre"], compare=True, limit=1).ask(parts).remarks
    table = np.array([[must, size - must] for must, _, size in PARTS.values()])
    square = chi2_contingency(table, correction=False)
    expected = table.sum(axis=0)[0] / table.sum() * table.sum(axis=1)
    likelihood = 2 * sum(a * log(a / e) for a, e in zip(table[:, 0], expected, strict=True) if a)
    numbers = [float(one) for one in re.findall(r"-?\d+\.?\d*(?:e-\d+)?", remark)]

    assert numbers == pytest.approx(
        [
            len(PARTS),
            *(likelihood, chi2.sf(likelihood, 3)),
            *(square.statistic, square.pvalue),
            *(3, likelihood - 3 * log(table.sum())),
        ],
        rel=0.05,
    )


def test_other_keys_are_compared_apart(parts: Connection) -> None:
    """Each word of a genre is compared with that word in the others; one that no other has gets no ratio."""
    answer = Frequencies(query='"must|can"', by=["word", "genre"], compare=True, limit=0).ask(parts)
    rows = answer.table.to_pylist()

    assert not answer.remarks
    assert len(rows) == 5
    for row in rows:
        expected = effects(["must", "can"].index(row["word"]), row["genre"])
        assert row["p_bonferroni"] == pytest.approx(min(1, 5 * expected.pop("p")), rel=1e-6)
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-5)


def test_what_one_part_alone_has(parts: Connection) -> None:
    """Without a hit in other parts, the log ratio counts half a hit there; other ratios are null."""
    answer = Frequencies(query="can", by=["genre"], where="genre != news", compare=True).ask(parts)
    (row,) = answer.table.to_pylist()

    assert row["log_ratio"] == pytest.approx(log2((20 / 300) / (0.5 / 150)))
    assert row["log_likelihood"] == pytest.approx(2 * 20 * log(20 / (20 * 300 / 450)))
    assert [row[name] for name in ("percent_diff", "relative_risk", "odds_ratio_low")] == [None] * 3
    assert exp(row["bic"]) == pytest.approx(exp(row["log_likelihood"]) / 450)


def test_hits_that_overlap_are_no_share(parts: Connection) -> None:
    """With more hits than tokens in a part, there is a log-likelihood, but no odds."""
    answer = Frequencies(query="[]{1,4}", by=["genre"], compare=True).ask(parts)
    rows = answer.table.to_pylist()

    assert all(row["count"] > row["per_million"] * 850 / 1e6 * 0.99 for row in rows)
    assert {row["odds_ratio"] for row in rows} == {row["log_ratio_low"] for row in rows} == {None}
    assert "chi-square" not in answer.remarks[0]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"by": ["word"]}, "name metadata or regions"),
        ({}, "name metadata or regions"),
        ({"by": ["genre"], "where": "genre = news"}, "one part alone"),
        ({"by": ["corpus"]}, "one part alone"),
    ],
)
def test_without_parts_there_is_no_difference(
    question: dict[str, Any], message: str, parts: Connection
) -> None:
    with pytest.raises(InputError, match=message):
        Frequencies(query="must", compare=True, **question).ask(parts)
