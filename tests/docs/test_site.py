"""The documentation as pages: they build without warnings, have the text of their files, and load nothing."""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import doc_pages
import pytest
from doc_pages import DOCS, ROOT
from markdown_it import MarkdownIt

#: Pages from docstrings, which have no text of their own.
WRITTEN = [
    page for page in doc_pages.PAGES if page not in (DOCS / "reference" / "api.md", ROOT / "README.md")
]
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
#: What pages are made of; a quotation would be an example that was not told from text.
_TAGS = frozenset(
    re.findall(
        r"\S+",
        "a article aside body br button code div em footer form h1 h2 h3 h4 h5 h6 head header hr html img input "
        "label li link main meta nav ol p path pre script small span strong style svg table tbody td th thead "
        "title tr ul",
    )
)
#: What text must agree in, beside its words.
_STRUCTURE = {"li", "ol", "ul", "pre", "td", "th"}
_FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TYPED = re.compile(r"^(?:\$ |>>> |\.\.\. )(.*)$", re.MULTILINE)
_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


@dataclass
class Page(HTMLParser):
    """The text, the links and the loaded files of a page."""

    article: bool = False
    text: str = ""
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    copied: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._inside = not self.article
        self._passed_over = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.tags.add(tag)
        self.ids.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "href" in given or "src" in given:
            self.loads.append(given.get("href") or given.get("src", ""))
        if "data-copy" in given:
            self.copied.append(given["data-copy"])
        self._inside |= tag == "article"
        if self._inside and tag in _STRUCTURE:
            self.text += f"<{tag}>"
        quiet = tag in ("script", "style") or "headerlink" in given.get("class", "")
        if (quiet or self._passed_over) and tag not in _VOID:
            self._passed_over += 1

    def handle_endtag(self, tag: str) -> None:
        if self._passed_over:
            self._passed_over -= 1
        elif self.article and tag == "article":
            self._inside = False
        elif self._inside and tag in ("ol", "ul"):
            self.text += f"</{tag}>"

    def handle_data(self, data: str) -> None:
        if self._inside and not self._passed_over:
            self.text += data


def read(html: str, *, article: bool = False) -> Page:
    page = Page(article=article)
    page.feed(html)
    return page


def page_of(source: Path, pages: dict[Path, Page], documentation: Path) -> Page:
    """Return the page that a file became."""
    place = source.relative_to(DOCS) if DOCS in source.parents else Path(source.name)
    return pages[documentation / place.with_suffix(".html")]


def typed(block: str) -> str:
    """Return the text behind the prompts of a block."""
    return "\n".join(_TYPED.findall(block))


@pytest.fixture(scope="module")
def pages(documentation: Path) -> dict[Path, Page]:
    """All pages of the site but that of missing pages."""
    return {
        path: read(path.read_text("utf-8"), article=True)
        for path in documentation.rglob("*.html")
        if path.name != "404.html"
    }


def test_every_link_leads_to_a_page_and_a_place_in_it(pages: dict[Path, Page], documentation: Path) -> None:
    """Links of menus and of docstrings, too, and all files that a page loads."""
    missing, tried = [], 0
    for path, page in pages.items():
        for link in (*page.links, *page.loads):
            if urlsplit(link).scheme:
                continue
            tried += 1
            name, _, anchor = unquote(link).partition("#")
            target = (path.parent / name).resolve() if name else path
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].ids):
                missing.append((path.relative_to(documentation).as_posix(), link))

    assert missing == []
    assert tried > 1000


def test_pages_load_nothing_from_elsewhere(pages: dict[Path, Page], documentation: Path) -> None:
    """Pages load no fonts, scripts or pictures from elsewhere, so that nobody can track readers."""
    styles = "".join(path.read_text("utf-8") for path in documentation.rglob("*.css"))
    loaded = {load for page in pages.values() for load in page.loads}
    loaded |= set(re.findall(r"url\(([^)]*)\)|@import ([^;]*)", styles))

    assert [str(load) for load in loaded if re.search(r"^[\"']?(https?:)?//", "".join(load))] == []
    assert len(loaded) > 5


@pytest.mark.parametrize(
    "source", doc_pages.by_day(WRITTEN), ids=lambda source: source.relative_to(ROOT).as_posix()
)
def test_a_page_says_what_its_file_says(source: Path, pages: dict[Path, Page], documentation: Path) -> None:
    """Lists, tables and code are read as another reader of Markdown does, and no word is taken for markup."""
    written = read(MarkdownIt("commonmark").enable("table").render(doc_pages.text(source)))
    page = page_of(source, pages, documentation)

    assert len(page.text) > 300
    assert "".join(page.text.split()) == "".join(written.text.split())


@pytest.mark.parametrize(
    "source", doc_pages.by_day(WRITTEN), ids=lambda source: source.relative_to(ROOT).as_posix()
)
def test_what_is_copied_is_what_is_typed(source: Path, pages: dict[Path, Page], documentation: Path) -> None:
    """Each block with prompts, of the shell or of Python, is copied without them and without outputs."""
    blocks = _FENCED.findall(doc_pages.text(source))

    assert page_of(source, pages, documentation).copied == [one for one in map(typed, blocks) if one]


def test_no_word_is_taken_for_markup(pages: dict[Path, Page], documentation: Path) -> None:
    """The signs of corpora, such as <s> and <unk>, are text, in docstrings too; their examples are code."""
    strange = {(path.name, tag) for path, page in pages.items() for tag in page.tags - _TAGS}

    assert strange == set()
    assert ">>> " in pages[documentation / "reference" / "api.html"].text


def test_the_picture_of_the_first_page_is_what_sentgen_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence and tree of the picture are those that sentgen gives now."""
    monkeypatch.syspath_prepend(str(DOCS))
    drawing = importlib.import_module("front_picture")

    assert drawing.PICTURE.read_text("utf-8") == drawing.picture(), "run: python docs/front_picture.py"


@pytest.fixture
def tab() -> Iterator[Any]:
    """An empty page of a browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright; install the extra `test`")
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; set CHROMIUM, or apt-get install chromium")
    with (
        sync_api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]) as browser,
    ):
        page = browser.new_page()
        page.set_default_timeout(60_000)
        yield page


def test_the_search_knows_every_page(documentation: Path, pages: dict[Path, Page]) -> None:
    """The index is in a script, which a page from the disk may load, and has the words of all pages."""
    script = (documentation / "search" / "search_index.js").read_text("utf-8")
    listed = json.loads(script.removeprefix("var __index = "))["docs"]
    found = {documentation / one["location"].partition("#")[0] for one in listed}

    assert set(pages) - found <= {documentation / "404.html"}
    assert any("kneser" in one["text"].lower() for one in listed if "counts.html" in one["location"])


@pytest.mark.nightly
@pytest.mark.slow
def test_the_search_finds_pages_that_are_opened_from_the_disk(documentation: Path, tab: Any) -> None:
    """The search works without a server, and loads files from the disk only."""
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((documentation / "index.html").as_uri())
    tab.click("[data-md-component=search-query]")
    tab.keyboard.type("kneser")
    tab.locator(".md-search-result__link[href*='counts.html']").first.wait_for()

    assert len(asked) > 5
    assert [url for url in asked if not url.startswith("file:")] == []


def test_the_copy_button_takes_what_is_typed(documentation: Path, tab: Any) -> None:
    """The copy button leaves out prompts and outputs of commands, and takes all of other blocks."""
    for name, block in ("tutorial", 2), ("python", 2), ("pages", 0):
        tab.goto((documentation / name).with_suffix(".html").as_uri())
        tab.evaluate("document.body.append(document.createElement('textarea'))")
        tab.locator(".highlight").nth(block).hover()
        tab.locator(".md-typeset [data-clipboard-target]").nth(block).click()
        paste = tab.locator("textarea").last
        paste.press("Control+V")
        written = _FENCED.findall((DOCS / name).with_suffix(".md").read_text("utf-8"))[block]

        assert paste.input_value() == (typed(written) or written.rstrip())
