"""Lines of the page of queries, sorted and chosen: its controls say what the command does."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.datastructures import QueryParams
from test_every_page import check_accessible

from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.schema import Store
from sentgen.server.pages.forms import FilterStep, LineChoice
from sentgen.server.pages.page import PageParameters

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect

CAMP = '[lemma="camp"]'


def at(*pairs: tuple[str, object]) -> str:
    """The page of a query about camps."""
    return f"/query?{urlencode([('query', CAMP), ('corpus', 'relief'), *pairs])}"


def asked(store: Path, **more: object) -> list[dict[str, str]]:
    """The lines of the look-up."""
    with Store(store, read_only=True) as found, found.connect() as connection:
        return Kwic(cql=CAMP, corpus=["relief"], **more).ask(connection).table.to_pylist()


def nodes(page) -> list[tuple[str, str]]:
    """Sentences and nodes of the lines."""
    names = [link.get_attribute("title") for link in page.locator("td.where a[title]").all()]
    return list(zip(names, page.locator("td.node").all_inner_texts(), strict=True))


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def visit(request, opened):
    """Open a page with and without JavaScript."""
    return lambda url: opened(url, scripts=request.param)


def test_the_form_sorts_and_chooses(visit, store: Path):
    """Step after step, by keyboard alone; each step can be removed, and the URL holds all."""
    page = visit(at())
    for summary in ("Text types, counts, order, sample, filters", "Sort, columns, sample, filters"):
        page.locator("summary").get_by_text(summary, exact=True).focus()
        page.keyboard.press("Enter")
    page.get_by_label("Sort by").select_option("1L")
    page.get_by_label("then by").first.select_option("1R")
    page.get_by_label("Columns").fill("length")
    page.get_by_label("Filter 1, a pattern or CQL").fill('[upos="NUM"]')
    page.get_by_label("Window of filter 1").fill("10L")
    page.keyboard.press("Enter")
    expect(page.locator(".chain li")).to_have_count(1)

    chain = {"filter": ['[upos="NUM"]'], "within": ["10L"]}
    expected = asked(store, sort="1L,1R", show=["length"], **chain)
    assert [name for name, _ in nodes(page)] == [row["sent_id"] for row in expected]
    assert page.locator("td.shown").all_inner_texts() == [row["length"] for row in expected]
    assert page.locator(".chain li span").inner_text() == '[upos="NUM"] within 10L leaves 7 of 15 hits'
    # The form has one more row now.
    page.get_by_label("Keep or drop, filter 2").select_option("drop")
    page.get_by_label("Filter 2, a pattern or CQL").fill('"on"')
    page.keyboard.press("Enter")
    expect(page.locator(".chain li")).to_have_count(2)
    assert len(nodes(page)) == 4
    assert page.locator(".chain li span").nth(1).inner_text() == '"on" without 5 leaves 4 of 7 hits'

    page.get_by_role("link", name="Remove filter 1").click()
    expect(page.locator(".chain li")).to_have_count(1)
    left = asked(store, sort="1L,1R", filter=['"on"'], within=["not 5"])
    assert [name for name, _ in nodes(page)] == [row["sent_id"] for row in left]
    page.reload()
    assert [name for name, _ in nodes(page)] == [row["sent_id"] for row in left]
    assert page.get_by_label("Sort by").input_value() == "1L"


def test_links_sort_by_one_key(visit, store: Path):
    """As controls above the lines, which keep the rest; what is chosen is marked."""
    page = visit(at(("filter", '[upos="NUM"]'), ("window", "10L"), ("show", "length")))
    order = page.get_by_role("navigation", name="Order")
    order.get_by_role("link", name="1R", exact=True).click()
    expect(order.locator("[aria-current]")).to_have_text("1R")

    expected = asked(store, sort="1R", filter=['[upos="NUM"]'], within=["10L"])
    assert [name for name, _ in nodes(page)] == [row["sent_id"] for row in expected]
    assert page.locator("td.shown").count() == len(expected)


@pytest.mark.parametrize("language", ["cql", "grew"])
def test_words_that_lines_are_sorted_by_are_told(opened, language: str):
    """By a color and a line of each level, which a legend names; axe finds them in light and dark."""
    request = {"cql": CAMP, "grew": "pattern { V -[nsubj]-> S }"}[language]
    pairs = [("language", language), ("query", request), ("corpus", "relief"), ("limit", 5)]
    page = opened(f"/query?{urlencode([*pairs, ('sort', '1L'), ('sort', 'node'), ('sort', '1R')])}")

    assert page.locator("#results > p.faint").inner_text() == "Sorted by 1L, then node, then 1R"
    assert page.locator("td.node.level-2").count() == 5
    for row in page.locator("table.kwic tbody tr").all():
        (left,), (right,) = row.locator("td.left").all(), row.locator("td.right").all()
        words = left.inner_text().split()
        assert left.locator(".level-1").all_inner_texts() == words[-1:]
        (first,) = right.locator(".level-3").all_inner_texts()
        assert right.inner_text().startswith(first)
    lines = page.locator(".level-1, .nodes, .level-3").evaluate_all(
        "all => [...new Set(all.map(one => getComputedStyle(one).textDecorationStyle))].sort()"
    )
    assert lines == ["dotted", "double", "solid"]
    check_accessible(page)


def test_words_are_told_on_the_page_of_a_corpus(opened):
    place = {"show": "concordance", "name": "relief", "pattern": "lemma:camp", "sort": "right"}
    page = opened(f"/corpus?{urlencode(place)}")

    assert page.locator("td.right .level-1").first.inner_text() == ","
    page = opened(f"/corpus?{urlencode(place | {'sort': 'none'})}")
    assert page.locator("[class^=level], td[class*=level]").count() == 0


def test_a_score_unfolds_what_it_is_made_of(visit, store: Path):
    """On the page of queries, and on that of a corpus."""
    page = visit(at())
    page.get_by_role("navigation", name="Order").get_by_role("link", name="typical").click()
    scores = page.locator("td.shown details.why")
    expect(scores).to_have_count(15)

    best = asked(store, sort="typical", explain=True)
    assert [name for name, _ in nodes(page)] == [row["sent_id"] for row in best]
    assert scores.locator("summary").all_inner_texts() == [f"{row['score']:.2f}" for row in best]
    heads = page.locator("table.kwic thead th").all_inner_texts()
    assert heads == ["sentence", "score", "before", "node", "after"]
    scores.first.locator("summary").click()
    names = ("whole", "size", "words", "plain", "usual", "frame")
    parts = " ".join(f"{part} {best[0][part]:.2f}" for part in names)
    expect(scores.first).to_contain_text(parts)

    place = {"show": "concordance", "name": "relief", "pattern": "lemma:camp", "sort": "typical"}
    page = visit(f"/corpus?{urlencode(place)}")
    assert scores.locator("summary").all_inner_texts() == [f"{row['score']:.2f}" for row in best]


def test_hits_of_trees_are_sorted(visit, store: Path):
    request = "pattern { V -[nsubj]-> S; V -[obj]-> O }"
    page = visit(f"/query?{urlencode({'language': 'grew', 'query': request, 'corpus': 'relief'})}")
    page.get_by_role("navigation", name="Order").get_by_role("link", name="node").click()
    expect(page.locator(".choose").last).to_have_attribute("open", "")

    with Store(store, read_only=True) as found, found.connect() as connection:
        rows = Match(request=request, corpus=["relief"], sort="node").ask(connection).table.to_pylist()
    assert [name for name, _ in nodes(page)] == [row["sent_id"] for row in rows]


def test_a_sample_and_equal_lines(visit, store: Path):
    page = visit(at(("sample", "4"), ("seed", "3"), ("dedupe", "on"), ("context", "1")))

    expected = asked(store, sample=4, seed=3, dedupe=True, context=1)
    assert [name for name, _ in nodes(page)] == [row["sent_id"] for row in expected]
    said = page.locator(".note").all_inner_texts()
    assert said == ["2 lines left out, as others show the same", "4 of 13 hits, drawn at random (seed 3)"]


def test_counts_are_those_of_what_is_left(visit):
    """And lead to the lines that they count."""
    steps = (("filter", '[upos="NUM"]'), ("window", "10L"), ("keep", "keep"))
    page = visit(at(*steps, ("filter", "[]"), ("window", "10L"), ("keep", "keep"), ("by", "word")))
    count = page.locator("table.counts td.number a").first

    assert count.inner_text() == "7"
    count.click()
    page.wait_for_selector("table.counts", state="detached")
    assert page.locator("#said").inner_text() == "7 hits"
    # Equal windows are those of two filters.
    assert page.locator(".chain li").count() == 2


def test_a_slip_is_told_above_the_lines(opened):
    page = opened(at(("filter", '[upos="NUM"'), ("sort", "1L")), fails=True)

    assert "the query ends too early" in page.locator(".problem p").inner_text()
    assert page.locator(".chain li").count() == 1


def test_urls_are_read_with_defaults():
    """Rows without a query are none; a window, and whether hits are kept, need not be said."""
    pairs = [("sort", "1L, 2R"), ("sort", ""), ("sort", "1L"), ("filter", " "), ("filter", "a")]
    pairs += [("window", "3L"), ("window", ""), ("keep", "drop"), ("keep", "x"), ("filter", "b")]
    choice = LineChoice.read(PageParameters(QueryParams(pairs)))

    assert choice.sort == ["1L", "2R"]
    assert choice.filters == [FilterStep("a", "5", "keep"), FilterStep("b", "5", "keep")]
    assert choice.near == {"filter": ["a", "b"], "within": ["5", "5"]}
    assert not LineChoice.read(PageParameters(QueryParams("sort=none&filter="))).used
