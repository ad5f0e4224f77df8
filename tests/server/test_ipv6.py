"""A server that is reached by IPv6: where it listens, what its addresses are, and whom it believes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace as Of

import httpx
import ifaddr
import pytest
from serving import Server, serving, until

from sentgen.cli.serve import _all_of_class
from sentgen.server import addresses
from sentgen.server.addresses import addresses_here, listen


def _has_ipv6() -> bool:
    try:
        listen("::1", 0)[0].close()
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="no IPv6")


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of a network card, which a test chooses, beside those that are for nobody else."""
    chosen = ["127.0.0.1", "::1", "fe80::1"]
    monkeypatch.setattr(addresses, "_usual", lambda version: "")

    def adapters() -> list[Of]:
        ips = [Of(ip=(each, 0, 0) if ":" in each else each) for each in chosen]
        return [Of(nice_name="eth0", ips=ips), Of(nice_name="docker0", ips=[Of(ip="172.17.0.1")])]

    monkeypatch.setattr(ifaddr, "get_adapters", adapters)
    return chosen


def test_addresses_of_a_machine(network: list[str]) -> None:
    """Those of IPv4 first, as they can be typed; a class listens to IPv6 where there is nothing else."""
    assert (addresses_here((4, 6)), _all_of_class()) == ([], "0.0.0.0")

    network.append("2001:db8::7")
    assert (addresses_here(), addresses_here((4, 6)), _all_of_class()) == ([], ["2001:db8::7"], "::")

    network.append("192.0.2.7")
    assert addresses_here() == ["192.0.2.7"]
    assert (addresses_here((4, 6)), _all_of_class()) == (["192.0.2.7", "2001:db8::7"], "0.0.0.0")


@pytest.fixture(scope="module")
def six(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on the loopback of IPv6, which believes a network of proxies there."""
    options = ("--snapshots", published, "--host", "[::1]", "--proxy", "::/64", "--workers", 1)
    with serving(tmp_path_factory.mktemp("six"), *options, "--no-warm-up") as server:
        yield server


@needs_ipv6
def test_it_is_asked_by_its_address(six: Server) -> None:
    """As browsers write it; another one is refused, and so is what has no brackets."""
    assert six.address.startswith("http://[::1]:")
    for host, status in (("[::1]", 200), ("[::1]:99", 200), ("[::2]", 421), ("::1", 421), ("[::1", 421)):
        assert six.client.get("/v1/corpora", headers={"Host": host}).status_code == status, host
    port = httpx.URL(six.address).port
    page = six.client.get("/word?word=camp&corpus=relief", headers={"Accept": "text/html"})
    assert f"http://[::1]:{port}/word?" in page.text
    same = six.client.post("/v1/sql", json={"sql": "select 1"}, headers={"Origin": f"http://[::1]:{port}"})
    other = six.client.post("/v1/sql", json={"sql": "select 1"}, headers={"Origin": f"http://[::2]:{port}"})
    assert (same.status_code, other.status_code) == (200, 403)


@needs_ipv6
def test_a_proxy_of_a_network_says_who_asks(six: Server) -> None:
    """The last address that is none of a proxy's, whatever stands before it."""
    six.client.get("/forwarded", headers={"X-Forwarded-For": "6.6.6.6, 2001:db8::7, ::9"})

    until(lambda: "/forwarded" in [event["path"] for event in six.events("sentgen.access")])
    assert [each["client"] for each in six.events("sentgen.access") if each["path"] == "/forwarded"] == [
        "2001:db8::7"
    ]


@needs_ipv6
def test_a_class_is_reached_by_both(published: Path, tmp_path: Path) -> None:
    """One port, whose visitors are known by their own addresses, and links with brackets."""
    options = ("--class", "--host", "::", "--allow-host", "2001:DB8::7", "--desk", tmp_path / "1b.desk")
    with serving(tmp_path, "--snapshots", published, *options, "--workers", 1, "--no-warm-up") as server:
        assert server.process.stdout is not None
        port = httpx.URL(server.address).port
        said = server.process.stdout.readline()
        assert said == f"students type: [2001:db8::7]:{port}\n"
        typed = {"Host": f"[2001:db8::7]:{port}"}
        door = server.client.get("/join", headers=typed)
        assert f'<p class="address">[2001:db8::7]:{port}</p>' in door.text
        joined = server.client.post("/join", data={"name": "Ann"}, headers=typed)
        assert joined.headers["location"].startswith(f"http://[2001:db8::7]:{port}/as/")
        for host in ("127.0.0.1", "[::1]"):
            assert httpx.get(f"http://{host}:{port}/healthz").status_code == 200
            httpx.get(f"http://{host}:{port}/by")
        until(lambda: len(_clients(server)) == 2)
        assert _clients(server) == {"127.0.0.1", "::1"}


def _clients(server: Server) -> set[str]:
    return {event["client"] for event in server.events("sentgen.access") if event["path"] == "/by"}


@needs_ipv6
def test_a_port_that_is_taken_is_free_for_the_other_version() -> None:
    """What another program has there is left to it."""
    with socket.create_server(("0.0.0.0", 0)) as taken:
        opened = listen("::", taken.getsockname()[1])
        families = [sock.family for sock in opened]
        for sock in opened:
            sock.close()

    assert families == [socket.AF_INET6]
