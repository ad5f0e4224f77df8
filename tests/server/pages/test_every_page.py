"""Every page: reachable, accessible in light and dark, as wide as its window, whatever the corpus holds."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from hostile import DOCUMENT, HOSTILE, LONG, MODEL, SUBCORPUS, TAG, VECTORS, name
from layout import BROKEN, LEAVING, UNLABELED, WIDTHS
from serving import RELATED

axe_playwright = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="no axe-playwright-python; install the extra `test`"
)

BAG = "[the trucks] reached [the city] after [the storm] ."


def at(path: str, **query: object) -> str:
    """A URL."""
    return f"{path}?{urlencode(query, doseq=True)}"


def hostile_sentence(number: int) -> str:
    """The page of a hostile sentence."""
    return at("/sentence", corpus=HOSTILE, document=DOCUMENT, sentence=name(number))


PAGES = {
    "home": "/",
    "documents": at("/corpus", name="relief"),
    "document": at("/corpus", name="relief", document="relief-003"),
    "frequencies": at("/corpus", name="relief", show="frequencies", limit=10),
    "ngrams": at("/corpus", show="ngrams", limit=10),
    "concordance": at("/corpus", name="relief", show="concordance", pattern="camp", sort="left"),
    "subcorpora": at("/corpus", show="subcorpora"),
    "subcorpus": at("/corpus", name="short"),
    "sources": at("/corpus", name="relief", show="sources"),
    "regions": at("/corpus", name="relief", show="regions"),
    "metadata": at("/corpus", name="relief", show="metadata"),
    "query": "/query",
    "cql": at("/query", language="cql", query='[xpos="DT"] [xpos="JJ"]* "camp"', by="word", open="1"),
    "chosen lines": at(
        "/query",
        query='[lemma="camp"]',
        sort=["typical", "length"],
        show="length",
        filter=['[upos="NUM"]', "on"],
        window=["10L", "5"],
        keep=["keep", "drop"],
        dedupe="on",
        open="0",
    ),
    "line sets": "/lines",
    "line set": at("/lines", set="camp", labeler="ann", limit=5),
    "lines of others": at("/lines", set="camp", label="?"),
    "lines with columns": at("/lines", set="camp", show="length,lemma", sort="length", by="document"),
    "hostile lines": at("/lines", set=HOSTILE.replace("/", ""), labeler=HOSTILE, limit=30),
    "places": at("/query", query='[lemma="camp"]', by="document", places="on"),
    "compared parts": at("/query", query='"the"', by="document", compare="on", corpus="relief", limit=5),
    "grew": at(
        "/query", language="grew", query="pattern { V -[nsubj]-> S; V -[obj]-> O }", by="V.lemma", open="0"
    ),
    "wrong query": at("/query", language="grew", query="pattern {\n  V -[nsubj]-> }"),
    "word": at("/word", word="camp"),
    "sketches": "/sketch",
    "sketch": at("/sketch", word="camp", function_words="on"),
    "sketch difference": at("/sketch", word="camp", against="truck", function_words="on"),
    "thesauri": "/thesaurus",
    "thesaurus": at("/thesaurus", word="camp", by="word", min_count=1, function_words="on"),
    "collocations": at("/collocations", word="the", window="L2-R3", measure="mi3", min_count=1),
    "collocations to ask for": "/collocations",
    "keywords": at(
        "/keyness",
        corpus="relief",
        where="length < 18",
        against="relief",
        against_where="length >= 18",
        min_count=1,
    ),
    "keywords to ask for": "/keyness",
    "vectors": "/vectors",
    "near": at("/vectors", word="heavy rain", vectors="company", limit=5),
    "hits": at("/hits", word="camp", other="the", tag="DT", role="modifier"),
    "sentence": at("/sentence", corpus="relief", document="relief-003", sentence="relief-003-2"),
    "models": "/model",
    "comparison": at("/model", model=["relief@1", f"{MODEL}@1"], corpus="relief"),
    "model": at("/model", name="relief@1", ngram="in the camp", text="people arrived in the camp ."),
    "regenerate": at("/regenerate", words=BAG, algorithm=["lmo", "ab"]),
    "generate": at("/generate", corpus="relief", cluster="relief-003", lengths="4-6"),
    "fuse": at("/fuse", key="1", related=RELATED, nbest=2),
    "fuse to ask for": "/fuse",
    "align": at("/align", document="The trucks reached the camp .", abstract="Trucks reached camp ."),
    "sql": at("/sql", query="select * from v_tokens order by sentence_id, position limit 5"),
    "interface": "/v1/docs",
    "answer": at("/answer", **{"ask": "kwic", "with": '{"pattern": "camp", "limit": 5}'}),
    "answer of many columns": at(
        "/answer",
        **{"ask": "frequencies", "with": '{"query": "camp", "by": ["document"], "mean": "length"}'},
    ),
}
HOSTILE_PAGES = {
    "home": "/",
    "documents": at("/corpus", name=HOSTILE),
    "document": at("/corpus", name=HOSTILE, document=DOCUMENT),
    "frequencies": at("/corpus", name=HOSTILE, show="frequencies"),
    "regions": at("/corpus", name=HOSTILE, show="regions"),
    "metadata": at("/corpus", name=HOSTILE, show="metadata"),
    "ngrams": at("/corpus", name=HOSTILE, show="ngrams"),
    "concordance": at("/corpus", name=HOSTILE, show="concordance", pattern="said"),
    "subcorpora": at("/corpus", show="subcorpora"),
    "subcorpus": at("/corpus", name=SUBCORPUS),
    "word": at("/word", word="<script>alert(1)</script>", corpus=HOSTILE),
    "sketch": at("/sketch", word="said", by="word", corpus=HOSTILE, function_words="on"),
    "thesaurus": at("/thesaurus", word="said", by="word", corpus=HOSTILE, min_count=1, function_words="on"),
    "collocations": at("/collocations", word="said", corpus=HOSTILE, min_count=1, limit=100),
    "keywords": at("/keyness", corpus=HOSTILE, against="relief", n=2, min_count=1, stop="<script> {{7*7}}"),
    "near": at("/vectors", word="said", vectors=VECTORS, limit=500),
    "hits": at(
        "/hits", word="said", other="<script>alert(1)</script>", tag=TAG, role="modifier", corpus=HOSTILE
    ),
    "cql": at(
        "/query", language="cql", query='[word="said"]', corpus=HOSTILE, by="word", open="1", places="on"
    ),
    "chosen lines": at(
        "/query",
        query='[word="said"]',
        show="document,<script>alert(1)</script>",
        filter="<script>alert(1)</script>",
    ),
    "line sets": "/lines",
    "hostile lines": at("/lines", set=HOSTILE.replace("/", ""), labeler=HOSTILE, limit=30),
    "grew": at(
        "/query",
        language="grew",
        query="pattern { e: V -> S }",
        corpus=HOSTILE,
        by="S.form; e.label",
        open=["0", "20"],
    ),
    "wrong query": at("/query", language="cql", query="<script>alert(1)</script> {{7*7}}"),
    "long word": at("/word", word=LONG),
    "markup": hostile_sentence(0),
    "directions": hostile_sentence(1),
    "long sentence": hostile_sentence(2),
    "model": at("/model", name=f"{MODEL}@1", ngram="<script>alert(1)</script> said", text="{{7*7}} <b>"),
    "regenerate": at("/regenerate", words=f"<script>alert(1)</script> said {LONG}", algorithm=["beam", "ab"]),
    "generate": at("/generate", corpus=HOSTILE, lengths="3-4"),
    "fuse": at(
        "/fuse",
        key="1",
        related=RELATED.replace("survivors", "<script>alert(1)</script>").replace("Sarkesh", LONG),
        algorithm="depviterbi",
    ),
    "align": at(
        "/align",
        document=f"<script>alert(1)</script> said {LONG} \u202eevil .",
        abstract="{{7*7}} <script>alert(1)</script> said .",
        format="text",
        aligner="lcs",
    ),
    "sql": at("/sql", query="select '<script>alert(1)</script>' as \"<b>\", repeat('x', 5000) as long"),
    "answer": at(
        "/answer",
        **{"ask": "kwic", "with": json.dumps({"pattern": "said", "corpus": [HOSTILE], "limit": 20})},
    ),
    "errors": at("/corpus", name="<script>alert(1)</script>"),
}


#: Rows beyond the third are like those before them.
MORE_ROWS = "document.querySelectorAll('tbody > tr:nth-child(n+4)').forEach(row => row.remove())"


@pytest.mark.nightly(by_day=10)
@pytest.mark.parametrize("page", PAGES)
def test_fits_a_telephone_a_window_and_a_large_screen(page, opened):
    """Page and tables do, with all that can be unfolded; there is one heading, and something below it."""
    shown = opened(PAGES[page], fails=page == "wrong query")
    check_width(shown, heads=True)

    assert shown.evaluate(UNLABELED) == []
    assert shown.locator("h1").count() == 1
    assert shown.locator("main").inner_text().strip()


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("page", PAGES)
def test_is_accessible(page, opened, nightly):
    """axe finds nothing in light and dark; by day it looks at three rows of a table."""
    shown = opened(PAGES[page], fails=page == "wrong query")
    if not nightly:
        shown.evaluate(MORE_ROWS)
    light = violations(shown)
    shown.emulate_media(color_scheme="dark")
    dark = violations(shown, runOnly=["color-contrast"])

    assert (light, dark) == ([], [])


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize("page", HOSTILE_PAGES)
def test_shows_a_hostile_corpus_as_text(page, opened):
    """No markup of the corpus becomes an element, no script runs, and nothing breaks the layout."""
    shown = opened(HOSTILE_PAGES[page], fails=page in ("errors", "long word", "wrong query", "chosen lines"))
    scripts = shown.evaluate("[...document.scripts].map(one => new URL(one.src).pathname)")

    assert all(path.startswith("/static/") for path in scripts)
    assert shown.locator("img, style, [onerror], [onclick], [style]").count() == 0
    assert "49" not in shown.locator("h1").inner_text()
    check_width(shown)


def test_a_page_prints_without_navigation_and_forms(opened):
    """On paper only the results are left, and boxes show all that they hold."""
    shown = opened(PAGES["concordance"])
    shown.emulate_media(media="print")

    assert not shown.locator("nav").first.is_visible()
    assert not shown.locator("form.ask").first.is_visible()
    assert shown.locator("table.kwic").is_visible()


def violations(shown, **options: object) -> list[tuple[str, object]]:
    """What axe finds wrong: the rule and the first element."""
    chosen = {"resultTypes": ["violations"], **options}
    found = axe_playwright.Axe().run(shown, options=chosen).response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found]


def check_accessible(shown) -> None:
    """Axe finds nothing, in light and dark."""
    assert violations(shown) == []
    shown.emulate_media(color_scheme="dark")
    assert violations(shown, runOnly=["color-contrast"]) == []


def check_width(shown, *, heads: bool = False) -> None:
    """Nothing but trees is wider than its box, with all that can be unfolded; the window is as wide as before.

    With ``heads``, no word in the head of a column is broken.
    """
    window = shown.viewport_size
    shown.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 800})
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.evaluate(LEAVING) == []
        assert not heads or shown.evaluate(BROKEN) == []
    shown.set_viewport_size(window)
