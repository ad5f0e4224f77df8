"""Messages, metrics, logs, and the gate without an application behind it."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from sentgen.server import wire
from sentgen.server.addresses import is_loopback
from sentgen.server.app import AccessMiddleware
from sentgen.server.cache import LruCache
from sentgen.server.monitoring import JsonLines, Metrics
from sentgen.server.operations import Limits
from sentgen.server.operations.sql import Sql
from sentgen.server.settings import ServerSettings
from sentgen.server.wire import Call, Reply

TOKEN = "0123456789abcdef"
SETTINGS = ServerSettings(Path(), limits=Limits(body=1000))
VALUES = st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), max_size=5)


@given(st.lists(st.builds(Call), max_size=3))
def test_calls_arrive_as_they_were_sent(calls: list[Call]) -> None:
    """A worker reads what was written, one after the other."""
    stream = io.BytesIO(b"".join(map(wire.pack, calls)))

    assert [wire.read(stream) for _ in calls] == calls
    assert wire.read(stream) is None


@given(st.lists(st.builds(Reply, seconds=st.floats(0, 100)), max_size=3))
def test_replies_arrive_as_they_were_sent(replies: list[Reply]) -> None:
    """The front reads replies as they were written."""
    assert asyncio.run(_received(b"".join(map(wire.pack, replies)), len(replies))) == replies


@given(VALUES)
def test_a_declaration_arrives_as_it_was_sent(values: list[Any]) -> None:
    """With numbers of any size, and with those that JSON has not: they have no equals, but the same text."""
    asked = Sql(sql="select 1", parameters=values)

    assert repr(wire.decode(wire.encode(asked), Sql)) == repr(asked)


async def _received(data: bytes, count: int) -> list[Reply]:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return [await wire.receive(reader) for _ in range(count)]


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 5, b"\xff" * 12, wire.pack(Reply(200))[:-1], wire.pack(Call("sql", b""))]
)
def test_a_broken_worker_is_a_gone_worker(data: bytes) -> None:
    """Half a message, one that is said to be endless, or no reply at all, ends the conversation."""
    with pytest.raises(ConnectionError):
        asyncio.run(_received(data, 1))


def test_metrics() -> None:
    """Counters, histograms and gauges, as Prometheus reads them; labels are escaped."""
    metrics = Metrics()
    metrics.requested("/v1/x", 200, 0.02)
    metrics.requested("/v1/x", 200, 3.0)
    metrics.killed("sql", "deadline")
    for counts in ((3, 5), (8, 0)):
        metrics.looked_up({"trees": counts})

    lines = metrics.text({"sql": {"workers": 2, "idle": 1, "waiting": 0}}, 'a"b', LruCache(0)).splitlines()

    assert 'sentgen_requests_total{operation="/v1/x",status="200"} 2' in lines
    assert 'sentgen_request_seconds_bucket{operation="/v1/x",le="0.025"} 1' in lines
    assert 'sentgen_request_seconds_bucket{operation="/v1/x",le="+Inf"} 2' in lines
    assert 'sentgen_request_seconds_sum{operation="/v1/x"} 3.02' in lines
    assert 'sentgen_workers_replaced_total{kind="sql",reason="deadline"} 1' in lines
    assert 'sentgen_lookups_total{of="trees",cached="yes"} 11' in lines
    assert 'sentgen_lookups_total{of="trees",cached="no"} 5' in lines
    assert 'sentgen_pool_idle{kind="sql"} 1' in lines
    assert 'sentgen_snapshot_info{snapshot="a\\"b"} 1' in lines


def test_a_log_line_is_one_line() -> None:
    """Nothing that is logged can break or forge a line, or steer a terminal."""
    record = logging.makeLogRecord({"msg": "sql", "asked": "a\n\x1b[31m\u2028"})

    line = JsonLines().format(record)

    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["asked"] == "a\n\x1b[31m\u2028"


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Read a request and answer with the number of its bytes."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def through(settings: ServerSettings, **request: Any) -> httpx.Response:
    """Send a request through the gate."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(AccessMiddleware(_echo, settings=settings, metrics=Metrics()))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.request(**{"method": "GET", "url": "/v1/x", **request})

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000", "corpus.example"]
)
def test_known_hosts(host: str) -> None:
    """The loopback and the names that were allowed are answered."""
    settings = ServerSettings(Path(), hosts=("corpus.example",))

    assert through(settings, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil", "", "[::2]", "a:b:c"]
)
def test_other_hosts(host: str) -> None:
    """A page that made its own name point here is not answered (DNS rebinding)."""
    answer = through(SETTINGS, headers={"host": host})

    assert answer.status_code == 421
    assert answer.json()["type"] == "urn:sentgen:problem:host"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://127.0.0.1:8000"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:8001"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_pages_of_other_sites(headers: dict[str, str], status: int) -> None:
    """Pages of other sites cannot send requests through a browser."""
    assert through(SETTINGS, method="POST", headers=headers).status_code == status


LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/word", LINK, 200),
        ("POST", "/word", LINK, 403),
        ("GET", "/v1/docs", LINK, 200),
        ("GET", "/v1/corpora", LINK, 403),
        ("GET", "/v1/docs/x", LINK, 403),
        ("GET", "/word", {**LINK, "sec-fetch-dest": "iframe"}, 403),
    ],
)
def test_links_on_other_sites(method: str, path: str, headers: dict[str, str], status: int) -> None:
    """Somebody may follow one to a page, but neither frame a page nor reach the API by one."""
    assert through(SETTINGS, method=method, url=path, headers=headers).status_code == status


def _basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"user:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {TOKEN} ", 200),
        (_basic(TOKEN), 200),
        ("", 401),
        ("Bearer", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (TOKEN, 401),
        (_basic("wrong"), 401),
        ("Basic ?", 401),
        ("Bearer \xff", 401),
    ],
)
def test_tokens(authorization: str, status: int) -> None:
    """Only requests with a token are answered."""
    settings = ServerSettings(Path(), tokens=("another-token-of-some", TOKEN))

    answer = through(settings, headers={"authorization": authorization.encode("latin-1")})

    assert answer.status_code == status
    challenges = ['Basic realm="sentgen"', 'Bearer realm="sentgen"'] if status == 401 else []
    assert answer.headers.get_list("www-authenticate", split_commas=False) == challenges


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({}, 401, "as the password"),
        ({"host": "evil.example"}, 421, "host name"),
        ({"origin": "null"}, 403, "other sites"),
    ],
)
def test_who_is_refused_in_a_browser_reads_a_page(asked: dict[str, str], status: int, told: str) -> None:
    """It needs no file that is refused as well; programs, and whoever asks the API, get a problem document."""
    settings, browser = ServerSettings(Path(), tokens=(TOKEN,)), {"accept": "text/html,*/*;q=0.8", **asked}

    page = through(settings, url="/word?word=<script>", headers=browser)
    program = through(settings, url="/word", headers=asked)
    api = through(settings, url="/v1/corpora", headers=browser)

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert told in page.text
    assert not any(part in page.text for part in ("src=", "<link", "script"))
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    for answer in (program, api):
        assert answer.headers["content-type"] == "application/problem+json"
        assert told in answer.json()["detail"]
    assert {page.status_code, program.status_code, api.status_code} == {status}


def test_health_needs_no_token() -> None:
    """Whatever watches the server need not know a token."""
    assert through(ServerSettings(Path(), tokens=(TOKEN,)), url="/healthz").status_code == 200


def test_what_watches_the_server_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """A line a request, but for those that come each second; a refusal is logged."""
    with caplog.at_level("INFO", "sentgen.access"):
        for url in ("/healthz", "/metrics", "/v1/corpora"):
            through(ServerSettings(Path()), url=url)
        through(ServerSettings(Path(), tokens=(TOKEN,)), url="/metrics")

    told = [(record.__dict__["path"], record.__dict__["status"]) for record in caplog.records]
    assert told == [("/v1/corpora", 200), ("/metrics", 401)]


@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413)])
@pytest.mark.parametrize("streamed", [False, True])
def test_size_of_a_request(size: int, status: int, streamed: bool) -> None:
    """A body of too many bytes is refused, whether it says its length or not."""

    async def stream() -> Any:
        for _ in range(size):
            yield b"x"

    answer = through(SETTINGS, method="POST", content=stream() if streamed else b"x" * size)

    assert answer.status_code == status


def test_every_response_has_the_headers() -> None:
    """Refusals have the headers, too."""
    for answer in (through(SETTINGS), through(SETTINGS, headers={"host": "evil.example"})):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "set-cookie" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *[("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True)],
        *[("0.0.0.0", False), ("::", False), ("192.168.0.1", False), ("example.org", False)],
    ],
)
def test_loopback(host: str, local: bool) -> None:
    """Only what cannot be reached from elsewhere is loopback."""
    assert is_loopback(host) is local
