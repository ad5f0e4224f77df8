"""The pages of a class in a browser: the door, one's own pages, and that of the teacher."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Server, serving
from test_every_page import check_accessible, check_width

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect


@pytest.fixture(scope="module")
def class_room(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A class with a student, and the address of its teacher's page."""
    folder = tmp_path_factory.mktemp("class")
    options = ("--db", store, "--class", "--host", "127.0.0.1", "--desk", folder / "1b.desk", "--workers", 1)
    with serving(folder, *options, "--no-warm-up") as server:
        assert server.process.stdout is not None
        said = [server.process.stdout.readline() for _ in range(3)]
        begun = server.client.post("/join", data={"name": "Anna"}).headers["location"].rstrip("/")
        server.client.get(f"{begun}/word?word=camp&corpus=nowhere", headers={"Accept": "text/html"})
        yield server, said[-1].removeprefix("only for you: ").strip()


@pytest.fixture
def tab(browser, class_room):
    """A new tab, which knows nobody."""
    context = browser.new_context(base_url=class_room[0].address, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("width", [375, 1280])
def test_the_pages_of_a_class_are_accessible(tab, class_room, width: int) -> None:
    """In the light and the dark theme, without horizontal scrolling."""
    tab.set_viewport_size({"width": width, "height": 800})
    server, teacher = class_room
    made = server.client.post(teacher.replace("/class", "/s"), data={"to": "/word?word=camp"})
    for url in ("/join", teacher, made.headers["location"]):
        tab.emulate_media(color_scheme="light")
        tab.goto(url)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        check_accessible(tab)
        check_width(tab)


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("scripts", [True, False])
def test_a_student_joins_by_keyboard_and_is_known_again(browser, class_room, scripts: bool) -> None:
    """The page is the one that was asked for; with scripts, the browser knows the name of its owner."""
    context = browser.new_context(base_url=class_room[0].address, java_script_enabled=scripts)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto("/query?query=%22camp%22")
    page.get_by_label("Your name").fill(f"Ben {'with' if scripts else 'without'}")
    page.keyboard.press("Enter")
    page.wait_for_url("**/as/*/query?query=%22camp%22")
    expect(page.locator("#who")).to_contain_text("In this class you are Ben")
    expect(page.locator("table.kwic").first).to_be_visible()
    assert context.cookies() == []

    page.goto("/word?word=camp")
    if scripts:
        page.get_by_role("link", name="Go on as Ben").click()
        page.wait_for_url("**/as/*/word?word=camp")
        page.get_by_role("link", name="I am somebody else").click()
    expect(page.get_by_label("Your name")).to_be_visible()
    context.close()


def test_the_page_of_the_teacher_renews_itself(tab, class_room) -> None:
    """And leaves alone who is at work in it; with a box that stops it."""
    server, teacher = class_room
    begun = server.client.post("/join", data={"name": "Carl"}).headers["location"].rstrip("/")
    tab.clock.install()
    tab.goto(teacher)
    questions, limit = tab.get_by_role("region", name="Questions"), tab.get_by_label("Rows")
    limit.fill("7")

    def ask(word: str) -> None:
        server.client.get(f"{begun}/word?word={word}", headers={"Accept": "text/html"})

    ask("first")
    tab.clock.run_for(5_000)
    expect(questions).to_contain_text("word: first")
    expect(limit).to_be_focused()
    expect(limit).to_have_value("7")
    expect(tab.locator("#said")).not_to_have_role("status")

    tab.get_by_role("button", name="Free the name Carl").focus()
    server.client.post("/join", data={"name": "Dana"})
    ask("second")
    tab.clock.run_for(5_000)
    expect(questions).to_contain_text("word: second")
    expect(tab.get_by_role("button", name="Free the name Carl")).to_be_focused()
    expect(tab.get_by_role("button", name="Free the name Dana")).to_have_count(0)

    tab.get_by_label("renews by itself").uncheck()
    expect(tab.get_by_role("button", name="Free the name Carl")).not_to_be_focused()
    ask("third")
    tab.clock.run_for(20_000)
    expect(questions).not_to_contain_text("word: third")
    tab.get_by_label("renews by itself").check()
    tab.clock.run_for(5_000)
    expect(questions).to_contain_text("word: third")
    expect(tab.get_by_role("button", name="Free the name Dana")).to_be_visible()
