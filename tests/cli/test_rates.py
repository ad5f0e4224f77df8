"""Rates over time: intervals against scipy, years without hits, and gaps, against what is drawn by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sentgen.output.rates import PartSizes, RateInterval, time_key

YEARS = st.integers(1990, 2000)


@given(count=st.integers(0, 1000), others=st.integers(1, 1_000_000))
def test_intervals_are_those_of_wilson(count: int, others: int) -> None:
    found = RateInterval.of_hits(count, count + others)
    expected = binomtest(count, count + others).proportion_ci(method="wilson")
    assert found.low / 1e6 == pytest.approx(expected.low, rel=1e-9, abs=1e-12)
    assert found.high / 1e6 == pytest.approx(expected.high, rel=1e-9)


@given(tokens=st.dictionaries(YEARS, st.integers(1, 999), min_size=1), data=st.data())
def test_a_year_has_its_rate_or_zero_or_is_a_gap(tokens: dict[int, int], data: st.DataObject) -> None:
    hits = {year: data.draw(st.integers(0, size), str(year)) for year, size in tokens.items()}
    rows: list[dict[str, Any]] = [
        {"year": str(year), "count": n, "per_million_in_part": 1e6 * n / tokens[year]}
        for year, n in hits.items()
        if n
    ]
    if not rows:
        return
    sizes = PartSizes(["year"], {(str(year),): size for year, size in tokens.items()})

    [runs] = sizes.over_time(rows, "year", []).values()

    points = [point for run in runs for point in run]
    assert [(int(point.value), point.count) for point in points] == sorted(hits.items())
    for point in points:
        size = tokens[int(point.value)]
        assert point.rate.rate == pytest.approx(1e6 * point.count / size)
        assert point.rate.high == pytest.approx(RateInterval.of_hits(point.count, size).high)
        assert (point.place is None) == (point.count == 0)
    # A line goes on from a year to the next that is as near as the nearest two.
    years = sorted(tokens)
    steps = [after - before for before, after in pairwise(years)]
    joined = [{int(one.value) for one in run} for run in runs]
    for (before, after), step in zip(pairwise(years), steps, strict=True):
        together = any({before, after} <= run for run in joined)
        assert together == (step == min(steps))


def test_each_line_has_the_zeros_of_its_part() -> None:
    rows = [
        {"year": "1990", "a.lemma": "x", "genre": "news", "count": 1, "per_million_in_part": 10.0},
        {"year": "1991", "a.lemma": "y", "genre": "mail", "count": 2, "per_million_in_part": 20.0},
    ]
    tokens = {("1990", "news"): 100_000, ("1991", "news"): 500, ("1991", "mail"): 100_000, ("_", "mail"): 9}
    sizes = PartSizes(["year", "genre"], tokens)

    found = sizes.over_time(rows, "year", ["a.lemma", "genre"])

    told = {
        line: [(point.value, point.count) for run in runs for point in run] for line, runs in found.items()
    }
    assert told == {("x", "news"): [("1990", 1), ("1991", 0)], ("y", "mail"): [("1991", 2)]}


def test_days_have_no_gaps_and_unknown_sizes_no_zeros() -> None:
    rows = [
        {"day": day, "count": 1, "per_million_in_part": 10.0}
        for day in ("2000-01-01", "2000-01-02", "2005-01-01")
    ]
    sizes = PartSizes(["day"], {(row["day"],): 100_000 for row in rows} | {("2001-05-01",): 7})

    [with_sizes], [without] = (one.over_time(rows, "day", []).values() for one in (sizes, PartSizes()))

    assert [point.count for point in with_sizes[0]] == [1, 1, 0, 1]
    assert [point.count for point in without[0]] == [1, 1, 1]


@pytest.mark.parametrize(
    ("values", "is_time"),
    [
        (("1990", "2000-05"), True),
        (("2000-05-01 12:00", "1990"), True),
        (("12345", "23456"), False),
        (("1999-2001", "2002-2004"), False),
        (("2000m", "1500m"), False),
        (("1990", "1990"), False),
        (("1999-13", "2000"), False),
    ],
)
def test_years_and_dates_are_times(values: tuple[str, str], is_time: bool) -> None:
    assert time_key(["x"], [{"x": value} for value in values]) == ("x" if is_time else None)
