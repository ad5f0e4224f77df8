"""What people see: tables within their boxes, one hint, lines first, menus and trees that fit, examples."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from hostile import HOSTILE
from layout import LEAVING, UNLABELED, WIDTHS

from sentgen.server.pages.page import PageAnswer
from sentgen.server.pages.query import Lines
from sentgen.server.pages.site import PAGES, _static_path, environment

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect

LONG_NAME = "weblog-blogspot.com_healingiraq_20040409053012_ENG_20040409_053012"
FAR = " of which nobody had ever heard before that day in any of the villages of the valley "


def at(path: str, **query: object) -> str:
    """A URL."""
    return f"{path}?{urlencode(query, doseq=True)}"


def parts(template: str, **found: object) -> str:
    """What a macro of the pages makes."""
    return environment().from_string("{% import 'parts.html.j2' as parts %}" + template).render(**found)


@pytest.fixture
def drawn(opened):
    """Show something in the style of the pages."""

    def show(body: str):
        page = opened("/word")
        page.locator("main").evaluate("(main, body) => (main.innerHTML = body)", body)
        return page

    return show


def hit(**more: str) -> dict[str, str]:
    """A line of a concordance with a long name and long context."""
    row = {"corpus": "c", "document": LONG_NAME, "sent_id": f"{LONG_NAME}-0001"}
    return {**row, "left": FAR, "node": FAR.strip(), "right": FAR, **more}


@pytest.mark.parametrize("nodes", [2, 3, 9])
def test_lines_stay_in_their_box_however_far_apart_nodes_are(nodes: int, drawn):
    """What is between marks is elided, and whole under the pointer; on a telephone it is written out."""
    marks = [part for node in range(nodes) for part in ((FAR, ""), (f"villages{node}", f"N{node}"))][1:]
    lines = Lines([{"positions": {}, "parts": marks}], {}, ["/query"])
    page = drawn(
        parts("{{ parts.concordance(answer, lines) }}", answer=PageAnswer(rows=[hit()]), lines=lines)
    )
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(LEAVING) == []
        assert page.locator("mark").last.is_visible()
        between = page.locator(".stretch").first
        assert (between.bounding_box()["width"] < 120) == (width > 375)
        assert between.get_attribute("title") == FAR.strip()


def test_a_long_node_shows_both_its_ends(drawn):
    """A match in CQL of thirty tokens has its first and its last word in the line."""
    node = f"not {FAR.strip()} but"
    page = drawn(parts("{{ parts.concordance(answer) }}", answer=PageAnswer(rows=[hit(node=node)])))
    cell = page.locator("td.node").bounding_box()

    assert cell["width"] < 450
    assert page.locator("td.node").inner_text().split() == node.split()
    assert page.evaluate(LEAVING) == []


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("columns", [3, 4, 7, 10, 13, 30])
def test_a_table_of_any_size_stays_in_its_box(columns: int, drawn):
    """Rows are records, each value after the name of its column, or a table; on a desk always a table.

    There a table that cannot be made narrow enough scrolls, in its box and by the keyboard.
    """
    names = [f"column_{number}" for number in range(columns)]
    rows = [{name: LONG_NAME if name == "column_1" else 1234567 for name in names}]
    page = drawn(parts("{{ parts.table(answer, 'T') }}", answer=PageAnswer(columns=names, rows=rows)))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(LEAVING) == [] or (columns == 30 and width >= 1280)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("td").count() == columns
        assert all(cell.is_visible() for cell in page.locator("td").all())
        assert page.locator("thead").is_visible() or width < 1280
    assert page.evaluate(UNLABELED) == []
    box = page.locator(".scroll")
    assert (box.evaluate("box => getComputedStyle(box).overflowX"), box.get_attribute("tabindex")) == (
        "auto",
        "0",
    )


def test_columns_keep_their_names(site):
    """`count_star()` is what another query has to call it, on the page of SQL and elsewhere."""
    found = site.client.get("/sql", params={"query": "select count(*) from v_sentences"}).text
    listed = site.client.get("/corpus", params={"show": "frequencies"}).text

    # Where a line may break is no part of a name.
    found, listed = (text.replace("<wbr>", "") for text in (found, listed))
    assert re.search(r'<th scope="col" class="number"><a [^>]*>count_star\(\)</a></th>', found)
    assert re.search(r'<th scope="col" class="number"><a [^>]*>per_million</a></th>', listed)


def test_hits_and_rows_are_told_apart(site):
    """Above a list of counts stands how many hits there are, and in how many rows they are counted."""

    def said(path: str, **query: object) -> str:
        return re.search(r'id="said".*?>(.*?)<', site.client.get(at(path, **query)).text)[1]

    request = "pattern { V -[nsubj]-> S }"
    assert re.fullmatch(r"5 of [\d,]+ hits", said("/query", language="grew", query=request, limit=5))
    counted = said("/query", language="grew", query=request, limit=5, by="V.lemma")
    assert re.fullmatch(r"20 of [\d,]+ rows, [\d,]+ hits", counted)
    counted = said("/query", query='[word="camps?"]', by="word", corpus="relief", limit=5)
    assert re.fullmatch(r"2 rows, \d+ hits", counted)
    assert said("/corpus", name="relief", show="concordance", pattern="camp") == "13 hits"


def test_names_are_short_and_whole_under_the_pointer():
    """Both ends of a long name are seen, and never how many characters it has."""
    shown = parts("{{ parts.name(name) }}", name=LONG_NAME)

    assert shown == f'<bdi title="{LONG_NAME}">weblog-blogspot.com_…ENG_20040409_053012</bdi>'
    assert "title" not in parts("{{ parts.name(name) }}", name="relief-003")


def test_a_bar_is_as_long_as_the_rate():
    """Of parts of a corpus, which differ in size: 10 in a small one are more than 20 in a large one."""
    rows = [
        {"meta.genre": "news", "count": 20, "per_million_in_part": 50.0},
        {"meta.genre": "vlog", "count": 10, "per_million_in_part": 200.0},
    ]
    counted = PageAnswer(columns=[*rows[0]], rows=rows)

    assert widths(counted) == [40.0, 160.0]
    plain = PageAnswer(columns=["word", "count"], rows=[{"word": "a", "count": 4}, {"word": "b", "count": 1}])
    assert widths(plain) == [160.0, 40.0]


def widths(counted: PageAnswer) -> list[float]:
    """Pixels of the bars of counts, of which the longest has 160."""
    shown = parts("{{ parts.counts(answer, []) }}", answer=counted)
    return [float(width) for width in re.findall(r'<rect width="([\d.]+)"', shown)]


def test_a_word_begins_with_its_lines(opened):
    """Context and collocations come first; commands and SQL are folded."""
    page = opened("/word?word=camp")

    assert page.locator("main h2").all_inner_texts()[:2] == ["In context", "In its documents"]
    assert page.locator("pre").count() > 10
    assert not any(one.is_visible() for one in page.locator("pre, .command").all())


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize(
    ("url", "suggested", "leads"),
    [
        ("/word?word=campp", "camp", "word=camp"),
        ("/word?word=the+campp", "camp", "word=the+camp"),
        ("/word?word=sarkesh", "ignore case", "ignore_case=on"),
        ("/corpus?show=concordance&pattern=the+campp", "camp", "pattern=the+camp"),
        ("/corpus?show=frequencies&pattern=campp", "camp", "pattern=camp"),
        ("/query?query=%5Bword%3D%22campp%22%5D&by=lemma", "camp", "query=%5Bword%3D%22camp%22%5D"),
    ],
)
def test_what_is_missing_is_said_once_with_links(url: str, suggested: str, leads: str, opened):
    """One box says what never occurs, and each word that may be meant is a link to the same look-up of it."""
    page = opened(url)
    assert page.locator(".note, .problem").count() == 1
    link = page.locator(".note").get_by_role("link", name=suggested, exact=True)
    assert leads in link.get_attribute("href")
    link.click()

    expect(page.locator(".note, .problem")).to_have_count(0)
    assert page.locator("#said").inner_text()[0].isdigit()


@pytest.mark.parametrize("url", ["/word?word=camp&corpus=nowhere", "/regenerate?words=[the+trucks+reached"])
def test_a_problem_is_told_once(url: str, opened):
    """Of a corpus that there is not, or of a bag that cannot be read, each answer would say the same."""
    page = opened(url, fails=True)

    assert page.locator(".note, .problem").count() == 1


def test_a_menu_fits_a_telephone(opened):
    """Two lines, without scripts; its pages are there once it is opened, with the keyboard too."""
    page = opened("/word", scripts=False)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.locator("header").bounding_box()["height"] < 110
    assert page.get_by_role("navigation", name="Pages").get_by_role("link").count() == 0
    page.locator(".menu summary").focus()
    page.keyboard.press("Enter")
    names = page.get_by_role("navigation", name="Pages").get_by_role("link").all_inner_texts()
    assert names == [one.name for one in PAGES if one.name and one.path != "/"]
    page.get_by_role("link", name="Vectors").click()
    assert page.locator("h1").inner_text() == "Words in the same company"


@pytest.mark.parametrize(("words", "on"), [(3, WIDTHS), (15, (1280, 1920)), (60, ())])
def test_trees_are_as_narrow_as_their_box_if_they_can_be_read(words: int, on: tuple[int, ...], drawn):
    """A longer one scrolls in its own box; letters keep seven tenths of their size."""
    page = drawn(parts("{{ parts.drawing(svg, 'Tree', []) }}", svg=tree(["people"] * words)))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        wide, box = page.locator(".drawing").evaluate("box => [box.scrollWidth, box.clientWidth]")
        natural = int(float(page.locator(".drawing svg").get_attribute("width")))
        assert (wide <= box) == (width in on)
        assert page.locator(".drawing svg").bounding_box()["width"] > 0.7 * natural
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def tree(forms: list[str]) -> str:
    """A tree in which each word hangs on the one before it."""
    from sentgen.generation.drawing import corpus_tree_svg

    nouns = ["NOUN"] * len(forms)
    return corpus_tree_svg("s", forms, nouns, list(range(len(forms))), ["nsubj"] * len(forms))


def test_a_tree_from_right_to_left_is_seen_from_its_first_word(drawn):
    """Its box begins on the right, where the sentence does."""
    forms = ["كتبت", "كوري", "شولمان"] * 20
    page = drawn(parts("{{ parts.drawing(svg, 'Tree', forms) }}", svg=tree(forms), forms=forms))
    first = page.locator(".drawing text", has_text="كتبت").first.bounding_box()
    box = page.locator(".drawing").bounding_box()

    assert box["x"] + box["width"] / 2 < first["x"] < box["x"] + box["width"]


@pytest.mark.parametrize(
    "path",
    [
        *(page.path for page in PAGES if page.name and page.path not in ("/corpus", "/model")),
        "/corpus?show=concordance",
        "/corpus?show=frequencies",
        "/corpus?show=ngrams",
        f"/corpus?show=concordance&name={HOSTILE}",
        "/model?name=relief%401",
        "/query?language=grew",
    ],
)
def test_every_page_has_examples_that_work(path: str, site):
    """Of the snapshot that is served where they name words, sentences and documents; each is answered."""
    listed = re.search(r'<ul class="examples">.*?</ul>', site.client.get(path).text, re.DOTALL)
    links = [unescape(link) for link in re.findall(r'href="([^"]*)"', listed[0])]
    assert links
    for link in links[:3]:
        answer = site.client.get(link)
        told = re.search(r'class="problem"|<p>no (word|n-gram|occurrence)', answer.text)
        assert (answer.status_code, told) == (200, None), link[:300]


def test_the_style_needs_no_other_file(site):
    """What the style sheet draws, the shadows of boxes that scroll, it draws itself."""
    assert "url(" not in site.client.get(_static_path("style.css")).text
