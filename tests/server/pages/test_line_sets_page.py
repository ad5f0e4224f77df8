"""Lines are labeled by keyboard, and without scripts; a server that is killed has lost none."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from serving import serving
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.desk.desk import Desk
from sentgen.desk.tables import find_set, labels_of

expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect


def of_set(page, name: str, **asked: object) -> list[dict[str, str]]:
    """The lines of a set as the API has them."""
    answer = page.request.get(f"/v1/lines/{name}?{urlencode({'limit': 0, 'labeler': 'ann', **asked})}")
    return answer.json()["rows"]


def told(page, text: str) -> None:
    """Wait until the page says something."""
    expect(page.locator("#said")).to_contain_text(text)


def test_twenty_lines_are_labeled_by_keyboard(opened):
    """From a query, sorted and filtered twice, to a set; labeled, taken back, listed and brought home."""
    chain = [
        ("filter", '[upos="NUM"]'),
        ("window", "10L"),
        ("keep", "drop"),
        ("filter", '"xyzzy"'),
        ("keep", "drop"),
    ]
    asked = [("query", '[upos="NOUN"]'), ("corpus", "relief"), ("sort", "1L"), ("sample", "40"), *chain]
    page = opened(f"/query?{urlencode(asked)}")
    expect(page.locator(".chain li")).to_have_count(2)
    words = page.locator("td.node").all_inner_texts()
    page.get_by_text("Keep these lines").click()
    page.get_by_label("Name of the set").fill("nouns")
    page.get_by_label("Labels").fill("thing, person")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Lines of nouns")
    assert page.locator("td.node").all_inner_texts()[: len(words)] == words

    page.get_by_label("Who labels").fill("ann")
    page.keyboard.press("Enter")
    expect(page.locator('#labels input[name="labeler"]')).to_have_value("ann")
    page.locator("#lines").focus()
    for number in range(1, 21):
        page.keyboard.press("2" if number % 4 == 0 else "1")
        told(page, f"line {number}: {'person' if number % 4 == 0 else 'thing'}")
    want = ["person" if number % 4 == 0 else "thing" for number in range(1, 21)]
    assert page.locator("td.own").all_inner_texts()[:21] == [*want, ""]
    assert [row["label"] for row in of_set(page, "nouns")][:21] == [*want, None]

    page.keyboard.press("u")
    told(page, "taken back: line 20")
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.keyboard.press("2")
    told(page, "line 19: person")
    assert [row["label"] for row in of_set(page, "nouns")][18:20] == ["person", None]
    # Keys are those of the table: a letter that is typed elsewhere labels nothing.
    page.get_by_label("Another label").fill("u1")
    assert len([row for row in of_set(page, "nouns") if row["label"]]) == 19

    page.get_by_label("Only").select_option("person")
    page.get_by_label("Sort by").select_option("node")
    page.get_by_role("button", name="Show").click()
    told(page, "5 lines")
    found = page.locator("td.node").all_inner_texts()
    assert found == sorted(found, key=str.casefold)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of Lines").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    assert [row["label"] for row in rows if row["label"]] == [*want[:18], "person"]
    assert page.get_by_role("heading", name="Labels").is_visible()


def test_without_scripts_marked_lines_get_a_label(opened):
    """Several at once, a label of one's own, and back again; the page stays where it was."""
    page = opened("/lines?set=camp&labeler=zoe&limit=6&sort=left", scripts=False)
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    page.get_by_label("Another label").fill("camp site")
    page.get_by_role("button", name="Label", exact=True).click()
    assert page.locator("td.own").all_inner_texts()[:3] == ["camp site", "camp site", ""]
    assert "sort=left" in page.url
    assert "limit=6" in page.url

    page.get_by_role("button", name="Undo").click()
    assert not any(page.locator("td.own").all_inner_texts())


def test_columns_and_a_report_by_a_key(opened):
    """As the store has them, also sorted by, kept with what is labeled, and in the files; a slip is told."""
    page = opened("/lines?set=camp&labeler=yan&limit=4")
    page.get_by_label("Columns").fill("length, document")
    page.keyboard.press("Enter")
    expect(page.locator("#lines thead")).to_contain_text("length")
    page.get_by_label("Sort by").select_option("length")
    page.get_by_label("Report by").fill("corpus")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Labels by corpus")).to_be_visible()
    head = page.locator("#lines thead th").all_inner_texts()
    assert [name for name in head if name in ("document", "length")] == ["document", "length"]
    want = of_set(page, "camp", labeler="yan", show="length", sort="length")[:4]
    at = head.index("length") + 1
    assert page.locator(f"#lines tbody td:nth-child({at})").all_inner_texts() == [
        row["length"] for row in want
    ]
    page.get_by_role("checkbox").first.check()
    page.get_by_label("Another label").fill("yard")
    page.get_by_role("button", name="Label", exact=True).click()
    expect(page.locator("td.own").first).to_have_text("yard")
    assert page.get_by_label("Columns").input_value() == "length, document"
    link = page.get_by_role("link", name="CSV of Lines").get_attribute("href")
    assert "length" in page.request.get(link).text().splitlines()[0].split(",")
    page.get_by_role("button", name="Undo").click()

    page = opened("/lines?set=camp&show=lenth", fails=True)
    expect(page.locator("main")).to_contain_text("did you mean length")
    page.get_by_label("Columns").fill("length")
    page.keyboard.press("Enter")
    expect(page.locator("#lines thead")).to_contain_text("length")
    page = opened("/lines?set=camp&by=gnre", fails=True)
    expect(page.locator("main")).to_contain_text("no metadata 'gnre'")
    assert page.locator("#lines tbody tr").count() > 0


@pytest.mark.parametrize(
    ("words", "shown"), [("counted by these labels", "lines.camp"), ("chosen by one", "hits")]
)
def test_labels_lead_to_other_pages(opened, words: str, shown: str):
    """Where hits are counted by them, and sentences chosen."""
    page = opened("/lines?set=camp")
    page.get_by_role("link", name=words).click()
    page.locator("#query").fill('[lemma="camp"]')
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#answer, main").last).to_contain_text(shown)


def test_what_is_wrong_is_told(opened):
    """No mark, a name that is taken, a set that there is not, and nobody who labels."""
    page = opened("/lines?set=camp&labeler=zoe", fails=True)
    page.get_by_role("button", name="Label", exact=True).click()
    expect(page.locator("main")).to_contain_text("no line is marked")
    page = opened("/query?query=%5Blemma%3D%22camp%22%5D", fails=True)
    page.get_by_text("Keep these lines").click()
    page.get_by_label("Name of the set").fill("camp")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("there is a line set 'camp'")
    page = opened("/lines?set=nowhere", fails=True)
    expect(page.locator("main")).to_contain_text("no line set 'nowhere'")
    page = opened("/lines?set=camp")
    assert page.get_by_role("button", name="Label", exact=True).count() == 0


def test_pages_of_other_sites_label_nothing(site):
    """Neither by a form nor by a script; a form of ours says where it comes from."""
    address, body = site.address, {"lines": "1", "label": "x", "labeler": "eve"}
    for origin in ("http://evil.example", "null"):
        headers = {"Origin": origin}
        assert httpx.post(f"{address}/v1/lines/camp/labels", json=body, headers=headers).status_code == 403
        form = {"set": "camp", "labeler": "eve", "line": "1", "give": "x"}
        assert httpx.post(f"{address}/lines", data=form, headers=headers).status_code == 403
    assert site.client.get("/").headers["Referrer-Policy"] == "same-origin"
    assert "label_eve" not in site.client.get("/v1/lines/camp").json()["columns"]


def test_answers_about_lines_are_not_kept(site):
    """The same question has another answer after a label."""
    question = "/v1/lines/camp?labeler=dan&limit=1"
    assert site.client.get(question).json()["rows"][0]["label"] is None
    site.client.post("/v1/lines/camp/labels", json={"lines": "1", "label": "new", "labeler": "dan"})
    assert site.client.get(question).json()["rows"][0]["label"] == "new"
    assert "new" in site.client.get("/lines?set=camp&labeler=dan", headers={"Accept": "text/html"}).text


def test_two_label_at_once_and_a_killed_server_has_lost_nothing(store: Path, tmp_path: Path):
    """Each label that was answered is there after a SIGKILL, and the same desk is served again."""
    desk, options = tmp_path / "class.desk", ("--db", store, "--workers", 1, "--no-warm-up", "--no-sql")
    (tmp_path / "clas.desk").touch()
    with serving(tmp_path, *options, "--desk", desk) as running:
        event = running.events()[0]["event"]
        assert event.startswith(
            f"{desk}: no such file, so a new one is made, without line sets; those of other"
        )
        assert event.endswith(": clas.desk")
        made = {"name": "camp", "pattern": "lemma:camp", "corpus": ["relief"]}
        assert running.client.post("/v1/lines", json=made).json()["rows"][0]["lines"] == 15
        for number in range(1, 6):
            for who in ("ann", "ben"):
                given = {"lines": f"{number}", "label": f"{who}{number}", "labeler": who}
                assert running.client.post("/v1/lines/camp/labels", json=given).status_code == 200
        running.process.kill()
        running.process.wait()
    with Desk(desk).reading() as reading:
        found = labels_of(reading, find_set(reading, "camp").id)
    assert found == {who: {number: f"{who}{number}" for number in range(1, 6)} for who in ("ann", "ben")}


def test_the_file_of_somebody_else_is_no_desk(published: Path, tmp_path: Path):
    """It is refused before the server starts, in one line, and stays as it is."""
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    command = ["serve", "--snapshots", str(published), "--port", "0", "--desk", str(file)]
    refused = CliRunner().invoke(build(), command)
    assert refused.exit_code == 1
    assert "no desk of sentgen" in str(refused.exception)
    assert file.read_text() == "mine"
