"""The pages of collocations and keywords: every count leads to as many lines, and the graph is drawn the same way."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from serving import Server

from sentgen.server.pages.drawings import draw_collocates

_CELL = r'data-label="{}"[^>]*><a href="([^"]*)"[^>]*>(?:<bdi>)?([^<]*)<'


def page(site: Server, path: str, **asked: object) -> str:
    """The text of a page that is answered."""
    found = site.client.get(f"{path}?{urlencode(asked, doseq=True)}")
    assert found.status_code == 200
    return found.text


def linked(text: str, column: str) -> list[tuple[str, int]]:
    """The links of a column, and the counts that they are of."""
    found = re.findall(_CELL.format(column), text)
    return [(unescape(url), int(count.replace(",", ""))) for url, count in found]


def lines(site: Server, url: str) -> int:
    """The hits that a page says it has."""
    said = re.search(r'<p id="said"[^>]*>(.*?)</p>', site.client.get(f"{url}&limit=500").text, re.DOTALL)
    assert said
    return int(re.sub(r".* of ", "", said[1].strip()).split()[0].replace(",", ""))


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    "asked",
    [
        {"word": "camp", "window": "L5-R5"},
        {"word": "camp", "window": "R2", "corpus": "relief", "where": "length < 18"},
        {"word": "lemma:truck", "by": "lemma", "window": "L3-R1", "measure": "t-score"},
        {"word": "the", "window": "2", "ignore_case": "on"},
    ],
)
def test_counts_of_collocates_lead_to_their_lines(asked: dict[str, str], site: Server) -> None:
    """Those with the node, those of the collocate in all, and those of two collocates."""
    text = page(site, "/collocations", **asked, min_count=2, limit=6)
    counts = linked(text, "count")

    assert counts
    for url, count in [*counts, *linked(text, "frequency")]:
        assert lines(site, url) == count, url


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    "asked",
    [
        {"corpus": "relief", "where": "length < 18", "against": "relief", "against_where": "length >= 18"},
        {"corpus": "short", "against": "relief", "against_where": "length >= 18", "by": "lemma", "pos": "N*"},
        {"corpus": "short", "against": "relief", "against_where": "length > 20", "n": 2, "ignore_case": "on"},
        {"corpus": "short", "against": "relief", "against_where": "length > 20", "by": "xpos", "n": 3},
    ],
)
def test_counts_of_keywords_lead_to_their_lines(asked: dict[str, Any], site: Server) -> None:
    """On both sides, with the sentences of each."""
    text = page(site, "/keyness", **asked, min_count=2, limit=3)
    counts = [*linked(text, "count"), *linked(text, "there")]

    assert len(counts) > 3
    for url, count in counts:
        assert lines(site, url) == count, url


def test_a_query_of_several_tokens_has_collocates(site: Server) -> None:
    """Their counts lead to the hits near which they stand."""
    [(url, count), *_] = linked(page(site, "/collocations", word='"the" "camp"', min_count=1), "count")

    assert 1 <= lines(site, url) <= count


def test_bars_go_to_both_sides(site: Server) -> None:
    """What is more frequent comes first, and its bar begins in the middle; the others end there."""
    asked = {"corpus": "short", "against": "relief", "against_where": "length >= 18", "min_count": 1}
    text = page(site, "/keyness", **asked, limit=4)
    ratios = [float(one) for one in re.findall(r'data-label="log ratio"[^>]*>([^<]*)<', text)]
    bars = re.findall(r'<rect class="(|less)" x="([\d.]+)" width="([\d.]+)"', text)

    assert ratios[:4] == [abs(one) for one in ratios[:4]]
    assert len(bars) == len(ratios) == 8
    for ratio, (less, start, width) in zip(ratios, bars, strict=True):
        assert bool(less) == (ratio < 0)
        assert (float(start) + float(width) if less else float(start)) == pytest.approx(80, abs=1.1)


def test_what_cannot_be_compared_is_told(site: Server) -> None:
    """In the line of the command, with its status."""
    found = site.client.get("/keyness?corpus=relief&against=relief")

    assert found.status_code == 400
    assert "compared with itself: relief" in found.text


def test_a_graph_stays_in_its_box() -> None:
    """Whatever the number of collocates, each has a place of its own, the same every time."""
    for size in (1, 2, 5, 14):
        rows = [{"node": "a", "collocate": f"w{i}", "count": i + 1, "logdice": 9 - i} for i in range(size)]
        rows += [{**rows[0], "node": "w0", "collocate": f"w{i}"} for i in range(1, size)]
        graph = draw_collocates("a", rows, lambda word: f"/{word}")
        root = ElementTree.fromstring(graph.svg)
        words = [link[0] for link in root.iter("a")]

        assert graph == draw_collocates("a", rows, lambda word: f"/{word}")
        assert (graph.words, graph.edges) == (size, size - 1)
        assert [word.text for word in words] == [f"w{i}" for i in range(size)]
        lines = [line.attrib["class"] for line in root.iter("line")]
        assert lines == ["spoke"] * size + ["pair"] * (size - 1)
        places = [(float(word.attrib["x"]), float(word.attrib["y"])) for word in words]
        assert len(set(places)) == size
        _, _, width, height = map(int, root.attrib["viewBox"].split())
        assert all(0 < x < width and 0 < y < height for x, y in places)


@pytest.mark.parametrize("word", ["lemma:camp", "upos:NUM", "didn't"])
def test_the_page_of_a_word_shows_what_it_says_there_is(site: Server, word: str) -> None:
    """A pattern of an attribute, or what is written so and is no word of the store: lines, and no "no word"."""
    text = page(site, "/word", word=word)
    said = re.search(r'<p id="said"[^>]*>(.*?)</p>', text, re.DOTALL)

    assert said
    assert re.search(r"[1-9]\d* hits?", said[1])
    assert "no word" not in text
    assert "In context" in text


def test_a_page_cites_the_corpora_that_it_names(site: Server) -> None:
    cited = [
        page(site, "/word", word="camp", corpus=name).partition("Cite this page")[2]
        for name in ("relief", "")
    ]

    assert ") of relief" in cited[0]
    assert len(cited[1]) > len(cited[0])
