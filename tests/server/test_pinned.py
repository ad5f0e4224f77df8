"""Links that last: they are answered from the snapshot that they name, or not at all."""

from __future__ import annotations

import re
from html import unescape

import httpx


def test_an_answer_names_a_link_to_itself(client: httpx.Client) -> None:
    """It gives the same answer, and names itself again."""
    first = client.get("/v1/ngrams", params={"pattern": "the *", "limit": 2, "format": "csv"})
    (link,) = re.findall(r'<(.+)>; rel="bookmark"', first.headers["Link"])

    again = client.get(link)

    assert link.endswith(f"&snapshot={first.headers['Sentgen-Snapshot']}")
    assert (again.status_code, again.text) == (200, first.text)
    assert again.headers["Link"] == first.headers["Link"]
    assert first.headers["Sentgen-Version"] == client.get("/healthz").json()["version"]


def test_another_snapshot_is_not_answered(client: httpx.Client) -> None:
    """By the API, whatever the method, by pages, and as a file of one."""
    cited = {"snapshot": "sentgen-0123456789abcdef"}
    answers = [
        client.get("/v1/ngrams", params={"pattern": "the *", **cited}),
        client.post("/v1/sql", params=cited, json={"sql": "select 1"}),
        client.get("/sql/sql.csv", params={"sql": "select 1", **cited}),
        client.get("/query/sentences.conllu", params={"query": "pattern { X [upos=NOUN] }", **cited}),
    ]
    page = client.get("/word", params={"word": "the", **cited}, headers={"Accept": "text/html"})

    for answer in answers:
        assert answer.status_code == 410
        assert answer.json()["type"] == "urn:sentgen:problem:snapshot"
        assert "this is about sentgen-0123456789abcdef, and sentgen-" in answer.json()["detail"]
    assert page.status_code == 410
    assert "leave out snapshot=" in page.text


def test_a_page_can_be_cited(client: httpx.Client) -> None:
    """With the hash, what is in the snapshot, and a link that shows the same page."""
    first = client.get("/word", params={"word": "camp & co"})
    (link,) = (unescape(found) for found in re.findall('rel="bookmark" href="([^"]+)"', first.text))
    cited = unescape(first.text.partition("Cite this page")[2])

    assert re.search(r"SHA-256 <code>[0-9a-f]{64}</code>", cited)
    assert "relief (" in cited
    assert f">{str(client.base_url).rstrip('/')}/word?word=camp" in cited
    assert link.startswith("/word?word=camp+%26+co&snapshot=sentgen-")
    assert client.get(link).text == first.text
