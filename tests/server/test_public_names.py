"""A server tells nobody in which folders of its machine the files lay."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import httpx
import pytest
from serving import serving

from sentgen.schema import dictionary
from sentgen.schema.snapshots import publish
from sentgen.server.operations import operations

_LINK = re.compile(r'href="(/[^"#]*)')
#: Pages that are opened: there are more links than that, to other parts of the same tables.
_PAGES = 30


@pytest.mark.nightly
@pytest.mark.slow
def test_no_answer_tells_a_folder(full: Path, tmp_path: Path) -> None:
    """Neither a page that is linked, nor an operation, nor SQL over all tables and views."""
    folder, texts = full.parent.name, dict[str, str]()
    publish(full, tmp_path / "to")

    with serving(tmp_path, "--snapshots", tmp_path / "to", "--workers", 1, "--no-warm-up") as server:
        _follow(server.client, texts)
        for name, given in (("corpus", "pets"), ("corpus", "notes"), ("corpus", "pairs"), ("model", "kn")):
            texts |= _asked(server.client, operations()[name].route.format(name=given))
        texts |= _asked(server.client, "/v1/corpora/pets?rejected=true")
        for relation in dictionary.relations():
            answer = server.client.post("/v1/sql", json={"sql": f"select * from {relation.name}"})
            assert answer.status_code == 200, answer.text
            texts[relation.name] = answer.text

    shown = [url for url in texts if "show=sources" in url]
    assert shown
    assert any("pets.conllu" in texts[url] for url in shown)
    assert [url for url, text in texts.items() if folder in text] == []


def _follow(client: httpx.Client, texts: dict[str, str]) -> None:
    """Open the home page and what is linked from page to page, the shallowest first."""
    waiting = ["/", "/corpus?name=pets&show=sources", "/corpus?name=notes&show=sources"]
    while waiting and len(texts) < _PAGES:
        url = waiting.pop(0)
        if url not in texts and not url.startswith(("/static", "/v1")):
            texts[url] = client.get(url, follow_redirects=True).text
            waiting += map(unescape, _LINK.findall(texts[url]))


def _asked(client: httpx.Client, url: str) -> dict[str, str]:
    answer = client.get(url)
    assert answer.status_code == 200, answer.text
    return {url: answer.text}
