"""Text types: each form offers the values of metadata with their sizes, and asks for those that are checked."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from parted_texts import TEXTS
from starlette.datastructures import QueryParams
from test_corpus_page import said
from test_every_page import at, check_accessible, check_width

from sentgen.server.pages.forms import TextTypeKey, TextTypes
from sentgen.server.pages.page import PageAnswer, PageParameters

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect

GREW = "pattern { X [form=camp] }"
FORMS = {
    "cql": at("/query", query='"camp"', corpus="texts"),
    "grew": at("/query", language="grew", query=GREW, corpus="texts"),
    "word": at("/word", word="camp", corpus="texts"),
    "sketch": at("/sketch", word="camp", corpus="texts"),
    "thesaurus": at("/thesaurus", word="camp", corpus="texts"),
    "collocations": at("/collocations", word="camp", corpus="texts"),
    "keywords": at("/keyness", corpus="texts", against="texts", min_count=1),
    "frequencies": at("/corpus", name="texts", show="frequencies", pattern="camp"),
    "ngrams": at("/corpus", name="texts", show="ngrams", pattern="camp"),
    "concordance": at("/corpus", name="texts", show="concordance", pattern="camp"),
}
CHOSEN = ['genre = "news"', 'genre = "letter"', 'date like "1991%"', 'date like "1992%"', "length > 3"]
WHERE = urlencode({"where": CHOSEN}, doseq=True)


def camps(texts) -> int:
    """How often the word stands in sentences of more than three tokens."""
    return sum(sentence.count("camp") for text in texts for sentence in text.sentences if len(sentence) > 3)


def boxes(html: str, name: str = "where") -> dict[str, bool]:
    """The conditions that have a box, and whether it is checked."""
    found = re.findall(rf'<input type="checkbox" name="{name}" value="([^"]*)"( checked)?>', html)
    return {unescape(condition): bool(checked) for condition, checked in found}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_offers_values_with_their_sizes(form: str, site) -> None:
    """Documents and tokens of each; what the address says is checked, and what has no box stands in its field."""
    html = site.client.get(f"{FORMS[form]}&{WHERE}").text
    found = boxes(html)

    for genre in ("news", "fiction", "letter"):
        texts = [text for text in TEXTS if text.meta["genre"] == genre]
        size = f"<span>{len(texts)} texts, {sum(text.tokens for text in texts)} tokens</span>"
        assert re.search(rf"<bdi>{genre}</bdi></label> {size}", html)
    assert {condition for condition, checked in found.items() if checked} == {*CHOSEN[:-1]}
    assert len(found) == 3 + 3 + len({text.meta["date"][:4] for text in TEXTS}) + len(TEXTS)
    assert re.search(r'<input id="where" name="where" value="length &gt; 3"', html)
    if form == "keywords":
        assert not any(boxes(html, "against_where").values())
        assert len(boxes(html, "against_where")) == len(found)


@pytest.mark.parametrize("form", ["cql", "grew", "word", "concordance", "frequencies", "ngrams"])
def test_values_of_a_key_are_alternatives_and_keys_hold_together(form: str, site) -> None:
    """Against a count in Python; the command below has the same condition."""
    texts = [
        text
        for text in TEXTS
        if text.meta["genre"] in ("news", "letter") and text.meta["date"][:4] in ("1991", "1992")
    ]
    html = site.client.get(f"{FORMS[form]}&{WHERE}").text
    counted = {
        "frequencies": r'<td data-label="count" class="number"><a [^>]*>(\d+)</a>',
        "ngrams": r'<td data-label="count" class="number"><a [^>]*>(\d+)</a>',
        "word": r'id="said"[^>]*>(\d+) times',
    }

    assert int(re.search(counted.get(form, r'id="said"[^>]*>(\d+) hits'), html)[1]) == camps(texts) > 2
    where = (
        '(genre = "news" or genre = "letter") and (date like "1991%" or date like "1992%") and (length > 3)'
    )
    assert f"--where '{where}'" in unescape(html)


@pytest.mark.parametrize("scripts", [True, False])
def test_boxes_are_checked_by_keyboard_and_stand_in_the_address(scripts: bool, opened) -> None:
    """The form begins with one line and unfolds; it is sent with Enter; on reload it is as it was sent."""
    page = opened("/query?corpus=texts", scripts=scripts)
    line = [
        page.get_by_label("Query in CQL"),
        page.get_by_label("Corpus"),
        page.get_by_role("button", name="Search"),
    ]
    ends = {round(sum(one.bounding_box()[name] for name in ("y", "height"))) for one in line}
    assert len(ends) == 1
    assert page.locator("form.ask").bounding_box()["height"] < 140
    line[0].fill('"camp"')
    for summary in ("Text types, counts, order, sample, filters", "Text types"):
        page.locator("summary").get_by_text(summary, exact=True).focus()
        page.keyboard.press("Enter")
    for name in ("news", "fiction"):
        page.get_by_role("checkbox", name=name, exact=True).focus()
        page.keyboard.press("Space")
    page.get_by_label("Where").focus()
    page.keyboard.type("length > 3")
    page.keyboard.press("Enter")
    texts = [text for text in TEXTS if text.meta["genre"] in ("news", "fiction")]
    expect(page.locator("#said")).to_have_text(f"{camps(texts)} hits")
    page.reload()

    assert page.get_by_role("checkbox", name="news", exact=True).is_checked()
    assert not page.get_by_role("checkbox", name="letter", exact=True).is_checked()
    assert page.get_by_label("Where").input_value() == "length > 3"
    assert said(page) == f"{camps(texts)} hits"


def test_another_corpus_brings_its_text_types(opened) -> None:
    """Without the form being sent; the query that was typed stays."""
    page = opened("/word")
    page.locator("summary").get_by_text("Text types", exact=True).click()
    page.get_by_label("Word, or several in a row").fill("camp")
    expect(page.get_by_role("checkbox", name="news", exact=True)).to_have_count(1)
    page.get_by_label("Corpus", exact=True).select_option("relief")
    expect(page.get_by_role("checkbox", name="news", exact=True)).to_have_count(0)
    page.get_by_label("Corpus", exact=True).select_option("texts")
    expect(page.get_by_role("checkbox", name="letter", exact=True)).to_be_visible()

    assert page.get_by_label("Word, or several in a row").input_value() == "camp"
    assert page.url.endswith("/word")


@pytest.mark.parametrize("form", ["cql", pytest.param("keywords", marks=pytest.mark.nightly)])
def test_text_types_are_accessible_and_fit(form: str, opened) -> None:
    """In light and dark, at each width, with all that can be unfolded."""
    page = opened(f"{FORMS[form]}&where=genre+%3D+%22news%22")
    page.evaluate("document.querySelectorAll('form details').forEach(one => (one.open = true))")
    check_accessible(page)
    check_width(page)


def test_of_many_values_the_largest_come_first() -> None:
    """The others are unfolded, and those that are not listed at all have a page."""
    rows = [
        {
            "key": "author",
            "value": f"a{number:02}",
            "documents": 2,
            "tokens": 100 - number,
            "different": 300,
            "condition": f'author = "a{number:02}"',
        }
        for number in range(24)
    ]
    (key,) = TextTypeKey.read_all(PageAnswer(rows=rows))
    query = PageParameters(QueryParams([("word", "x"), ("where", "length < 9"), ("values", "genre")]))
    types = TextTypes("where", [key], query.conditions(), query, "/word")

    assert [one.value for one in key.first] == [f"a{number:02}" for number in range(6)]
    assert (len(key.others), key.different) == (18, 300)
    assert types.every("author") == "/word?word=x&where=length+%3C+9&values=author#where-types"
    assert types.typed == "length < 9"


def test_all_values_of_a_key_can_be_asked_for(site) -> None:
    """Nothing else of the page changes."""
    html, every = (site.client.get(FORMS["word"] + more).text for more in ("", "&values=genre"))

    assert boxes(every) == boxes(html)


def test_what_a_list_counts_is_compared_by_text_types(site) -> None:
    """A pattern leads to the page that compares all that it matches; all tokens are no more frequent anywhere."""
    page = site.client.get("/corpus?show=frequencies&pattern=t*&by=word").text
    (row,) = re.findall(r"<p>Compare what matches.*?</p>", page, re.DOTALL)
    urls = {
        unescape(name): unescape(url) for url, name in re.findall(r'href="([^"]*)"><bdi>(.*?)</bdi>', row)
    }
    compared = site.client.get(urls["genre"]).text
    asked = {"query": '[word="t.*"]', "by": "genre", "compare": True}
    rows = site.client.get("/v1/frequencies", params=asked).json()["rows"]

    assert [unescape(one) for one in re.findall(r'data-label="genre"><bdi>(.*?)</bdi>', compared)] == [
        one["genre"] for one in rows
    ]
    assert "Compare what matches" not in site.client.get("/corpus?show=frequencies").text
