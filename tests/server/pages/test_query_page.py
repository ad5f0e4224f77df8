"""The page of queries: hits with their trees, counts, files, and what cannot be read."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.output.display import shown
from sentgen.schema import Store
from sentgen.server.pages.page import PageAnswer
from sentgen.server.pages.query import EXAMPLES
from sentgen.server.pages.site import environment
from sentgen.server.pages.texts import narrowed_cql, narrowed_grew

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect

REQUEST = "pattern { V -[nsubj]-> S; V -[obj]-> O }"


def at(**query: object) -> str:
    """The page of a query."""
    return f"/query?{urlencode(query, doseq=True)}"


@pytest.fixture
def held(store: Path):
    """The store of the pages, open; closed after each test, as commands of others open it in this process."""
    with Store(store, read_only=True) as found:
        yield found


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.nightly)], ids=["scripts", "no scripts"])
def visit(request, opened):
    """Open a page with and without JavaScript."""
    return lambda url, **more: opened(url, scripts=request.param, **more)


def test_a_line_unfolds_its_tree(visit):
    """Nodes are marked in the line and in the tree; the same link folds it again, and the URL knows it."""
    page = visit(at(language="grew", query=REQUEST, corpus="relief"))
    line = page.locator("#line-1")
    marked = [text.strip() for text in line.locator("mark").all_inner_texts()]
    page.get_by_role("link", name="Tree of line 2", exact=True).click()
    expect(page.locator(".drawing")).to_have_count(1)

    assert {text[-1] for text in marked} == {"V", "S", "O"}
    assert page.locator(".drawing rect.marked").count() == 3
    assert "open=1" in page.url
    page.get_by_role("link", name="Tree of line 2", exact=True).click()
    expect(page.locator(".drawing")).to_have_count(0)


def test_the_tree_of_a_cql_hit_marks_its_tokens(visit):
    """As many as the node has, in whatever order the lines are."""
    page = visit(at(query='[xpos="JJ"]+ [upos="NOUN"]', corpus="relief", sort="right", open="2"))
    node = page.locator("#line-2 td.node").inner_text().split()

    expect(page.locator(".drawing")).to_have_count(1)
    assert page.locator(".drawing rect.marked").count() == len(node) > 1
    assert page.locator("#line-2 mark").count() == 0


def test_hits_are_counted_by_what_is_asked(visit):
    """Filled into the form, a key gives a table with a bar a row, the longest for the most frequent."""
    page = visit(at(language="grew", query=REQUEST, corpus="relief"))
    page.locator("form.ask summary").first.click()
    page.locator("#by").fill("V.lemma")
    page.locator("main").get_by_role("button", name="Search").click()
    page.wait_for_selector("table.counts")

    widths = [float(one.get_attribute("width")) for one in page.locator("td.bar rect").all()]
    counts = [int(text) for text in page.locator("table.counts td.number:nth-child(2)").all_inner_texts()]
    assert page.locator("table.counts tbody tr").first.inner_text().startswith("lose")
    assert widths == pytest.approx([160 * count / counts[0] for count in counts], abs=0.1)
    assert page.locator("table.kwic tbody tr").count() == 20


def test_parts_are_compared(visit, site, held):
    """As the command compares them; figures have their intervals below, and the file has all columns."""
    page = visit(at(query='"the"', by="document", corpus="relief", limit=5))
    page.get_by_label("compare parts").check()
    page.get_by_role("button", name="Search").click()
    table = page.locator("table.differences")
    expect(table).to_be_visible()

    asked = Frequencies(
        query='"the"', by=["document"], corpus=["relief"], compare=True, sort="-count", limit=20
    )
    with held.connect() as connection:
        answer = asked.ask(connection)
    expected = answer.rows.to_pylist()
    names = [cell.inner_text() for cell in table.locator("tbody td:first-child").all()]
    assert names == [row["document"] for row in expected]
    assert answer.remarks[0] in page.locator(".note").first.inner_text()
    heads = table.locator("thead th").all_inner_texts()
    assert heads[-3:] == ["%DIFF", "relative risk", "odds ratio"]
    value, low, high = (shown(expected[0][f"relative_risk{end}"]) for end in ("", "_low", "_high"))
    risk = table.locator('tbody tr:first-child [data-label="relative risk"]')
    assert risk.inner_text().split() == [value, low, "to", high]
    (url,) = (
        one.get_attribute("href") for one in page.locator(".take a", has_text="CSV of Differences").all()
    )
    head, *rows = csv.reader(io.StringIO(site.client.get(url).text))
    assert head == answer.rows.columns
    assert len(rows) >= len(expected)
    page.get_by_role("link", name="log-likelihood").click()
    expect(page).to_have_url(re.compile("log_likelihood"))
    assert page.get_by_label("compare parts").is_checked()


def test_what_makes_no_parts_is_not_compared(opened):
    """Also nothing at all: the box alone asks a question that cannot be answered."""
    for by in ("", "word"):
        page = opened(at(query='"the"', by=by, corpus="relief", compare="on"), fails=True)
        assert "compares parts of the texts" in page.locator(".problem").inner_text()


def test_a_count_leads_to_its_hits(visit):
    """A click on the count of a row shows as many lines."""
    page = visit(at(language="grew", query=REQUEST, corpus="relief", by="V.lemma; S#V#O"))
    row = page.locator("table.counts tbody tr").first
    number, lemma = row.locator("td.number a").inner_text(), row.locator("td").first.inner_text()
    row.locator("td.number a").click()
    page.wait_for_selector("table.counts", state="detached")

    assert page.locator("#said").inner_text() == f"{number} hits"
    assert f'V.lemma = "{lemma}"' in page.locator("#query").input_value()


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("request_", "keys", "whether"),
    [
        (REQUEST, ["V.lemma"], ["S [upos=PRON]"]),
        ("pattern { e: H -> M } % all", ["e.label", "M.form"], []),
        ("pattern { e: H -> M }", ["e", "corpus"], []),
        ("pattern { V -[nsubj]-> S }", ["document", "meta.corpus", "match.document"], []),
        ("pattern { V -[nsubj]-> S }", ["delta(V,S)", "V#S"], ["V -[obj]-> O % or not"]),
    ],
)
def test_a_narrowed_request_matches_what_was_counted(
    request_: str, keys: list[str], whether: list[str], held
):
    """Keys of nodes, edges, order and distance, and conditions; on a hostile corpus, too."""
    with held.connect() as connection:
        rows = Match(request=request_, key=keys, whether=whether, limit=15).ask(connection).rows.to_pylist()
        for row in rows:
            asked = Match(request=narrowed_grew(request_, row, keys, whether), count=True)
            assert asked.ask(connection).rows.to_pylist() == [{"count": row["count"]}]


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("query", "by"),
    [
        ('[lemma="be"]', "word"),
        ('[word="said"] []', "word"),
        ('"the" []{1,3} "of" within <s/>', "lemma"),
        ('a:[upos="DET"] b:[] :: a.lemma="the"', "b.upos"),
        ('[lemma="be"]', "meta.document"),
    ],
)
def test_a_narrowed_query_matches_what_was_counted(query: str, by: str, held):
    """Attributes of all tokens, and of labels, whatever the query has already."""
    with held.connect() as connection:
        rows = Frequencies(query=query, by=[by], limit=15).ask(connection).rows.to_pylist()
        for row in rows:
            asked = Kwic(cql=narrowed_cql(query, row[by], by), count=True).ask(connection)
            assert list(asked.rows.to_pylist()[0].values()) == [row["count"]]


@pytest.mark.parametrize(
    "asked",
    [
        {"query": '"camp"', "by": "length/4"},
        {"query": '"camp"', "by": "meta.length/4", "where": "length > 8"},
        {"language": "grew", "query": REQUEST, "by": "V.upos; meta.length/4"},
    ],
    ids=["cql", "within", "grew"],
)
def test_a_count_of_a_period_leads_to_its_hits(asked, site):
    """By a condition on the metadata, as queries have no periods."""
    page = site.client.get(at(**asked, corpus="relief")).text
    found = re.findall(r'<a href="([^"]*)" aria-label="([\d,]+ hits?) of row', page)

    assert len(found) > 2
    for url, hits in found[:3]:
        assert re.search(rf"[> ]{hits}</p>", site.client.get(unescape(url)).text)


@pytest.mark.parametrize("language", EXAMPLES)
def test_every_example_can_be_clicked(language, site):
    """Each is a query that the server understands, counts included."""
    for example in EXAMPLES[language]:
        answer = site.client.get("/query", params={"language": language, **example.parameters})

        assert answer.status_code == 200, example.name
        assert 'role="alert"' not in answer.text, example.name


def test_what_cannot_be_read_is_pointed_at(visit):
    """The place stands in the text, and below the line there is a caret."""
    page = visit(at(language="grew", query="pattern {\n  V [upos=VERB;\n}"), fails=True)
    alert = page.get_by_role("alert")

    assert alert.locator("p").inner_text() == "line 2, column 15: expected , or ]"
    line, caret = alert.locator("pre").inner_text().splitlines()
    assert line[caret.index("^")] == ";"


def test_the_switch_keeps_the_corpus(visit):
    """From one language to the other, the query goes and the corpus stays."""
    page = visit(at(language="cql", query='"camp"', corpus="relief"))
    page.get_by_role("link", name="Grew").click()
    page.wait_for_selector("text=Grew request")

    assert "language=grew" in page.url
    assert page.get_by_label("Corpus", exact=True).input_value() == "relief"


def test_files_have_what_the_page_counts(opened, site, store: Path):
    """CSV has all hits and all counts, and CoNLL-U what the command prints."""
    page = opened(at(language="grew", query=REQUEST, corpus="relief", by="V.lemma"))
    counts, hits = (
        site.client.get(page.get_by_role("link", name="CSV").nth(number).get_attribute("href")).text
        for number in (0, 1)
    )
    conllu = site.client.get(page.get_by_role("link", name="CoNLL-U").get_attribute("href"))
    asked = ["match", REQUEST, "--corpus", "relief", "--limit", "0", "--conllu", "--db", str(store)]

    rows = list(csv.DictReader(io.StringIO(hits)))
    listed = list(csv.DictReader(io.StringIO(counts)))
    assert page.locator("#said").inner_text() == f"20 of {len(listed)} rows, {len(rows)} hits"
    assert sum(int(row["count"]) for row in listed) == len(rows)
    assert conllu.text == CliRunner().invoke(build(), asked).stdout
    assert 'filename="sentences.conllu"' in conllu.headers["content-disposition"]


def test_the_files_of_cql_have_the_parameters_of_the_page(opened, site):
    """The strategy changes which spans there are, in the page and in its file alike."""
    query = {"language": "cql", "query": '"the" []* "camp"', "corpus": "relief", "limit": 500}
    found = Counter[str]()
    for strategy in ("all", "shortest"):
        page = opened(at(**query, strategy=strategy, sort="right"))
        file = site.client.get(page.get_by_role("link", name="JSON").get_attribute("href")).json()
        found[strategy] = page.locator("table.kwic tbody tr").count()
        assert len(file["rows"]) == found[strategy]

    assert found["shortest"] < found["all"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/query/nothing.csv?query=x", 404),
        ("/query/sentences.conllu", 400),
        ("/query/sentences.conllu?query=pattern", 400),
        ("/query?language=cql&query=[", 400),
        ("/query?language=grew&query=pattern{}&by=X.lemma", 400),
        ("/query?language=klingon&query=", 200),
        ("/query?language=cql&query=%22camp%22&open=999&open=x", 200),
    ],
)
def test_mistakes_have_their_status(path: str, status: int, site):
    """A mistake is answered with the status of the API."""
    answer: httpx.Response = site.client.get(path)

    assert answer.status_code == status


def test_a_word_leads_to_all_forms_of_its_lemma(visit):
    """From camps to camp: the forms are counted."""
    page = visit("/word?word=camps&corpus=relief")
    page.get_by_role("link", name="All forms of its lemma").click()
    page.wait_for_selector("table.counts")

    forms = page.locator("table.counts tbody tr td:first-child").all_inner_texts()
    assert {"camp", "camps"} <= set(forms)
    assert page.get_by_label("Corpus", exact=True).input_value() == "relief"
    assert page.locator("#query").input_value() == '[lemma="camp"]'


@pytest.mark.parametrize(
    ("left", "node", "mirrored"),
    [("وقال", "ذلك", True), ("", "ذلك", True), ("He", "said", False), ("", ".", False)],
)
def test_concordances_are_mirrored_where_text_runs_from_right_to_left(left: str, node: str, mirrored: bool):
    """What comes before the node stands on its right there, on every page with a concordance."""
    parts = environment().get_template("parts.html.j2").module
    row = {"corpus": "c", "document": "d", "sent_id": "s", "left": left, "node": node, "right": ""}

    assert ('class="kwic" dir="rtl"' in parts.concordance(PageAnswer(rows=[row]))) == mirrored


def test_contexts_and_matches_over_the_ends_of_sentences(visit):
    """Buttons show more around the same hits, and keep what else was asked."""
    page = visit(at(language="cql", query='"[.]" "The"', corpus="relief", across="on", limit=3))
    said, few = page.locator("#said").inner_text(), page.locator("td.right").first.inner_text()
    assert said.startswith("3 of ")
    assert {text.split()[-1] for text in page.locator("td.node").all_inner_texts()} == {"The"}
    page.get_by_role("navigation", name="Context").get_by_role("link", name="3 sentences").click()
    expect(page.get_by_role("navigation", name="Context").locator("[aria-current]")).to_have_text(
        "3 sentences"
    )

    assert page.locator("#said").inner_text() == said
    assert len(page.locator("td.right").first.inner_text()) > len(few)


@pytest.mark.parametrize(
    ("language", "query", "other"),
    [("cql", "pattern { V [upos=VERB] }", "Grew"), ("grew", '[lemma="camp"]', "CQL")],
)
def test_a_query_of_the_other_language_leads_to_its_tab(opened, language: str, query: str, other: str):
    """With the same text and corpus, by keyboard; the address is that of the query that failed."""
    page = opened(f"/query?language={language}&corpus=relief", fails=True)
    page.locator("#query").fill(query)
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("alert")).to_contain_text(f"choose {other}")
    page.wait_for_url(lambda url: "query=" in url)
    asked = parse_qs(urlsplit(page.url).query)
    assert (asked["query"], asked["corpus"], asked["language"]) == ([query], ["relief"], [language])

    page.get_by_role("link", name=f"it in {other}").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[aria-current=page]", has_text=other)).to_be_visible()
    expect(page.locator("#query")).to_have_value(query)
    expect(page.locator("#corpus")).to_have_value("relief")
    expect(page.locator("table.kwic").first).to_be_visible()
