"""A corpus begins with what is in it, and lists are turned over and sorted: with the keyboard alone."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from layout import UNLABELED
from parted_texts import TEXTS
from serving import Server
from test_every_page import at, check_accessible, check_width

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect

NEWS = [text for text in TEXTS if text.meta["genre"] == "news"]


def said(page) -> str:
    """The line that says what came back."""
    return page.locator("#said").inner_text()


def follow(page, name: str) -> None:
    """Move to a link by its keyboard, and follow it."""
    link = page.locator("main").get_by_role("link", name=name, exact=True)
    link.focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_parts_are_chosen_and_left_again(scripts: bool, opened) -> None:
    """A value of a facet narrows size, documents, words and the lines behind them; each can be removed."""
    page = opened("/corpus?name=texts", scripts=scripts)
    assert f"{sum(text.tokens for text in TEXTS)} tokens" in page.locator(".size").inner_text()
    genre = page.get_by_role("region", name="genre")
    assert f"{len(NEWS)} texts, {sum(text.tokens for text in NEWS)} tokens" in genre.inner_text()
    follow(page, "news")
    expect(page.locator("#said")).to_have_text(f"{len(NEWS)} documents")
    follow(page, "1991")
    both = [text for text in NEWS if text.meta["date"].startswith("1991")]
    expect(page.locator(".size")).to_contain_text(f"{sum(text.tokens for text in both)} tokens")
    assert page.get_by_label("Documents", exact=True).locator("tbody tr").count() == len(both)

    counts = Counter(word for text in both for sentence in text.sentences for word in sentence)
    row = page.locator(".words li").first
    word, count = row.inner_text().split()
    assert (counts[word], counts.most_common(1)[0][1]) == (int(count), int(count))
    row.locator(".count").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text(re.compile(rf"^{count} hits?$"))
    follow(page, 'Remove date like "1991%"')
    expect(page.get_by_role("navigation", name="Chosen parts").get_by_role("link")).to_have_count(2)
    follow(page, "Documents")
    expect(page.locator("#said")).to_have_text(f"{len(NEWS)} documents")


def test_punctuation_is_no_frequent_word(opened) -> None:
    """What has letters or figures is."""
    page = opened("/corpus?name=texts")
    words = page.locator(".words li > a:first-child").all_inner_texts()
    assert set(words) == {word for text in TEXTS for one in text.sentences for word in one} - {"."}


def test_a_subcorpus_begins_with_what_is_in_it_too(opened) -> None:
    """A corpus without metadata has its size and its words, and no parts."""
    page = opened("/corpus?name=letters")
    letters = [text for text in TEXTS if text.meta["genre"] == "letter"]
    assert said(page) == f"{len(letters)} documents"
    assert f"{sum(text.tokens for text in letters)} tokens" in page.locator(".size").inner_text()
    assert page.get_by_role("region", name="year").is_visible()
    page.goto("/corpus?name=relief")
    assert page.locator(".facets").count() == 0
    assert page.locator(".words li").count() > 10


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_documents_are_sorted_and_turned_over(scripts: bool, opened) -> None:
    """A header sorts all of them, not those that are shown, and again the other way; the address says so."""
    page = opened("/corpus?name=texts&limit=5", scripts=scripts)
    assert said(page) == "5 of 12 documents"
    follow(page, "tokens")
    header = page.get_by_role("columnheader", name="tokens")
    expect(header).to_have_attribute("aria-sort", "descending")
    assert tokens(page) == sorted((text.tokens for text in TEXTS), reverse=True)[:5]
    follow(page, "Next")
    expect(page.locator("#said")).to_have_text("documents 6–10 of 12")
    assert tokens(page) == sorted((text.tokens for text in TEXTS), reverse=True)[5:10]
    follow(page, "tokens")
    expect(header).to_have_attribute("aria-sort", "ascending")
    assert tokens(page) == sorted(text.tokens for text in TEXTS)[:5]
    follow(page, "Next")
    follow_to_end = page.get_by_role("link", name="Previous", exact=True)
    expect(follow_to_end).to_be_visible()
    follow(page, "Next")
    expect(page.locator("#said")).to_have_text("documents 11–12 of 12")
    assert page.get_by_role("link", name="Next", exact=True).count() == 0


def tokens(page) -> list[int]:
    """The column of the documents that are shown."""
    return [int(one) for one in page.locator('td[data-label="tokens"]').all_inner_texts()]


#: Lists that are cut, how their rows are called, and a column of theirs.
LISTS = {
    "frequencies": (at("/corpus", name="relief", show="frequencies", limit=7), "rows", "documents"),
    "n-grams": (at("/corpus", name="relief", show="ngrams", limit=7), "rows", "probability"),
    "collocations": (at("/collocations", word="the", limit=7, min_count=1), "collocates", "frequency"),
    "keywords": (
        at("/keyness", corpus="texts", against="relief", min_count=1, limit=7, by="upos"),
        "rows",
        "log ratio",
    ),
    "counts": (at("/query", query='[xpos="NN.*"]', by="word", limit=5), "rows", "documents"),
    "metadata": (at("/corpus", name="texts", show="metadata", limit=2), "rows", "times"),
    "sql": (at("/sql", query="select * from v_tokens order by sentence_id, position"), "rows", ""),
    "lines": (at("/corpus", name="relief", show="concordance", pattern="the", limit=7), "hits", ""),
    "hits": (at("/query", query='"the"', limit=7), "hits", ""),
    "lines of two": (at("/hits", word="the", other="of", role="collocate", limit=7), "hits", ""),
}


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("name", LISTS)
def test_every_list_is_turned_over_and_sorted(name: str, opened) -> None:
    """The rows of two pages are others, and a column sorts them all: the first page has the largest."""
    url, noun, column = LISTS[name]
    page = opened(url)
    rows = page.locator("tbody").first
    first = rows.inner_text()
    next_ = page.get_by_role("navigation", name=f"More {noun}").get_by_role("link", name="Next")
    next_.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".pages").first).to_contain_text("Previous")
    assert rows.inner_text() != first
    if column:
        follow(page, column)
        expect(page.get_by_role("columnheader", name=column)).to_have_attribute("aria-sort", "descending")
        assert re.search(rf"of [\d,]+ {noun}", said(page))


@pytest.mark.parametrize(
    ("url", "name", "leads"),
    [
        (at("/corpus", name="txets"), "texts", "name=texts"),
        (at("/corpus", name="texts", where="gnre = news"), "genre", "where=genre"),
        (at("/query", query='"camp"', where="gnre = news"), "genre", "where=genre"),
        (at("/query", query='"camp"', corpus="txets"), "texts", "corpus=texts"),
        (at("/query", language="grew", query="pattern { V -[nsub]-> S }"), "nsubj", "nsubj"),
        (at("/collocations", word="lemma:campp"), "camp", "lemma%3Acamp"),
        (at("/sketch", word="campp", by="word"), "camp", "word=camp"),
        (at("/word", word="campp"), "camp", "word=camp"),
    ],
)
def test_what_may_be_meant_is_a_link(url: str, name: str, leads: str, site: Server) -> None:
    """Of corpora, keys of metadata, relations, words and lemmas, in the one box that says what is missing."""
    text = site.client.get(url).text
    boxes = re.findall(r'<div class="(?:note|problem)".*?</div>', text, re.DOTALL)
    assert len(boxes) == 1
    links = {name: url for url, name in re.findall(r'<a href="([^"]*)"><bdi>([^<]*)</bdi>', boxes[0])}
    assert leads in links[name]


@pytest.mark.parametrize("url", ["/corpus?name=texts", '/corpus?name=texts&where=genre+%3D+"news"'])
def test_the_page_of_a_corpus_is_accessible_and_fits(url: str, opened) -> None:
    """In light and dark, at each width; names of documents are short."""
    page = opened(url)
    check_accessible(page)
    check_width(page)
    assert page.evaluate(UNLABELED) == []
    name = page.locator('td[data-label="document"] bdi').first
    assert name.get_attribute("title") == NEWS[0].name
    assert len(name.inner_text()) <= 40


@pytest.mark.parametrize(
    "url",
    [
        at("/query", query='"the"'),
        at("/query", language="grew", query="pattern { V -[nsubj]-> S }"),
        at("/word", word="camp"),
        at("/collocations", word="camp"),
        at("/corpus", name="relief", show="concordance", pattern="camp"),
    ],
)
def test_the_answer_is_on_the_first_screen_of_a_telephone(url: str, opened) -> None:
    """The fields of a form are folded there, until a box brings them; elsewhere all are there.

    Those of a query are unfolded everywhere.
    """
    page = opened(url)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.locator("#results tbody tr").first.bounding_box()["y"] < 800
    case = page.locator("form.ask").get_by_label("ignore case", exact=True)
    assert not case.is_visible()
    query = url.startswith("/query")
    (page.locator("form.ask summary").first if query else page.get_by_label("more fields")).focus()
    page.keyboard.press("Space")
    expect(case).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    assert case.is_visible()
    assert query or not page.get_by_label("more fields").is_visible()
