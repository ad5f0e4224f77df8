"""Measures of dispersion against fractions: 0 and 1 are exact, in rows and in their statement."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.hit_counts import dispersion
from sentgen.schema import Store

#: Sizes of documents, in units of seven tokens.
SEVENTHS = (1, 3, 5, 11, 29, 49, 50, 13, 1, 7)


def by_fractions(counts: Sequence[int], sizes: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return DP, and the square of 1 - D (Juilland), of counts in parts of some sizes."""
    count, tokens, many = sum(counts), sum(sizes), len(sizes)
    shares = (
        abs(Fraction(one, count) - Fraction(size, tokens)) for one, size in zip(counts, sizes, strict=True)
    )
    rates = [Fraction(one, size) for one, size in zip(counts, sizes, strict=True)]
    squares = sum((rate**2 for rate in rates), Fraction(0))
    return sum(shares, Fraction(0)) / 2, (many * squares / sum(rates) ** 2 - 1) / (many - 1)


def check(dp: float, juilland: float, counts: Sequence[int], sizes: Sequence[int]) -> None:
    expected, variation = by_fractions(counts, sizes)
    assert dp == pytest.approx(float(expected), rel=1e-12, abs=1e-15)
    assert (dp == 0) == (expected == 0)
    # The tolerance is that of a root of a rounding error near 0.
    assert juilland == pytest.approx(1 - sqrt(variation), abs=1e-7)
    assert (juilland == 1) >= (variation == 0)
    assert (juilland == 0) >= (variation == 1)


PARTS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10**6)), min_size=2, max_size=9)


@given(PARTS | st.tuples(st.lists(st.integers(1, 10**6), min_size=2, max_size=60), st.integers(2, 9)))
def test_arrays_against_fractions(drawn: object) -> None:
    """Measures agree for any counts, and for equal rates in all parts."""
    if isinstance(drawn, tuple):
        counts, factor = drawn
        sizes = [factor * count for count in counts]
    else:
        counts, sizes = (list(column) for column in zip(*drawn, strict=True))  # type: ignore[call-overload]
        counts = [min(pair) for pair in zip(counts, sizes, strict=True)]
        counts[0] = counts[0] or 1
    there = np.flatnonzero(counts)
    of_one = dispersion(np.zeros(len(there), np.int64), np.array(counts)[there], there, np.array(sizes))

    check(*(float(values[0]) for values in of_one), counts, sizes)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Connection, list[Counter[str]]]]:
    """Documents: a seventh of each is *even*, some words are in one document only, and others anywhere."""
    folder, random = tmp_path_factory.mktemp("parts"), Random(7)
    texts = []
    for number, seventh in enumerate(SEVENTHS):
        words = ["even"] * seventh + [f"one{number}"] * random.randint(1, seventh)
        words += [f"w{random.randint(1, 12)}" for _ in range(7 * seventh - len(words))]
        texts.append(words)
    lines = (json.dumps({"id": f"d{number}", "text": " ".join(words)}) for number, words in enumerate(texts))
    (folder / "texts.jsonl").write_text("\n".join(lines) + "\n")
    with Store(folder / "parts.duckdb", create=True) as store:
        ingest(store, [str(folder / "texts.jsonl")], Settings("texts", order=1))
        with store.connect() as connection:
            yield connection, [Counter(words) for words in texts]


@pytest.mark.parametrize("asked", [Frequencies(limit=0), Frequencies(query="[]", by=["word"], limit=0)])
def test_lists_against_fractions(asked: Frequencies, parts: tuple[Connection, list[Counter[str]]]) -> None:
    """The rows, and those of the shown statement, agree with the fractions."""
    connection, texts = parts
    answer = asked.ask(connection)
    sizes = [text.total() for text in texts]
    for rows in (answer.rows.to_pylist(), answer.query.run(connection).to_pylist()):
        found = {row["word"]: row for row in rows}
        assert found.keys() == set().union(*texts)
        for word, row in found.items():
            check(row["dp"], row["juilland_d"], [text[word] for text in texts], sizes)
        assert (found["even"]["dp"], found["even"]["juilland_d"]) == (0, 1)
        assert {found[f"one{number}"]["juilland_d"] for number in range(len(SEVENTHS))} == {0}
