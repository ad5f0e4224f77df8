"""A server below a path of another one, behind a proxy, and asked by pages of other sites."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from serving import PATIENCE, ROOT, Server, serving, until

from sentgen.cli.serve import _addresses, _base_path, _origins
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


def _nginx(folder: Path, port: int, address: str) -> list[str]:
    """Write the configuration of `deploy`, but for TLS, and return the command."""
    given = (ROOT / "deploy" / "nginx.conf").read_text()
    there = re.sub(r"\n *ssl_\w+ .*", "", given).replace("443 ssl", f"127.0.0.1:{port}")
    places = "\n".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder / 'pid'};\nevents {{}}\nhttp {{\naccess_log off;\n{places}\n"
        f"{there.replace(GIVEN, address)}}}\n"
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]


def _caddy(folder: Path, port: int, address: str) -> list[str]:
    """Do the same for Caddy."""
    given = (ROOT / "deploy" / "Caddyfile").read_text()
    there = given.replace("\ncorpora.example.org {", f"\nhttp://localhost:{port} {{")
    there = there.replace(GIVEN.removeprefix("http://"), address.removeprefix("http://"))
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n}}\n{there}")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


#: The address of the server in the files of `deploy`.
GIVEN = "http://127.0.0.1:8000"


@pytest.mark.parametrize("configured", [_nginx, _caddy])
def test_proxies_as_they_are_given(
    proxied: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configured: Callable[..., list[str]]
) -> None:
    """The files of `deploy`, but for TLS: pages, a long query, and the address of whoever asks."""
    name, port = configured.__name__[1:], _free_port()
    if not shutil.which(name):
        pytest.skip(f"no {name}")
    monkeypatch.setenv("HOME", str(tmp_path))  # where Caddy keeps certificates
    command = configured(tmp_path, port, proxied.address.rstrip("/"))
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    address, headers = f"http://127.0.0.1:{port}", {"Host": f"localhost:{port}"}
    try:
        with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as client:
            until(lambda: _listens(port))
            assert client.get(f"{BASE}/").status_code == 200
            assert client.get(f"{BASE}/v1/corpora").json()["rows"]
            long = client.get(f"{BASE}/word", params={"word": "x" * 60_000})
            assert long.status_code < 500
            assert "sentgen" in long.text
            client.get(f"{BASE}/{name}", headers={"X-Forwarded-For": "203.0.113.9"})
            until(lambda: _clients(proxied, name))
            assert _clients(proxied, name) == {"127.0.0.1"}  # not what the client says of itself
    finally:
        process.terminate()
        process.wait(10)


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


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
