"""Plots of what commands show: intervals against scipy, what is drawn against the table, what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import Sentgen, refused
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sentgen.errors import InputError
from sentgen.output.drawing import picture
from sentgen.output.plots import frequency_plot, rate_of, score_plot
from sentgen.output.tabular import Rows


@given(count=st.integers(0, 1000), others=st.integers(1, 1_000_000))
def test_intervals_are_those_of_wilson(count: int, others: int) -> None:
    found = rate_of(count, count + others)
    expected = binomtest(count, count + others).proportion_ci(method="wilson")
    assert found.low / 1e6 == pytest.approx(expected.low, rel=1e-9, abs=1e-12)
    assert found.high / 1e6 == pytest.approx(expected.high, rel=1e-9)


GENRES = Rows(
    ["match.doc_genre", "count", "per_million", "per_million_in_part"],
    [("news", 30, 3.0, 300.0), ("letters $x$", 10, 1.0, 400.0)],
)
YEARS = Rows(
    ["match.doc_year", "match.doc_genre", "count", "per_million_in_part"],
    [("1990", "news", 30, 300.0), ("1980", "news", 10, 50.0), ("1990", "mail", 1, 5.0)],
)
SCORES = Rows(["word", "count", "log_ratio"], [("more", 9, 2.5), ("less", 3, -1.5), ("none", 1, None)])


def texts(svg: bytes) -> str:
    """Return the text of a picture, which matplotlib writes as comments beside its glyphs."""
    ElementTree.fromstring(svg)
    return " ".join(re.findall(r"<!-- (.*?) -->", svg.decode()))


def test_rates_by_genre_are_bars_with_intervals() -> None:
    figure = frequency_plot(GENRES, '[lemma="make"]', whole=False)
    [axes] = figure.axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([300, 400])
    [lines] = axes.collections
    ends = [tuple(segment[:, 0]) for segment in lines.get_segments()]
    assert ends[0] == pytest.approx((rate_of(30, 100_000).low, rate_of(30, 100_000).high))
    told = texts(picture(figure, "svg"))
    assert "40 hits" in told
    assert "letters" in told


def test_years_are_lines_in_their_order() -> None:
    figure = frequency_plot(YEARS, "make", whole=True)
    [axes] = figure.axes
    drawn = {str(line.get_label()): line.get_xydata().tolist() for line in axes.lines}
    assert drawn == {
        "news": [[1980, pytest.approx(50)], [1990, pytest.approx(300)]],
        "mail": [[1990, pytest.approx(5)]],
    }


@pytest.mark.parametrize(
    "values",
    [
        ("12345", "23456"),
        ("1999-2001", "2002-2004"),
        ("2000m", "1500m"),
        ("1990", "1990"),
        ("1999-13", "2000"),
    ],
)
def test_what_is_no_time_is_bars(values: tuple[str, str]) -> None:
    rows = [(value, 5, 10.0) for value in values]
    figure = frequency_plot(Rows(["x", "count", "per_million"], rows), "make", whole=False)
    assert [bar.get_width() for bar in figure.axes[0].patches] == pytest.approx([10, 10])


def test_rows_without_a_rate_are_not_counted() -> None:
    rows = Rows(["x", "count", "per_million_in_part"], [("news", 5, 10.0), ("", 7, None)])
    title = frequency_plot(rows, "make", whole=True).axes[0].get_title(loc="left")
    assert title == "make: 5 hits, without 1 row that has no rate"
    with pytest.raises(InputError, match="no rate per million"):
        frequency_plot(Rows(rows.columns, rows.rows[1:]), "make", whole=True)


def test_scores_go_to_both_sides() -> None:
    figure = score_plot(SCORES, "log_ratio", "a against b")
    assert [bar.get_width() for bar in figure.axes[0].patches] == [2.5, -1.5]
    assert len({bar.get_facecolor() for bar in figure.axes[0].patches}) == 2


def test_the_same_rows_give_the_same_bytes() -> None:
    first, second = (picture(frequency_plot(GENRES, "x", whole=True), "svg") for _ in range(2))
    assert first == second


@pytest.fixture
def filled(sentgen: Sentgen, tmp_path: Path) -> Sentgen:
    (tmp_path / "a.txt").write_text(" ".join(f"word{number} word" for number in range(70)) + ".\n")
    sentgen("ingest", "a.txt", "--corpus", "c")
    return sentgen


def test_commands_draw_beside_their_tables(filled: Sentgen, tmp_path: Path) -> None:
    foreign = tmp_path / "g.svg"
    foreign.write_text("of somebody else")
    for command in (["freq"], ["collocations", "word", "--min-count", "1"]):
        told = filled(*command, "--limit", "5", "--plot", "f.svg")
        assert told.code == 0, told
        assert "plot: f.svg" in told.err
        assert ElementTree.parse(tmp_path / "f.svg").getroot().tag.endswith("svg")
    filled("freq", "--limit", "5", "--plot", "f.png")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert foreign.read_text() == "of somebody else"


def test_what_cannot_be_drawn_is_refused(filled: Sentgen, tmp_path: Path) -> None:
    refused(filled("freq", "--plot", "f.jpg"), "f.jpg: a plot ends in .svg or .png")
    refused(filled("freq", "--limit", "0", "--plot", "f.svg"), "bars are too many to draw")
    refused(filled("freq", "--plot", "no/where/f.svg"), "no/where/f.svg: cannot be written")
    assert not (tmp_path / "f.svg").exists()
