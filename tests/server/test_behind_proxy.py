"""A server below a path of another one, behind a proxy, and asked by pages of other sites."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving import ROOT, Server, serving, until

from sentgen.cli.keeping.serve import _addresses, _base_path, _origins
from sentgen.errors import InputError

BASE, ORIGIN = "/corpora", "https://example.org"


@pytest.fixture(scope="module")
def proxied(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server below a path, which believes a proxy on this machine."""
    options = ("--base-path", f"{BASE}/", "--proxy", "127.0.0.1", "--allow-origin", ORIGIN)
    folder = tmp_path_factory.mktemp("proxied")
    with serving(folder, "--snapshots", published, "--workers", 1, "--no-warm-up", *options) as server:
        yield server


def test_all_addresses_of_pages_lie_below_the_path(proxied: Server) -> None:
    """Of links, forms, styles and pictures; each leads somewhere."""
    for page in (
        "/",
        "/word?word=camp",
        "/query?query=camp&open=1",
        "/corpus",
        "/sketch?word=camp",
        "/v1/docs",
    ):
        text = proxied.client.get(f"{BASE}{page}").text
        addresses = re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
        assert addresses
        assert [each for each in addresses if not each.startswith(f"{BASE}/")] == []
        assert f"{BASE}{BASE}" not in text
    for address in set(re.findall(r'(?:href|src)="(/[^"?]*)"', proxied.client.get(f"{BASE}/").text)):
        assert proxied.client.get(address).status_code == 200, address


@pytest.mark.parametrize("path", [f"{BASE}/v1/corpora", "/v1/corpora"])
def test_a_proxy_takes_the_path_off_or_leaves_it(proxied: Server, path: str) -> None:
    """The answer is the same, and so is the link to it."""
    answer = proxied.client.get(path)

    assert answer.status_code == 200
    assert answer.headers["Link"].startswith(f"<{BASE}/v1/corpora?snapshot=")


def test_the_document_of_the_api_names_the_path(proxied: Server) -> None:
    """So that its clients ask below it."""
    assert proxied.client.get(f"{BASE}/v1/openapi.json").json()["servers"] == [{"url": BASE}]


def test_what_begins_like_the_path_is_not_below_it(proxied: Server) -> None:
    """Names of folders are compared whole."""
    assert proxied.client.get(f"{BASE}2/v1/corpora").status_code == 404


def _clients(server: Server, mark: str) -> set[str]:
    return {event["client"] for event in server.events("sentgen.access") if event["path"].endswith(mark)}


def test_a_named_proxy_says_who_asks(proxied: Server, server: Server) -> None:
    """Anybody else may write into that header what he likes."""
    forwarded = {"X-Forwarded-For": "203.0.113.7"}
    for each, mark in ((proxied, "named"), (server, "strange")):
        each.client.get(f"/{mark}", headers=forwarded)
        until(lambda each=each, mark=mark: _clients(each, mark))

    assert _clients(proxied, "named") == {"203.0.113.7"}
    assert _clients(server, "strange") == {"127.0.0.1"}


def test_pages_of_one_site_may_ask(proxied: Server) -> None:
    """And read the answer; those of others are refused as ever."""
    cross = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
    before = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}

    allowed = proxied.client.get("/v1/corpora", headers={"Origin": ORIGIN, **cross})
    strange = proxied.client.get("/v1/corpora", headers={"Origin": "https://evil.example", **cross})
    asked = proxied.client.options("/v1/sql", headers={"Origin": ORIGIN, **before})

    assert (allowed.status_code, allowed.headers["Access-Control-Allow-Origin"]) == (200, ORIGIN)
    assert "Sentgen-Rows" in allowed.headers["Access-Control-Expose-Headers"]
    assert (strange.status_code, "Access-Control-Allow-Origin" in strange.headers) == (403, False)
    assert (asked.status_code, asked.headers["Access-Control-Allow-Origin"]) == (200, ORIGIN)


def test_no_other_site_may_ask_unless_named(client: httpx.Client) -> None:
    """No header says that anybody may."""
    answer = client.get("/v1/corpora", headers={"Origin": ORIGIN})

    assert (answer.status_code, "Access-Control-Allow-Origin" in answer.headers) == (403, False)


@pytest.mark.skipif(not shutil.which("nginx"), reason="no nginx")
def test_nginx_as_it_is_given(proxied: Server, tmp_path: Path) -> None:
    """The configuration of `deploy`, but for TLS: pages, a long query, and the address of whoever asks."""
    port = _free_port()
    given = (ROOT / "deploy" / "nginx.conf").read_text()
    there = re.sub(r"\n *ssl_\w+ .*", "", given).replace("443 ssl", f"127.0.0.1:{port}")
    there = there.replace("http://127.0.0.1:8000", proxied.address.rstrip("/"))
    places = "\n".join(
        f"{kind}_temp_path {tmp_path / kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off;\npid {tmp_path / 'pid'};\nevents {{}}\nhttp {{\naccess_log off;\n{places}\n{there}}}\n"
    )
    command = [
        "nginx",
        "-p",
        str(tmp_path),
        "-c",
        str(tmp_path / "nginx.conf"),
        "-e",
        str(tmp_path / "error.log"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": "localhost"}) as client:
            until(lambda: (tmp_path / "pid").exists())
            assert client.get(f"{BASE}/").status_code == 200
            assert client.get(f"{BASE}/v1/corpora").json()["rows"]
            long = client.get(f"{BASE}/word", params={"word": "x" * 60_000})
            assert long.status_code < 500
            assert "nginx" not in long.text
            client.get(f"{BASE}/nginx", headers={"X-Forwarded-For": "203.0.113.9"})
            until(lambda: _clients(proxied, "nginx"))
            assert _clients(proxied, "nginx") == {"127.0.0.1"}  # not what the client says of itself
    finally:
        process.terminate()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.mark.parametrize("given", ["corpora", "//evil.example", "/a b", "/a//b", '/"x', "/a?b", "/ä"])
def test_no_base_path(given: str) -> None:
    """Nothing that is no path, or leads elsewhere."""
    with pytest.raises(InputError, match="is a path such as /corpora"):
        _base_path(given)


def test_base_paths() -> None:
    """With or without a slash at the end."""
    assert [_base_path(each) for each in ("", "/", "/a", "/a/", "/a/b.c-d_~")] == [
        "",
        "",
        "/a",
        "/a",
        "/a/b.c-d_~",
    ]


@pytest.mark.parametrize("given", ["*", "localhost", "10.0.0.1/8", "10.0.0"])
def test_no_proxy(given: str) -> None:
    """An address, or a network without bits of an address in it; never all."""
    with pytest.raises(InputError, match="is an address such as"):
        _addresses([given])


@pytest.mark.parametrize(
    "given", ["*", "null", "example.org", "https://example.org/", "https://x/y", "ftp://x"]
)
def test_no_origin(given: str) -> None:
    """As a browser writes it; never all."""
    with pytest.raises(InputError, match="is a site such as"):
        _origins([given])
