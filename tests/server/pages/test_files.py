"""What can be taken along: all rows of every table as files, and pictures of drawings with how to cite them."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

import pytest
from serving import Server
from test_every_page import HOSTILE_PAGES, PAGES, at

from sentgen.server.pages.page import FILE_FORMS

_SVG = "{http://www.w3.org/2000/svg}"
#: Tables without files of their own: words and steps are in the JSON of the sentences above them.
_WITHIN = ("Words of sentence", "Trace of sentence", "Reasons of", "Steps of")
#: Boxes with a table, each with the number of its rows and the links below it.
TAKEN = """() => [...document.querySelectorAll('main .scroll')].map(box => [
  box.getAttribute('aria-label'), box.querySelectorAll('tbody tr:not(.unfolded)').length,
  [...(box.nextElementSibling?.matches('.take') ? box.nextElementSibling.querySelectorAll('a') : [])]
    .map(link => link.getAttribute('href'))])"""
#: Tables and drawings of which there is no picture or no file at all on the page.
LEFT = """() => [...document.querySelectorAll('main table, main svg:not(td svg):not(.legend svg)')]
  .filter(one => !one.closest('.scroll') && !one.closest('.answer details') && !one.closest('.unfolded'))
  .filter(one => { for (let box = one; box && box.id !== 'main'; box = box.parentElement)
    if (box.nextElementSibling?.matches('.take')) return false; return true; })
  .map(one => one.outerHTML.slice(0, 100))"""
_EVERY = {**{f"hostile {page}": url for page, url in HOSTILE_PAGES.items()}, **PAGES}
#: A query that is wrong has no rows, and what is said of the API is in its document.
_WITH_ROWS = [page for page in PAGES if page not in ("wrong query", "query", "interface")]


def _files(html: str) -> list[str]:
    """Return the links to files of a page."""
    taken = "".join(re.findall(r'<p class="take.*?</p>', html, re.DOTALL))
    return [unescape(link) for link in re.findall(r'href="([^"]*)"', taken)]


@pytest.mark.nightly(by_day=5)
@pytest.mark.parametrize("page", _WITH_ROWS)
def test_every_table_can_be_taken_along(page: str, opened, site: Server) -> None:
    """As CSV, Excel and JSON below it; the CSV has as many rows as the table, or more."""
    shown = opened(PAGES[page])

    assert shown.evaluate(LEFT) == []
    for name, rows, links in shown.evaluate(TAKEN):
        if not rows or name.startswith(_WITHIN) or (name.startswith("Lines;") and not links):
            continue
        assert len(links) >= 3, name
        found = site.client.get(links[0])
        listed = list(csv.DictReader(io.StringIO(found.text)))
        assert found.status_code == 200, (name, found.text)
        # The back-off path, and keywords of both sides, are in several files.
        assert len(listed) >= (rows if name != "Keywords" else 1), name


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("page", _EVERY)
def test_every_file_is_there(page: str, site: Server) -> None:
    """Whatever the form, and whatever the corpus holds: rows, and not a problem."""
    for link in _files(site.client.get(_EVERY[page]).text):
        found = site.client.get(link)
        assert found.status_code == 200, (link, found.text[:300])
        assert "html" not in found.headers["content-type"]


def test_files_have_all_rows_of_the_api(site: Server) -> None:
    """Not those alone that are shown, in the order of the page."""
    html = site.client.get(at("/corpus", name="relief", show="frequencies", limit=5, offset=5, sort="word"))
    links = _files(html.text)
    (file, _, json) = links
    asked = dict(parse_qsl(urlsplit(json).query))

    assert asked.pop("cite") == "true"
    assert asked == {"by": "word", "sort": "word", "corpus": "relief", "limit": "0", "format": "json"}
    rows = site.client.get(json).json()["rows"]
    listed = list(csv.DictReader(io.StringIO(site.client.get(file).text)))
    assert [int(row["count"]) for row in listed] == [row["count"] for row in rows]
    assert len(rows) > 500
    assert [row["word"] for row in rows] == sorted(row["word"] for row in rows)


def test_what_the_api_has_no_address_for_the_page_sends(site: Server) -> None:
    """Also as a workbook with a name, pinned to a snapshot if that is cited."""
    links = _files(site.client.get(PAGES["hits"]).text)
    found = [site.client.get(link) for link in links]

    assert [urlsplit(link).path for link in links] == [
        f"/hits/hits.{form}" for form in ("csv", "xlsx", "json")
    ]
    assert found[1].headers["content-disposition"] == 'attachment; filename="hits.xlsx"'
    assert found[1].content.startswith(b"PK")
    assert len(found[2].json()["rows"]) == len(list(csv.DictReader(io.StringIO(found[0].text))))
    assert site.client.get(f"{links[0]}&snapshot=other").status_code == 410


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/hits/hits.exe", 404),
        ("/hits/kwic.csv", 404),
        ("/lines/new_lines.csv?name=made", 404),
        ("/lines/label_lines.csv?name=camp&lines=1&label=x&labeler=y", 404),
        ("/hits/hits.csv", 422),
        ("/hits/hits.csv?word=camp&other=the&nothing=1", 422),
    ],
)
def test_there_are_no_other_files(path: str, status: int, site: Server) -> None:
    """Nothing that changes anything, and nothing that another page asks."""
    assert site.client.get(path).status_code == status


@pytest.mark.parametrize(
    ("page", "width"), [("word", 1280), ("keywords", 375), ("sketch difference", 375), ("collocations", 1280)]
)
def test_pictures_have_what_is_shown_and_how_to_cite_it(
    page: str, width: int, opened, tmp_path: Path
) -> None:
    """SVG is light, as wide as on a desk, and needs no style sheet; PNG has the same, in twice as many dots."""
    shown = opened(PAGES[page])
    shown.set_viewport_size({"width": width, "height": 800})
    shown.emulate_media(color_scheme="dark")
    taken = {}
    for form in ("SVG", "PNG"):
        with shown.expect_download() as download:
            shown.get_by_role("button", name=f"{form} of ").first.click()
        taken[form] = download.value
    root = ElementTree.parse(taken["SVG"].path()).getroot()
    texts = [one.text or "" for one in root.iter(f"{_SVG}text")]
    cited = re.sub(r"\s+", " ", shown.locator("#cite p").text_content()).strip()

    assert root.findtext(f"{_SVG}desc") == cited
    assert re.sub(r"\s", "", "".join(texts)).endswith(re.sub(r"\s", "", cited))
    assert root.find(f"{_SVG}rect").get("fill") == "rgb(255, 255, 255)"
    assert not any(one.get("class") or one.get("style") for one in root.iter())
    assert len(list(root.iter(f"{_SVG}svg"))) > 1
    content = taken["PNG"].path().read_bytes()
    assert content[:4] == b"\x89PNG"
    dots = int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    assert dots == (2 * int(root.get("width")), 2 * int(root.get("height")))
    assert shown.locator(".sheet").count() == 0


def test_without_scripts_there_are_no_pictures_to_press(opened) -> None:
    """Files are there all the same."""
    shown = opened(PAGES["word"], scripts=False)

    assert not any(one.is_visible() for one in shown.locator(".take button").all())
    assert shown.get_by_role("link", name="CSV of Hits", exact=True).is_visible()


def test_what_is_cited_is_what_is_shown(opened) -> None:
    """Also after another query has replaced the results alone."""
    shown = opened(at("/word", word="camp"))
    shown.get_by_label("Word, or several in a row").fill("city")
    shown.get_by_role("button", name="Look up").last.click()
    shown.wait_for_url("**word=city**")
    shown.wait_for_function("document.querySelector('#cite').textContent.includes('word=city')")

    assert "word=camp" not in shown.locator("#cite").text_content()


def test_formats_have_endings() -> None:
    """A name of a file says what is in it."""
    assert {form.value for form in FILE_FORMS.values()} == {"csv", "xlsx", "json", "parquet"}


@pytest.mark.parametrize("page", ["frequencies", "sql", "documents"])
def test_files_say_how_to_cite_them(page: str, site: Server) -> None:
    """As the page does, with their own address: JSON in a field, a workbook on a second sheet, CSV nowhere."""
    openpyxl = pytest.importorskip("openpyxl", reason="no openpyxl; install the extra `test`")
    html = site.client.get(PAGES[page]).text
    csv_link, excel_link, json_link, *_ = _files(html)
    (cited,) = re.findall(r'id="cite">.*?<p>(.*?)</p>', html, re.DOTALL)
    said = unescape(re.sub("<[^>]*>", "", cited)).rpartition("; ")[0]
    document = site.client.get(json_link).json()
    book = openpyxl.load_workbook(io.BytesIO(site.client.get(excel_link).content))

    told, _, address = document["citation"].rpartition("; ")
    assert told == said
    assert site.client.get(urlsplit(address)._replace(scheme="", netloc="").geturl()).json() == document
    assert book.sheetnames == ["sentgen", "source"]
    first, second = ([cell.value for cell in row] for row in book["source"].rows)
    assert [first[0], *second] == ["citation", "command", document["command"]]
    assert first[1].startswith(f"{said}; http")
    assert said[:20] not in site.client.get(csv_link).text


def test_who_asks_the_api_is_told_if_they_ask(site: Server) -> None:
    plain = site.client.get("/v1/ngrams", params={"pattern": "the *", "corpus": "relief"}).json()
    cited = site.client.get(
        "/v1/ngrams", params={"pattern": "the *", "corpus": "relief", "cite": True}
    ).json()

    assert "relief" in cited.pop("citation")
    assert cited == plain
