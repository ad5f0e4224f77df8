"""Plots of what commands show: what is drawn against the table, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import Sentgen, refused

from sentgen.errors import InputError
from sentgen.output.drawing import picture
from sentgen.output.plots import frequency_plot, places_plot, score_plot, sketch_plot
from sentgen.output.rates import PartSizes, RateInterval
from sentgen.output.tabular import Rows

NONE = PartSizes()


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
    figure = frequency_plot(GENRES, '[lemma="make"]', whole=False, sizes=NONE)
    [axes] = figure.axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([300, 400])
    [lines] = axes.collections
    ends = [tuple(segment[:, 0]) for segment in lines.get_segments()]
    assert ends[0] == pytest.approx(
        (RateInterval.of_hits(30, 100_000).low, RateInterval.of_hits(30, 100_000).high)
    )
    told = texts(picture(figure, "svg"))
    assert "40 hits" in told
    assert "letters" in told


def test_years_are_lines_in_their_order() -> None:
    figure = frequency_plot(YEARS, "make", whole=True, sizes=NONE)
    [axes] = figure.axes
    drawn = {str(line.get_label()): line.get_xydata().tolist() for line in axes.lines}
    assert drawn == {
        "news, n = 40": [[1980, pytest.approx(50)], [1990, pytest.approx(300)]],
        "mail, n = 1": [[1990, pytest.approx(5)]],
    }


def test_years_without_hits_are_zero_and_without_tokens_a_gap() -> None:
    rows = Rows(["year", "count", "per_million_in_part"], [("1990", 3, 30.0), ("1994", 1, 10.0)])
    tokens = {(year,): 100_000 for year in ("1990", "1991", "1994")}
    [axes] = frequency_plot(rows, "x", whole=True, sizes=PartSizes(["year"], tokens)).axes
    drawn = [[round(y) for _, y in line.get_xydata().tolist()] for line in axes.lines]
    assert drawn == [[30, 0], [10]]


def test_rows_without_a_rate_are_not_counted() -> None:
    rows = Rows(["x", "count", "per_million_in_part"], [("news", 5, 10.0), ("", 7, None)])
    title = frequency_plot(rows, "make", whole=True, sizes=NONE).axes[0].get_title(loc="left")
    assert title == "make: 5 hits, without 1 row that has no rate"
    with pytest.raises(InputError, match="no rate per million"):
        frequency_plot(Rows(rows.columns, rows.rows[1:]), "make", whole=True, sizes=NONE)


def test_scores_go_to_both_sides() -> None:
    figure = score_plot(SCORES, "log_ratio", "a against b")
    assert [bar.get_width() for bar in figure.axes[0].patches] == [2.5, -1.5]
    assert len({bar.get_facecolor() for bar in figure.axes[0].patches}) == 2


def test_ratios_go_to_both_sides_of_one() -> None:
    rows = [("more", 9, 4.0), ("less", 3, 0.25), ("only here", 1, None), ("only there", 0, 0.0)]
    [axes] = score_plot(Rows(["word", "count", "odds_ratio"], rows), "odds_ratio", "a against b").axes
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(1, 3), (1, -0.75)]
    assert axes.get_xscale() == "log"
    assert axes.get_title(loc="left") == "a against b: 2 rows, without 2 rows that cannot be drawn"
    with pytest.raises(InputError, match="odds_ratio is zero, infinite or missing in all"):
        score_plot(Rows(["word", "count", "odds_ratio"], rows[2:]), "odds_ratio", "a against b")


def test_log_ratios_have_their_intervals() -> None:
    columns = ["word", "count", "log_ratio", "log_ratio_low", "log_ratio_high"]
    [axes] = score_plot(Rows(columns, [("x", 9, 2.0, 1.0, 3.0)]), "log_ratio", "a").axes
    assert [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()] == [[1.0, 3.0]]


def test_places_are_lines_in_the_row_of_their_document() -> None:
    columns = ["corpus", "document", "count", "tokens", "per_million", "places"]
    rows = [("c", "one", 3, 50, 60_000.0, "0 500"), ("c", "two", 1, 10, 100_000.0, "999")]
    [axes] = places_plot(Rows(columns, rows), "x: 5 hits in 3 documents", 1).axes
    drawn = [[segment[0, 0] for segment in one.get_segments()] for one in axes.collections[1:]]
    assert drawn == [[pytest.approx(0.05), pytest.approx(50.05)], [pytest.approx(99.95)]]
    assert [text.get_text() for text in axes.texts] == ["3 hits in 50 tokens", "1 hit in 10 tokens"]
    assert axes.get_xlabel().endswith("hits in 1 document more")


def sketch_rows(relations: int) -> Rows:
    columns = ["relation", "role", "pairs", "collocate", "count", "logdice", "logdice_against", "name"]
    rows = [
        (f"r{n}", "modifier", 90 - n, word, 2, score, other, f"relation {n}")
        for n in range(relations)
        for word, score, other in (("a", 9.0, 7.0), ("b", 8.0, None), ("c", None, 3.0))
    ]
    return Rows(columns, rows)


def test_a_sketch_has_a_panel_for_each_of_its_first_relations() -> None:
    figure = sketch_plot(sketch_rows(11), "logdice", "Sketch of x", ["x"])
    assert len(figure.axes) == 9
    first = figure.axes[0]
    assert [bar.get_width() for bar in first.patches][:2] == [9.0, 8.0]
    assert first.get_title(loc="left") == "relation 0\n90 pairs"
    assert figure.get_suptitle() == "Sketch of x, without 2 rarer relations"


def test_two_sketches_have_signs_of_their_own() -> None:
    figure = sketch_plot(sketch_rows(1), "logdice", "Sketch of x and y", ["x", "y"])
    signs = {
        line.get_label(): (line.get_marker(), line.get_xdata().tolist()) for line in figure.axes[0].lines
    }
    assert signs["x"][0] != signs["y"][0]
    assert signs["x"][1][:2] == [9.0, 8.0]
    assert signs["y"][1][::2] == [7.0, 3.0]


def test_the_same_rows_give_the_same_bytes() -> None:
    first, second = (picture(frequency_plot(GENRES, "x", whole=True, sizes=NONE), "svg") for _ in range(2))
    assert first == second


@pytest.fixture
def filled(sentgen: Sentgen, tmp_path: Path) -> Sentgen:
    (tmp_path / "a.txt").write_text(" ".join(f"word{number} word" for number in range(70)) + ".\n")
    sentgen("ingest", "a.txt", "--corpus", "c")
    return sentgen


def test_commands_draw_beside_their_tables(filled: Sentgen, tmp_path: Path) -> None:
    foreign = tmp_path / "g.svg"
    foreign.write_text("of somebody else")
    for command in (
        ["freq"],
        ["collocations", "word", "--min-count", "1"],
        ["kwic", "word"],
        ["match", "pattern { X [] }"],
    ):
        told = filled(*command, "--limit", "5", "--plot", "f.svg")
        assert told.code == 0, told
        assert "plot: f.svg" in told.err
        assert ElementTree.parse(tmp_path / "f.svg").getroot().tag.endswith("svg")
    for name, start in (("f.png", b"\x89PNG"), ("f.pdf", b"%PDF")):
        filled("freq", "--limit", "5", "--plot", name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert foreign.read_text() == "of somebody else"


def test_what_cannot_be_drawn_is_refused(filled: Sentgen, tmp_path: Path) -> None:
    refused(filled("freq", "--plot", "f.jpg"), "f.jpg: a plot ends in .svg, .png or .pdf")
    assert "--plot needs the name of a file" in filled("freq", "--plot", ".").err
    refused(filled("match", "pattern { X [] }", "--count", "--plot", "f.svg"), "one number is no plot")
    refused(filled("kwic", "word", "--sample", "3", "--plot", "f.svg"), "places are those of all hits")
    refused(filled("freq", "--limit", "0", "--plot", "f.svg"), "bars are too many to draw")
    refused(filled("freq", "--plot", "no/where/f.svg"), "no/where/f.svg: cannot be written")
    assert not (tmp_path / "f.svg").exists()
