"""A server that offers some pages only: no link leads out of them, and nothing else is answered."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from serving import Server, serving
from test_every_page import PAGES as ASKED

from sentgen.cli.serve import _pages
from sentgen.errors import InputError
from sentgen.server.operations import operations
from sentgen.server.pages.site import (
    PAGES,
    _without_dead_links,
    offered_pages,
    operations_of,
    read_offered,
)
from sentgen.server.settings import ServerSettings
from sentgen.server.tools import TOOLS

#: Pages that are asked for in a crawl, of each path.
_EACH = 12
_HREF = re.compile(r'(?:href|action|hx-get|src)="(/[^"]*)"')
_HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def school(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("school")
    options = ("--snapshots", published, "--workers", 1, "--no-warm-up", "--only", "query,word")
    with serving(folder, *options) as running:
        yield running


def links(html: str) -> list[str]:
    """Return where a page leads to."""
    return [unescape(url).partition("#")[0] for url in _HREF.findall(html)]


def test_no_link_leads_nowhere(school: Server) -> None:
    """From the first page, and from those of the pages that are offered, on and on."""
    query = urlencode({"query": '[lemma="camp"]', "by": "word", "open": "0"})
    left, seen = ["/", "/word?word=camp", f"/query?{query}"], dict[str, int]()
    visited = set[str]()
    while left:
        url = left.pop(0)
        path = urlsplit(url).path
        if url in visited or seen.get(path, 0) >= _EACH:
            continue
        visited.add(url)
        seen[path] = seen.get(path, 0) + 1
        answer = school.client.get(url, headers=_HTML)
        assert answer.status_code == 200, url
        if answer.headers["content-type"].startswith("text/html"):
            left += links(answer.text)
    assert {"/", "/word", "/query", "/hits", "/sentence", "/v1/kwic", "/v1/frequencies"} <= {*seen}


@pytest.mark.parametrize("path", ["/corpus", "/sketch?word=camp", "/sql", "/model", "/sql/sql.csv"])
def test_other_pages_are_not_found(school: Server, path: str) -> None:
    answer = school.client.get(path, headers=_HTML)

    assert answer.status_code == 404
    assert "offers only some pages, and not this one; there are: query, word" in answer.text
    assert {urlsplit(url).path for url in links(answer.text)} & {path, "/corpus"} == set()


def test_the_interface_has_what_the_pages_show(school: Server) -> None:
    """The rows of these pages, and no others: neither SQL nor texts of a whole corpus."""
    asked = {name for page in PAGES if page.key in ("query", "word", "thesaurus") for name in page.asks}
    found = school.client.get("/v1/openapi.json").json()["paths"]

    routes = {operations()[name].route for name in {*asked, "corpora", "subcorpora"}}
    assert {path for path in found if path.startswith("/v1/")} == routes
    assert school.client.post("/v1/sql", json={"sql": "select 1"}).status_code == 404
    assert school.client.get("/v1/sketch?word=camp").status_code == 404
    assert "sql" not in school.pools()


def test_tools_are_those_of_the_interface(school: Server) -> None:
    """A language model is offered no more than anybody else; nor is whoever has a link."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    told = school.client.post("/mcp", json=asked, headers=headers).json()["result"]["tools"]
    calling = {**asked, "method": "tools/call", "params": {"name": "sql", "arguments": {"sql": "select 1"}}}

    routes = school.client.get("/v1/openapi.json").json()["paths"]
    offered = [name for name in TOOLS if operations()[name].route in routes]
    assert [tool["name"] for tool in told] == offered
    assert {"corpora", "kwic"} <= {*offered} <= {*TOOLS} - {"sql", "score"}
    assert (
        "no tool 'sql'"
        in school.client.post("/mcp", json=calling, headers=headers).json()["error"]["message"]
    )
    assert school.client.get("/answer", params={"ask": "sql"}).status_code == 404


def test_texts_of_links_stay(school: Server) -> None:
    """A sentence names its document, whose page is not offered."""
    sentence = next(url for url in ASKED.values() if url.startswith("/sentence"))
    html = school.client.get(sentence).text

    assert "<bdi>relief-003</bdi>" in html
    assert "/corpus" not in html


def test_each_page_can_be_offered_alone() -> None:
    for page in PAGES:
        if page.name and page.key:
            settings = ServerSettings(Path("none"), desk=Path("class.desk"), only=read_offered(page.key))
            found = offered_pages(settings)
            assert [one.key for one in found] == [
                "",
                *(
                    k
                    for k in _order()
                    if k in (page.key, "hits", "sentence", "thesaurus", "answer", "v1/docs", "s")
                ),
            ]
            assert operations_of(found) >= {"corpora"}


def _order() -> list[str]:
    return [page.key for page in PAGES if page.key]


def test_pages_say_what_they_ask() -> None:
    """What a page shows of the API, its `asks` names."""
    for page in PAGES:
        if page.asks:
            module = importlib.import_module(page.view.__module__)
            named = {name for each in module.PAGES for name in each.asks}
            assert _asked(inspect.getsource(module)) - {"corpora", "subcorpora"} <= named, page.path


def _asked(source: str) -> set[str]:
    """Return the operations with a route that a module names."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args)
    names = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id == "ask"
        and isinstance(call.args[0], ast.Constant)
    }
    return {name for name in names if operations()[str(name)].api}


@pytest.mark.parametrize("text", ["query,foo", "", "query,", "/query", "hits"])
def test_unknown_pages_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"no page .* to offer; there are: corpus, query, lines, word"):
        read_offered(text)


def test_sql_is_not_both_offered_and_left_out() -> None:
    with pytest.raises(InputError, match="choose one of the two"):
        _pages("query, sql", sql=False, desk=False)
    with pytest.raises(
        InputError, match="--only has the page of line sets; give it a file for them: --desk FILE"
    ):
        _pages("query, lines", sql=False, desk=False)
    assert _pages("query, sql, lines", sql=True, desk=True) == ("query", "sql", "lines")
    assert _pages(None, sql=False, desk=False) == ()


def test_dead_links_lose_nothing_but_the_link() -> None:
    html = (
        '<p><a class="x" href="/a?b=1&amp;c=%20#d"><bdi>1</bdi></a> <a href="/b"\n title="t">2</a>'
        ' <a href="#main">3</a></p><ul><li><a href="/b">B</a><p>About b.</p></li> <li><a href="/a">A</a></li></ul>'
    )

    html += '<p><a href="/b">B</a> · <a href="/a?x">A</a></p>\n<p><a href="/b?y">All</a></p>\n'

    found = _without_dead_links(html, lambda path: path == "/a")
    html = html.replace('<a href="/b">B</a> · ', "").replace('<p><a href="/b?y">All</a></p>\n', "")
    assert found == html.replace('<a href="/b"\n title="t">2</a>', "2").replace(
        '<li><a href="/b">B</a><p>About b.</p></li> ', ""
    )
