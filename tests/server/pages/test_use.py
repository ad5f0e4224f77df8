"""People use the pages: they fill in, click and read, with and without JavaScript."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from chosen_states import LINKED, PAIR, choose, contradicted
from parted_texts import TEXTS
from serving import CLUSTER, RELATED
from typer.testing import CliRunner

from sentgen.alignment.view.html import page as alignment_page
from sentgen.alignment.view.view import PairView
from sentgen.alignment.words.states import WordState
from sentgen.cli import build
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.subcorpora import properties
from sentgen.schema import Store
from sentgen.server.pages.site import environment

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect

#: Milliseconds after which a test gives up.
PATIENCE = 60_000
#: How often the word stands in the demo, in evil, and in the texts with metadata.
CAMPS = 13 + 1 + sum(sentence.count("camp") for text in TEXTS for sentence in text.sentences)


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.nightly)], ids=["scripts", "no scripts"])
def visit(request, opened):
    """Open a page with and without JavaScript."""
    return lambda url: opened(url, scripts=request.param)


def said(page) -> str:
    """The line that says what came back."""
    return page.locator("#said").inner_text()


def press(page, button: str, brings: str) -> None:
    """Press a button of the form in the page, and wait until it says what came back."""
    page.locator("main").get_by_role("button", name=button).click()
    expect(page.locator("#said")).to_contain_text(brings, timeout=PATIENCE)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_home_leads_to_a_word(opened, scripts):
    """The search box on the first page shows a word with its figures."""
    page = opened("/", scripts=scripts)
    page.get_by_label("A word, or several in a row").fill("camp")
    page.get_by_role("button", name="Look up").click()

    assert page.locator("h1").inner_text() == "camp"
    assert said(page).startswith(f"{CAMPS} times")
    assert page.get_by_role("heading", name="Collocations").is_visible()


def test_a_count_leads_to_its_hits(visit):
    """A click on the count of `camp` shows as many lines, and a click on a line its sentence with a tree."""
    page = visit("/corpus?name=relief&show=frequencies&pattern=camp")
    page.get_by_role("link", name="13 hits of camp").click()
    page.wait_for_selector("table.kwic")

    assert said(page) == "13 hits"
    assert page.locator("table.kwic tbody tr").count() == 13
    page.get_by_role("link", name="relief-003-1").click()
    assert page.locator("h1").inner_text() == "Sentence relief-003-1"
    assert page.locator(".drawing svg text", has_text="nsubj").first.is_visible()


def test_the_count_of_an_ngram_leads_to_its_hits(visit):
    """`the border` occurs as often as the list of n-grams says."""
    page = visit("/corpus?name=relief&show=ngrams&pattern=the+border")
    page.get_by_role("link", name="8 hits of the border").click()

    assert said(page) == "8 hits"


def test_ngrams_of_lemmas_lead_to_their_hits(visit):
    """`in the` is among those that two documents have; the box leaves out marks."""
    page = visit("/corpus?name=relief&show=ngrams&pattern=in+*")
    page.get_by_label("Of", exact=True).select_option("lemma")
    page.get_by_label("Least number of documents").fill("2")
    page.get_by_label("of words only").check()
    page.get_by_role("button", name="Show").click()
    page.get_by_role("columnheader", name="documents").wait_for()
    assert min(int(one) for one in page.locator('td[data-label="documents"]').all_inner_texts()) == 2
    count = page.get_by_role("link", name="of lemma:in lemma:the")
    number = count.inner_text()
    count.click()
    page.wait_for_selector("table.kwic")

    assert said(page) == f"{number} hits"


def test_hits_are_found_in_capital_and_small_letters(visit):
    """With the box checked, `the` counts `The`, and its count leads to as many lines."""
    page = visit("/corpus?name=relief&show=frequencies")
    page.get_by_label("Only these, such as un*").fill("the")
    page.get_by_label("ignore case").check()
    press(page, "Show", "1 row")
    counts = page.get_by_role("link", name="hits of the")
    number = counts.inner_text()
    counts.click()
    page.wait_for_selector("table.kwic")

    assert number in said(page)
    assert {node.lower() for node in page.locator("td.node").all_inner_texts()} == {"the"}
    assert "The" in page.locator("td.node").all_inner_texts()


def test_a_concordance_is_sorted_by_its_context(visit):
    """Chosen in the form, or by the links below, the words before the node are in order."""
    page = visit("/corpus?name=relief&show=concordance")
    page.get_by_label("Pattern").fill("camp")
    page.get_by_label("Sort by context").select_option("left")
    press(page, "Show", "13 hits")

    before = [text.split()[-1].lower() for text in page.locator("td.left").all_inner_texts()]
    assert before == sorted(before)
    assert "sort=left" in page.url


def test_the_node_stands_in_the_middle(opened):
    """At 1280 pixels nothing is cut but what is farthest from the node, and names take little room."""
    page = opened("/corpus?name=relief&show=concordance&pattern=the+camp&context=60")
    table = page.locator("table.kwic").bounding_box()
    left, node, right = (
        page.locator(f"td.{name}").first.bounding_box() for name in ("left", "node", "right")
    )

    assert page.locator(".scroll").evaluate("box => box.scrollWidth <= box.clientWidth")
    assert abs(left["width"] - right["width"]) < 10
    assert 0.4 < (node["x"] + node["width"] / 2 - table["x"]) / table["width"] < 0.65
    assert page.locator("td.where").first.bounding_box()["width"] < table["width"] / 6
    # The words beside the node are seen: each text ends where its cell does.
    for cell in page.locator("td.left").all():
        text, box = cell.locator("bdi").bounding_box(), cell.bounding_box()
        assert box["x"] + box["width"] - 20 < text["x"] + text["width"] <= box["x"] + box["width"]


def test_names_are_cut_at_their_beginning(site):
    """The end tells names apart; the whole one is under the pointer, and quotes are printed ones."""
    shown = (
        environment()
        .from_string("{% import 'parts.html.j2' as parts %}{{ parts.concordance(answer) }}")
        .render(
            answer={
                "rows": [
                    {"corpus": "c", "document": "d", "sent_id": f"{'long-' * 9}0{n}", "left": "`` Yes , ''"}
                    | {"node": "he", "right": "said '' ."}
                    for n in (1, 2)
                ],
                "more": {},
            }
        )
    )

    assert re.findall(r"<bdi>(…[^<]+)</bdi></a>", shown) == ["…ng-long-long-01", "…ng-long-long-02"]
    assert f'title="{"long-" * 9}01"' in shown
    assert "“ Yes , ”" in shown
    assert "said ” ." in shown


def test_subcorpora_lead_to_their_look_ups(visit, store: Path):
    """With their sizes; what is looked up there is of them alone, and a page of words can choose them."""
    with Store(store, read_only=True) as held, held.connect() as connection:
        about = dict(map(dict.values, properties(connection, "short").to_pylist()))
        (lines,) = Kwic(pattern="camp", corpus=["short"], count=True).ask(connection).rows.to_pylist()
    page = visit("/corpus")
    page.get_by_role("link", name="Subcorpora", exact=True).click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="short", exact=True))
    expect(row).to_contain_text(f"{about['documents']}{about['sentences']}{int(about['tokens']):,}")
    row.get_by_role("link", name="Concordance of short").click()
    expect(page.locator("h1")).to_have_text("Subcorpus short")
    expect(page.locator("main")).to_contain_text(f"{about['sentences']} sentences")

    page.get_by_label("Pattern").fill("camp")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#said")).to_have_text(f"{lines['hits']} hits")
    assert page.locator(".tabs a").all_inner_texts() == ["Documents", "Frequencies", "N-grams", "Concordance"]
    page.goto("/word?word=camp&corpus=short")
    expect(page.get_by_label("Corpus", exact=True)).to_have_value("short")


def test_documents_have_sentences(visit):
    """Corpus, document, sentence, the next one: all by links."""
    page = visit("/corpus?name=relief")
    page.get_by_role("link", name="relief-003", exact=True).click()
    page.get_by_role("link", name="relief-003-1", exact=True).click()
    page.get_by_role("link", name="Next sentence").click()

    assert page.locator("h1").inner_text() == "Sentence relief-003-2"


def test_a_word_shows_what_it_governs(visit):
    """The modifiers of `arrived` in the demo, and its histogram: one on the left, four on the right."""
    page = visit("/word?word=arrived")

    assert "Sarkesh" in page.get_by_role("region", name="Modifiers after it").inner_text()
    titles = page.locator("svg.histogram title").all_text_contents()
    assert titles == [
        "Modifiers on the left of arrived: 1 with 1",
        "Modifiers on the right of arrived: 1 with 4",
    ]


@pytest.mark.parametrize("part", ["Modifiers before it", "Heads before it", "Collocations"])
def test_the_counts_of_a_word_lead_to_their_hits(part, opened):
    """The first count of each list shows as many lines, each with both words from end to end of its node."""
    page = opened("/word?word=camp&corpus=relief&ignore_case=on")
    row = page.get_by_label(part, exact=True).locator("tbody tr").first
    other, count = row.locator("td").first.inner_text(), row.locator("td.number a").first
    number = int(count.inner_text())
    count.click()
    page.wait_for_selector("table.kwic")

    assert said(page).startswith(f"{number} ")
    for node in page.locator("td.node").all_inner_texts():
        ends = node.lower()
        assert (ends.startswith("camp") and ends.endswith(other)) or (
            ends.startswith(other) and ends.endswith("camp")
        )


def test_a_model_shows_its_path_and_perplexities(visit):
    """An n-gram that the model has not is looked up shorter; sentences get perplexities."""
    page = visit("/model?name=relief%401")
    page.get_by_label("How the model gets").fill("unheard of the camp")
    page.get_by_label("Perplexity of sentences").fill("people arrived .\ncamp")
    press(page, "Ask", "2 rows")

    path = page.get_by_label("Back-off path").inner_text()
    assert "known: its probability" in path
    assert "unknown: weight of backing off" in path
    assert page.get_by_label("Perplexity", exact=True).locator("tbody tr").count() == 2


def test_models_are_compared(visit):
    """Those that are marked, on a corpus; without a mark, the page says what is missing."""
    page = visit("/model?corpus=relief")
    assert "Mark the models to compare." in page.locator("#results").inner_text()
    page.get_by_label("relief@1").check()
    press(page, "Compare", "1 model")

    assert "relief@1 was built from this text" in page.locator("#results").inner_text()


def test_algorithms_stand_side_by_side(visit):
    """Each algorithm that is checked gives a sentence of the same words; ab a tree and reasons."""
    page = visit("/regenerate")
    page.get_by_label("Words and [base noun phrases]").fill("[the trucks] reached\n[the city] .")
    page.get_by_label("joint", exact=True).uncheck()
    page.get_by_label("lmo", exact=True).check()
    press(page, "Order them", "2 algorithms")

    assert page.locator("article h2").all_inner_texts() == ["lmo", "ab"]
    sentences = page.locator("article .sentence").all_inner_texts()
    assert [sorted(one.split()) for one in sentences] == [
        [".", "city", "reached", "the", "the", "trucks"]
    ] * 2
    assert page.locator("article svg").count() == 1
    page.get_by_text("Why each attachment was made").click()
    assert "<root>" in page.get_by_label("Reasons of ab 1").inner_text()


def test_joint_is_checked_at_first_and_says_what_decided(visit):
    """Beside ab; its reasons name the factor and the head that was next best."""
    page = visit("/regenerate?model=relief%401")
    page.get_by_label("Words and [base noun phrases]").fill("[the trucks] reached [the city] .")
    press(page, "Order them", "2 algorithms")

    assert page.locator("article h2").all_inner_texts() == ["joint", "ab"]
    assert page.locator("article svg").count() == 2
    page.get_by_text("Why each attachment was made").first.click()
    reasons = page.get_by_label("Reasons of joint 1")
    labels = (
        reasons.locator("tbody tr")
        .first.locator("td")
        .evaluate_all("cells => cells.map(cell => cell.dataset.label)")
    )
    assert labels[-3:] == ["next best head", "decided by", "log10 margin"]
    assert "relations" in reasons.locator("tbody").inner_text()
    assert page.get_by_label("Reasons of ab 1").get_by_text("decided by").count() == 0


def test_a_cluster_makes_sentences(visit):
    """A pasted cluster of trees gives a sentence of each length, with the stack behind each word."""
    page = visit("/generate")
    page.get_by_label("Cluster", exact=True).fill(CLUSTER)
    page.get_by_label("Lengths").fill("2-3")
    press(page, "Generate", "2 sentences")

    rows = page.get_by_label("Sentences by length").locator("tbody tr")
    assert [row.split("\t")[1] for row in rows.all_inner_texts()] == ["2", "3"]
    page.locator("details summary", has_text="length 3").click()
    assert "reached" in page.get_by_label("Trace of sentence 2").inner_text()


def test_plain_text_makes_sentences_without_trees(visit):
    """The baseline needs no trees."""
    page = visit("/generate")
    page.get_by_label("Cluster", exact=True).fill("Trucks reached the camps.\nAid reached the villages.")
    page.get_by_label("Format").select_option("text")
    page.get_by_label("Algorithm").select_option("bigram")
    page.get_by_label("Lengths").fill("4")
    press(page, "Generate", "1 sentence")


def test_a_fused_sentence_says_where_its_words_are_from(visit):
    """What was added is marked with the number of its sentence; a word is found by the keyboard alone."""
    page = visit("/fuse")
    page.get_by_label("Key sentence").fill("1")
    page.get_by_label("Related sentences").fill(RELATED)
    press(page, "Fuse", "1 sentence")

    assert page.locator("article .sentence mark").all_inner_texts() == ["in Sarkesh1"]
    assert page.locator("dl.sources mark").all_inner_texts() == ["in Sarkesh"]
    summary = page.locator("summary", has_text="Word by word")
    summary.focus()
    page.keyboard.press("Enter")
    rows = page.get_by_label("Words of sentence 1").locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in rows][5:7] == [["earthquake", "key"], ["in", "related 1"]]


def test_the_example_of_fusion_can_be_asked(visit):
    """That of the operation."""
    page = visit("/fuse")
    page.locator(".examples a").first.click()
    page.wait_for_selector("#results .sentence")

    assert page.locator("#said").inner_text() == "1 sentence"


def test_a_summary_is_aligned(visit):
    """Both texts stand side by side with the same numbers on what belongs together, and new words marked."""
    page = visit("/align")
    page.get_by_label("Document").fill("Rain flooded the camp . Trucks brought clean water to families .")
    page.get_by_label("Summary").fill("Trucks brought clean water yesterday .")
    page.get_by_label("Aligner").select_option("lcs")
    press(page, "Align", "0 of 6 words are changed, 1 new")

    copied = page.locator(".alignment .p", has_text="Trucks brought clean water")
    assert copied.count() == 2
    assert copied.first.locator("sup").inner_text() == copied.last.locator("sup").inner_text()
    assert page.locator(".pane .new").all_inner_texts() == ["yesterday"]
    assert page.locator(".alignment svg rect").count() >= 5


def test_linked_words_light_up(opened):
    """With JavaScript, pointing at words of the summary marks the same words of the document."""
    page = opened(
        "/align?document=Trucks+brought+water+to+camps+.&abstract=Trucks+brought+water+.&aligner=lcs"
    )
    page.locator(".abstract .p", has_text="Trucks").first.hover()

    assert page.locator(".document .p.on", has_text="Trucks").count() == 1


ALIGNED = (
    "/align?document=Heavy+rain+flooded+the+camp+.+Trucks+brought+clean+water+to+families+."
    "&abstract=Yesterday+clean+water+flooded+a+camp+."
)


def test_links_have_reasons(opened):
    """A click on linked words, or an arrow key, shows what their links are made of; Escape puts it away."""
    page = opened(ALIGNED)
    page.locator(".abstract .p", has_text="clean water").click()
    why = page.locator(".why tbody tr")

    assert why.all_inner_texts()[0].split()[1:6] == ["clean", "clean", "same", "1", "1.00"]
    assert "copied run" in why.first.inner_text()
    page.keyboard.press("ArrowLeft")
    assert why.first.inner_text().split()[:4] == ["–", "Yesterday", "Heavy", "new"]
    assert (
        page.locator(".abstract .new").get_attribute("title")
        == f"new; P(null) {why.first.inner_text().split()[-1]}"
    )
    page.keyboard.press("Escape")
    assert not page.locator(".why").is_visible()


def test_a_threshold_links_anew(opened):
    """The slider begins with the links of the model; it adds and removes links, and its button brings them back."""
    page = opened(ALIGNED)
    panes, slider = page.locator(".panes"), page.get_by_role("slider")
    before, begun = panes.inner_text(), page.locator(".counts").inner_text()
    assert slider.input_value() == "0.3"
    assert "from the threshold 0.30 on; 0 of 7 words changed, 1 new" in begun

    slider.fill("1")
    told = "0 links, from the threshold 1.00 on; 7 of 7 words linked with nothing; what is changed is told at 0.30 only"
    assert page.locator(".counts").inner_text() == told
    # Nobody has judged these links.
    assert not page.locator(".legend").is_visible()
    assert page.locator(".figures b").first.inner_text() == "–"
    assert page.locator(".pane .p").count() == page.locator(".alignment svg rect").count() == 0
    slider.fill("0.9")
    sure = {row["document"]: row["posterior"] for row in shown_links(page)}
    assert min(sure.values()) >= 0.9
    assert page.locator(".counts").inner_text().startswith(f"{len(sure)} links, from the threshold 0.90 on")
    # At the threshold of the model the page is as the server made it.
    slider.fill("0.3")
    assert (panes.inner_text(), page.locator(".counts").inner_text()) == (before, begun)
    slider.fill("0.05")
    page.get_by_role("button", name="Back to 0.30").click()
    assert (panes.inner_text(), page.locator(".counts").inner_text()) == (before, begun)
    # What the script makes of another threshold is what the server makes of it.
    slider.fill("0.9")
    anew = panes.inner_text()
    assert anew == opened(f"{ALIGNED}&threshold=0.9").locator(".panes").inner_text() != before


@pytest.fixture
def contradicting(monkeypatch, tmp_path) -> str:
    """A page with changed words, one that is new, and one that is inflected."""
    others = {10: WordState("the", "new"), 12: WordState("rose", "variant", (12,), why="inflected")}
    choose(monkeypatch, contradicted() | others)
    file = tmp_path / "page.html"
    file.write_text(alignment_page(PairView.make(PAIR, LINKED), title="page", model="none"), "utf-8")
    return file.as_uri()


def test_keys_go_to_changed_and_new_words(opened, contradicting):
    """n and p go through both, and through one state after its entry in the legend; the line below tells of each."""
    page = opened(contradicting)
    here = page.locator(".abstract :focus")
    page.locator(".abstract .p").first.click()
    found = []
    for key in "nnnnpn":
        page.keyboard.press(key)
        found.append(here.evaluate("word => word.firstChild.textContent"))
    assert found == ["21", "Oslo", "the", "team", "the", "team"]
    assert page.locator(".tip").inner_text().startswith("team ← document: club (changed, another noun: club)")
    assert page.locator(".document .on").inner_text().startswith("club")

    page.get_by_role("link", name="variant 1: go to the next").click()
    assert here.inner_text().startswith("rose")
    page.get_by_role("link", name="changed 5: go to the next").press("Enter")
    assert here.inner_text().startswith("40")
    page.keyboard.press("p")
    assert here.inner_text().startswith("team")


def test_a_page_with_changed_words_fits_a_telephone(opened, contradicting):
    """Nothing is wider than the screen, and the table is open; the legend leads to words without scripts."""
    page = opened(contradicting, scripts=False)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    page.get_by_role("link", name="changed 5: go to the next").click()
    assert page.url.endswith("#first-changed")
    assert "another number: 12" in page.locator(".phrases").inner_text()


def shown_links(page) -> list[dict[str, object]]:
    """The linked words of the table of reasons."""
    return page.locator(".reasons tbody tr:not([hidden])[data-p]").evaluate_all(
        "rows => rows.filter(row => row.cells[0].textContent !== '–')"
        ".map(row => ({document: row.dataset.d, posterior: +row.dataset.p}))"
    )


def test_without_scripts_a_threshold_is_a_field(opened):
    """The form takes it; the reasons are a table that unfolds; a best path says what it is."""
    page = opened(ALIGNED, scripts=False)
    page.get_by_role("spinbutton", name="Threshold").fill("0.05")
    press(page, "Align", "11 links; 0 of 7 words are changed, 1 new")
    assert "makes a model that can then be chosen as an aligner here" in page.locator("#results").inner_text()
    assert not page.get_by_role("slider").is_visible()
    page.get_by_text("Reasons of the links").click()
    assert "same word 82%" in page.locator(".reasons").inner_text()
    page.get_by_role("spinbutton", name="Threshold").fill("")
    page.get_by_label("Links are chosen").select_option("viterbi")
    page.locator("main").get_by_role("button", name="Align").click()
    assert "the best path" in page.locator(".counts").inner_text()


def test_sql_answers_and_is_in_the_url(visit):
    """An example fills the editor; the query that is run is part of the address."""
    page = visit("/sql")
    page.get_by_role("link", name="What the store holds").click()
    expect(page.locator("#said")).to_contain_text("row", timeout=PATIENCE)
    assert "v_corpora" in page.get_by_label("Query").input_value()
    page.get_by_label("Query").fill("select 1 + 1 as two")
    press(page, "Run", "1 row")

    assert "two" in page.locator("#results table thead").inner_text()
    assert page.locator("#results td").all_inner_texts() == ["2"]
    assert "query=select" in page.url


def test_wrong_sql_is_told_in_place(opened):
    """What the guard refuses is said above the empty results; the page has the status of the problem."""
    page = opened("/sql", fails=True)
    page.get_by_label("Query").fill("drop table token")
    page.get_by_role("button", name="Run").click()

    assert "SELECT" in page.get_by_role("alert").inner_text()


def test_results_are_replaced_alone(opened):
    """With JavaScript the page stays; the results, the status line and the address change."""
    page = opened("/corpus?name=relief&show=concordance&pattern=camp")
    page.evaluate("window.marker = 'still here'")
    page.get_by_label("Pattern").fill("lemma:arrive")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**pattern=lemma%3Aarrive**")

    assert page.evaluate("window.marker") == "still here"
    expect(page.locator("td.node").first).to_have_text("arrived", timeout=PATIENCE)
    page.go_back()
    expect(page.locator("td.node").first).to_have_text("camp", timeout=PATIENCE)


def test_everything_is_reached_by_keyboard(opened):
    """The first stop skips the navigation; a form is sent with Enter."""
    page = opened("/word")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("camp")
    page.keyboard.press("Enter")

    expect(page.locator("#said")).to_contain_text(f"{CAMPS} times", timeout=PATIENCE)


def test_the_command_on_a_page_gives_its_rows(opened, store):
    """The command line that a page shows gives the rows that it shows."""
    page = opened("/corpus?name=relief&show=frequencies&pattern=camp*")
    words = shlex.split(page.locator("code.command").first.text_content())
    result = CliRunner().invoke(build(), [*words[1:], "--json", "--db", str(store)])

    shown = page.locator("#results tbody tr td:first-child").all_inner_texts()
    assert words[:2] == ["sentgen", "freq"]
    assert [row["word"] for row in json.loads(result.stdout)] == shown


def test_files_hold_all_rows(site):
    """Each field as it is, also what a spreadsheet would take for a formula; in a workbook it is a text."""
    openpyxl = pytest.importorskip("openpyxl", reason="no openpyxl; install the extra `test`")
    words = ["=", "-", "+1", "@x", "=1+1", "\tx", "\rx"]
    chosen = " ".join(f"when {place} then '{word}'" for place, word in enumerate(words))
    query = {"sql": f"select case n % 7 {chosen} end as word, n from range(300) as r(n) order by n"}
    rows = csv.reader(io.StringIO(site.client.get("/sql/sql.csv", params=query).text, newline=""))
    parquet = site.client.get("/sql/sql.parquet", params=query)
    workbook = openpyxl.load_workbook(io.BytesIO(site.client.get("/sql/sql.xlsx", params=query).content))

    assert [row[0] for row in rows][:8] == ["word", *words]
    cells = [cell for (cell,) in workbook.worksheets[0].iter_rows(min_row=2, max_row=8, max_col=1)]
    assert [cell.value for cell in cells] == [*words[:-1], "\nx"]  # as XML has line ends
    assert {cell.data_type for cell in cells} == {"s"}
    assert pq.read_table(io.BytesIO(parquet.content)).num_rows == 300
    assert parquet.headers["content-disposition"] == 'attachment; filename="sql.parquet"'


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("/corpus?name=nowhere", 404),
        ("/sentence", 400),
        ("/hits?word=camp", 400),
        ("/corpus?show=concordance&pattern=foo:bar", 400),
        ("/sentence?corpus=relief&document=x&sentence=y", 404),
        ("/model?name=nothing", 404),
        ("/sql?query=drop+table+token", 400),
        ("/sql/sql.exe?sql=select+1", 404),
        ("/sql/sql.csv", 422),
        ("/static/secret.txt", 404),
        ("/corpus?show=concordance&pattern=*", 400),
        ("/generate?file=no+conllu&format=conllu", 400),
    ],
)
def test_mistakes_have_their_status(url, status, site):
    """A mistake is answered with the status of the API, and never with a 500."""
    answer: httpx.Response = site.client.get(url)

    assert answer.status_code == status
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_a_wrong_address_is_a_page_to_people_and_a_problem_to_programs(site):
    """A browser gets HTML, everything else problem details; under /v1 all do."""
    for path, accept, media_type in (
        ("/nowhere", "text/html,*/*;q=0.8", "text/html"),
        ("/nowhere", "*/*", "application/problem+json"),
        ("/v1/nowhere", "text/html", "application/problem+json"),
    ):
        found = site.client.get(path, headers={"accept": accept})
        assert found.status_code == 404
        assert found.headers["content-type"].startswith(media_type)


def test_odd_numbers_in_the_url_are_put_right(site):
    """Limits that are no numbers, too small or too large fall back to what there is."""
    for limit in ("-1", "0", "abc", "9" * 30, "١"):
        assert site.client.get("/corpus", params={"show": "frequencies", "limit": limit}).status_code == 200
