"""Drawings on pages: rates over time as they are, and hits in documents that lead to as many lines."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from serving import Server
from test_measure_pages import lines, linked, page

from sentgen.output.rates import PartSizes
from sentgen.server.pages.drawings import drawn_over_time
from sentgen.server.pages.measures import _bars
from sentgen.server.pages.site import environment

TOKENS = {(year,): 100_000 for year in ("1990", "1991", "1992", "1995")}
ROWS: list[dict[str, Any]] = [
    {"year": "1990", "count": 3, "per_million_in_part": 30.0},
    {"year": "1992", "count": 6, "per_million_in_part": 60.0},
    {"year": "1995", "count": 1, "per_million_in_part": 10.0},
]


def test_a_line_is_at_its_rates_and_has_a_gap_where_there_are_no_tokens() -> None:
    chart = drawn_over_time(["year"], ROWS, PartSizes(["year"], TOKENS), ["/a?x=1&y=2", "/b"])

    assert chart
    assert [(name, count) for name, count, _ in chart.lines] == [("", 10)]
    root = ElementTree.fromstring(chart.svg)
    urls = {mark: link.attrib["href"] for link in root.iter("a") for mark in link}
    points = [mark for mark in root.iter("path") if mark.attrib["class"] == "sign"]
    assert [(str(mark[0].text).split(",")[0], urls.get(mark, "")) for mark in points] == [
        ("1990: 3 hits", "/a?x=1&y=2"),
        ("1991: 0 hits", ""),
        ("1992: 6 hits", "/b"),
        ("1995: 1 hit", ""),
    ]
    runs = [mark.attrib["d"] for mark in root.iter("path") if mark.attrib["class"] == "line"]
    assert [run.count("L") for run in runs] == [2, 0]
    places = [_place(mark.attrib["transform"]) for mark in points]
    first, zero, most, last = places
    # Heights are as the rates: 0 below, and 30 half as high as 60.
    assert zero[1] - first[1] == pytest.approx((zero[1] - most[1]) / 2, abs=0.2)
    # Years are as far apart as they are: 1991 is one of five years from 1990 to 1995.
    assert (zero[0] - first[0]) * 5 == pytest.approx(last[0] - first[0], abs=0.5)
    _, _, width, height = map(int, root.attrib["viewBox"].split())
    assert all(0 < x < width and 0 < y < height for x, y in places)
    years = [mark.text for mark in root.iter("text") if mark.attrib["text-anchor"] == "middle"]
    assert years == ["1990", "1991", "1992", "1993", "1994", "1995"]


def _place(transform: str) -> tuple[float, float]:
    x, y = re.findall(r"[\d.]+", transform)
    return float(x), float(y)


def test_what_is_no_time_or_too_much_is_not_drawn() -> None:
    rows = [{"year": str(2000 + n % 2), "w": str(n), "count": 1, "per_million": 1.0} for n in range(18)]

    assert drawn_over_time(["w"], [{**row, "w": f"x{row['w']}"} for row in rows], PartSizes(), []) is None
    assert drawn_over_time(["year", "w"], rows, PartSizes(), []) is None
    assert drawn_over_time(["year"], [], PartSizes(), []) is None


def test_a_chart_is_markup_without_styles_of_its_own() -> None:
    """Names come from a corpus; the policy of the server lets no inline style and no script run."""
    rows = [{**row, "genre": genre, "count": row["count"]} for row in ROWS for genre in ("<b>&", "news")]
    chart = drawn_over_time(["year", "genre"], rows, PartSizes(), ["/a?x=1&y=2"])
    text = environment().get_template("charts.html.j2").module.over_time(chart)  # type: ignore[attr-defined]

    root = ElementTree.fromstring(str(text))
    assert "style" not in {name for element in root.iter() for name in element.attrib}
    assert [element.text for element in root.iter() if element.tag.endswith("bdi")] == ["<b>&", "news"]
    [link] = [element for element in root.iter() if element.tag.endswith("a")]
    assert (link.attrib["href"], link.attrib["aria-label"][:16]) == ("/a?x=1&y=2", "<b>&, 1990: 3 hi")


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/word", {"word": "camp"}),
        ("/query", {"query": '[lemma="camp"] []', "places": "on", "where": "length < 18"}),
        ("/query", {"query": '[lemma="camp"]', "places": "on", "filter": '"the"', "window": "2"}),
        ("/word", {"word": "the camp", "ignore_case": "on"}),
    ],
)
def test_hits_in_documents_lead_to_their_lines(path: str, asked: dict[str, str], site: Server) -> None:
    counts = linked(page(site, path, **asked), "hits")

    assert counts
    for url, count in counts[:4]:
        assert lines(site, url) == count, url


def test_the_bars_of_a_sketch_have_one_scale() -> None:
    """The highest score that is a number is 1, of all relations and both words; below nothing there is no bar."""
    rows: list[dict[str, Any]] = [
        {"name": "objects", "collocate": "a", "pmi": 4.0, "pmi_against": None},
        {"name": "objects", "collocate": "b", "pmi": -1.0, "pmi_against": 2.0},
        {"name": "subjects", "collocate": "a", "pmi": float("inf"), "pmi_against": 8.0},
    ]

    assert _bars(rows, "pmi") == {
        ("objects", "a"): [0.5, 0.0],
        ("objects", "b"): [0.0, 0.25],
        ("subjects", "a"): [1.0, 1.0],
    }
    assert _bars([{"name": "objects", "collocate": "a", "count": 0}], "count") == {("objects", "a"): [0.0]}
    assert _bars([], "pmi") == {}
