"""A server with a store that also contains a hostile corpus, and a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import parted_texts
import pytest
from hostile import HOSTILE, LICENCE, MODEL, SUBCORPUS, VECTORS, conllu
from serving import Server, serving

from sentgen.counts.ingestion import Settings, ingest
from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel
from sentgen.desk.line_sets import NewLineSet
from sentgen.lookups.subcorpora import define
from sentgen.models import build
from sentgen.models.surprisal import ApplyRequest
from sentgen.models.vector_building import VectorRequest
from sentgen.schema import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))


@pytest.fixture(scope="session")
def store(relief: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo treebank with a model, a corpus that attacks pages with one of its own, and texts with metadata."""
    folder = tmp_path_factory.mktemp("pages")
    path = Path(shutil.copy(relief, folder / "store.duckdb"))
    (file := folder / "hostile.conllu").write_text(conllu(), "utf-8")
    (texts := folder / "texts.conllu").write_text(parted_texts.conllu(), "utf-8")
    with Store(path) as store:
        ingest(store, [str(file)], Settings(HOSTILE, licence=LICENCE))
        ingest(store, [str(texts)], Settings("texts"))
        with store.begin() as connection:
            define(connection, "letters", "genre = letter", ["texts"])
            define(connection, "short", "length < 18", ["relief"])
            define(connection, SUBCORPUS, f'corpus != "{SUBCORPUS}" and length > 0')
        build(store, MODEL, [HOSTILE], order=2, smoothing="kneser-ney")
        for name, corpus in (("relief", "relief"), (MODEL, HOSTILE)):
            ApplyRequest(name=name, corpus=[corpus]).apply(store)
        for name, corpus in ((VECTORS, HOSTILE), ("company", "relief")):
            VectorRequest(name=name, corpus=[corpus], dimensions=4, min_count=1).build(store)
    return path


@pytest.fixture(scope="session")
def site(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of that store."""
    folder = tmp_path_factory.mktemp("site")
    desk = Desk(folder / "class.desk", create=True)
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        NewLineSet(name="camp", pattern="lemma:camp", corpus=["relief"]).make(desk, connection)
        NewLineSet(name=HOSTILE.replace("/", ""), cql="[]", corpus=[HOSTILE], labels=[HOSTILE]).make(
            desk, connection
        )
    GivenLabel(name="camp", lines="1-2", label="place", labeler="ann").give(desk)
    GivenLabel(name="camp", lines="2-3", label=HOSTILE, labeler=HOSTILE).give(desk)
    options = ("--db", store, "--desk", desk.path, "--workers", 1, "--no-warm-up")
    with serving(folder, *options) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; closed with its module, as it keeps an event loop that other tests must not meet."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright; install the extra `test`")
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; set CHROMIUM, or apt-get install chromium")
    with (
        sync_api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]) as launched,
    ):
        yield launched


@dataclass
class Tab:
    """A page that a test has after another, and what its console complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    fails: bool = False

    def note(self, said: ConsoleMessage) -> None:
        """Write down errors; that a page has an error status is no surprise where it should."""
        if said.type == "error" and not (self.fails and "Failed to load resource" in said.text):
            self.complaints.append(said.text)

    def wipe(self) -> None:
        """Reset the tab to the state of a new one."""
        if self.page.url.startswith("http"):
            self.page.evaluate("sessionStorage.clear(); localStorage.clear()")
        self.page.context.clear_cookies()
        self.page.goto("about:blank")
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.emulate_media(media="null", color_scheme="null")


@pytest.fixture(scope="module")
def tab(browser: Browser, site: Server) -> Callable[[bool], Tab]:
    """Open the tab with scripts, or that without: a new one for each test would take longer than most tests."""

    @cache
    def new(scripts: bool) -> Tab:
        context = browser.new_context(
            base_url=site.address, java_script_enabled=scripts, reduced_motion="reduce"
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        made = Tab(page)
        page.on(
            "dialog", lambda dialog: (made.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        page.on("pageerror", lambda error: made.complaints.append(f"error: {error}"))
        page.on("console", made.note)
        return made

    return new


@pytest.fixture
def opened(tab: Callable[[bool], Tab]) -> Iterator[Callable[..., Page]]:
    """Open a page in a clean tab; what the console complains about fails the test at its end."""
    tabs: list[Tab] = []

    def open_page(url: str, *, scripts: bool = True, fails: bool = False) -> Page:
        tabs.append(tab(scripts))
        tabs[-1].fails = fails
        tabs[-1].page.goto(url)
        return tabs[-1].page

    yield open_page
    complaints = [said for one in tabs for said in one.complaints]
    for one in tabs:
        one.complaints.clear()
        one.wipe()

    assert complaints == []
