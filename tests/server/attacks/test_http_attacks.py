"""Invalid requests, too many, too large ones, and requests for another server."""

from __future__ import annotations

import gzip
import json
import socket
from contextlib import suppress
from urllib.parse import quote

import pytest
from fort import BUSY, CANARY, Fort, require_clean, require_problem
from serving import until

SQL = b'{"sql": "select 1"}'


def raw(fort: Fort, data: bytes, *, end: bool = True) -> bytes:
    """Send bytes, and return whatever comes back until the server closes, or has nothing more to say."""
    url = fort.client.base_url
    with socket.create_connection((url.host, url.port or 80), timeout=30) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data)
        if end:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        answer = bytearray()
        with suppress(ConnectionResetError, TimeoutError):
            while block := connection.recv(1 << 16):
                answer += block
        return bytes(answer)


def post(headers: bytes, body: bytes = SQL) -> bytes:
    return b"POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + b"\r\n\r\n" + body


def chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


#: What is sent, and the statuses that it may get; 0 is a connection that is closed without a word.
REQUESTS: dict[str, tuple[bytes, set[int]]] = {
    "nothing": (b"", {0}),
    "noise": (bytes(range(256)) * 64, {0, 400}),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), {0, 400}),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\n", {0, 400, 404, 405, 421}),
    "HTTP/0.9": (b"GET /v1/corpora\r\n\r\n", {0, 400}),
    "no host": (b"GET /v1/corpora HTTP/1.1\r\nConnection: close\r\n\r\n", {400, 421}),
    "no host, HTTP/1.0": (b"GET /v1/corpora HTTP/1.0\r\n\r\n", {400, 421}),
    "other host": (b"GET /v1/corpora HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", {421}),
    "two hosts": (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nConnection: close\r\n\r\n",
        {400, 421},
    ),
    "host with a user": (b"GET / HTTP/1.1\r\nHost: localhost@evil\r\nConnection: close\r\n\r\n", {400, 421}),
    "host with a path": (b"GET / HTTP/1.1\r\nHost: localhost/evil\r\nConnection: close\r\n\r\n", {400, 421}),
    "longer host": (b"GET / HTTP/1.1\r\nHost: localhost.evil\r\nConnection: close\r\n\r\n", {421}),
    "empty host": (b"GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", {400, 421}),
    "absolute target": (
        b"GET http://evil.example/v1/corpora HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        {400, 404, 421},
    ),
    "proxy": (
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        {400, 404, 405},
    ),
    "upgrade": (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        {200, 400, 404, 426},
    ),
    "HTTP/2 upgrade": (
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\n"
        b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
        {200},
    ),
    "long header": (post(b"X-Long: " + b"x" * 300_000), {0, 400, 431}),
    "many headers": (post(b"\r\n".join(b"X-%d: x" % i for i in range(30_000))), {0, 400, 431}),
    "long target": (b"GET /" + b"x" * 300_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", {0, 400, 414}),
    "long method": (
        b"G" * 100_000 + b" / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        {0, 400, 404, 405},
    ),
    "folded header": (post(b"X-A: b\r\n Host: evil"), {400, 422}),
    "blank before colon": (post(b"Content-Length : 19"), {400}),
    "NUL in a header": (post(b"X-A: a\0b"), {400}),
    "bare CR": (post(b"X-A: a\rHost: evil"), {400}),
    "NUL in the target": (b"GET /v1/\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", {0, 400}),
    "two lengths": (post(b"Content-Length: 19\r\nContent-Length: 5"), {400}),
    "negative length": (post(b"Content-Length: -1"), {400, 413}),
    "length in words": (post(b"Content-Length: many"), {400, 413}),
    "length in Arabic digits": (post("Content-Length: ١٩".encode()), {0, 400, 413}),
    "enormous length": (post(b"Content-Length: 99999999999999999999"), {400, 413}),
    "length and chunks": (post(b"Content-Length: 5\r\nTransfer-Encoding: chunked", chunked(SQL)), {400, 422}),
    "smuggled": (
        post(
            b"Content-Length: 6\r\nTransfer-Encoding: chunked",
            b"0\r\n\r\nGET /v1/corpora HTTP/1.1\r\nHost: x\r\n\r\n",
        ),
        {400, 422},
    ),
    "unknown encoding": (post(b"Transfer-Encoding: gzip, chunked", chunked(SQL)), {0, 400, 501}),
    "broken chunks": (post(b"Transfer-Encoding: chunked", b"zz\r\n{}\r\n0\r\n\r\n"), {0, 400}),
    "enormous chunk": (post(b"Transfer-Encoding: chunked", b"ffffffffffffffff\r\n{}"), {0, 400}),
    "long chunk extension": (post(b"Transfer-Encoding: chunked", b"1;" + b"x" * 300_000), {0, 400}),
    "half a body": (post(b"Content-Length: 100"), {0, 400}),
    "half a header": (b"POST /v1/sql HTTP/1.1\r\nHost: localh", {0, 400}),
    "body too long": (post(b"Content-Length: 2000000", b"x" * 2_000_000), {0, 413}),
    "chunks too long": (post(b"Transfer-Encoding: chunked", chunked(*[b"x" * 65_536] * 40)), {0, 413}),
    "expectation": (post(b"Expect: 200-maybe\r\nContent-Length: 19"), {200, 400, 415, 417, 422}),
}


@pytest.mark.parametrize(("data", "statuses"), REQUESTS.values(), ids=REQUESTS)
def test_raw_request(fort: Fort, data: bytes, statuses: set[int]) -> None:
    """The server refuses the request, or closes the connection."""
    answer = raw(fort, data, end=0 in statuses)

    status = int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
    assert status in statuses, answer[:500]
    assert answer.count(b"HTTP/1.1 ") <= 1  # nothing was smuggled
    assert CANARY.encode() not in answer


PATHS = """
/static/../../../../../../etc/passwd
/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd
/static/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd
/static/..%5c..%5cetc%5cpasswd
/static/....//....//etc/passwd
/static//etc/passwd
/static/%2fetc%2fpasswd
/static/style.css%00.png
/static/.%2e/canary.txt
/static/
/static
/v1/../canary.txt
/v1/corpora/..%2f..%2fcanary.txt
/v1/corpora/%2e%2e
/v1/corpora/%00
/v1/models/../../../etc/passwd
/v1/models/..%2f..%2f..%2fetc%2fpasswd
/v1/models/%ff%fe
/v1/models/relief@99999999999999999999
/v1/models/relief@-1
/v1/models/@
/v1/models/%0d%0aSet-Cookie:%20a=b
/canary.txt
/snapshots/canary.txt
/sentgen.duckdb
//evil.example/v1/corpora
/%2f%2fevil.example
/v1//corpora
/v1/sql/../../etc/passwd
/sql/..%2fcanary.txt
/.git/config
/.env
/docs
/redoc
/openapi.json
/server-status
/debug
""".strip().splitlines()


@pytest.mark.parametrize("path", PATHS)
def test_path(fort: Fort, path: str) -> None:
    """Nothing but the routes is there, and nowhere is one sent elsewhere."""
    answer = raw(
        fort, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(), end=False
    )

    head, _, body = answer.partition(b"\r\n\r\n")
    assert int(head.split(b" ", 2)[1]) in {307, 308, 400, 404, 405} | BUSY, answer[:300]
    assert b"evil.example" not in head.lower()
    assert b"\r\nset-cookie" not in head.lower()
    assert CANARY.encode() not in body
    assert b"root:x:0:0" not in body


@pytest.mark.parametrize("path", ["/v1/sql", "/v1/corpora", "/healthz", "/metrics", "/"])
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND"])
def test_method(fort: Fort, method: str, path: str) -> None:
    """Only GET, HEAD and POST are known; TRACE does not echo, OPTIONS opens nothing for other sites."""
    response = fort.client.request(method, path, headers={"X-Echo": CANARY})

    require_problem(response, 404, 405)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_pages_of_other_sites_cannot_ask(fort: Fort, headers: dict[str, str]) -> None:
    """Requests by forms and scripts of other sites are refused."""
    require_problem(fort.client.post("/v1/sql", json={"sql": "select 1"}, headers=headers), 403)


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-Host": "evil.example"},
        {"X-Forwarded-For": "1.2.3.4"},
        {"X-Original-URL": "/metrics"},
        {"X-HTTP-Method-Override": "DELETE"},
        {"Forwarded": "host=evil.example"},
        {"Cookie": "session=admin"},
        {"Authorization": "Bearer " + "x" * 10_000},
        {"Range": "bytes=0-1,0-1,0-1"},
        {"If-None-Match": "*"},
        {"Accept": ",;q=,text/csv;q=nan,*/*;q=1e999" * 100},
        {"Accept-Encoding": "gzip;q=1e999, *"},
    ],
)
def test_headers_that_change_nothing(fort: Fort, headers: dict[str, str]) -> None:
    """What a proxy might say, nobody believes; the answer is the same."""
    response = fort.request("GET", "/v1/corpora", headers=headers)

    require_clean(response)
    assert response.status_code == 200
    assert "relief" in response.text


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"select 1"',
    "a number": b"1",
    "no query": b"{}",
    "a list as query": b'{"sql": ["select 1"]}',
    "an object as query": b'{"sql": {"$ne": null}}',
    "a field too many": b'{"sql": "select 1", "path": "/etc/passwd"}',
    "prototype": b'{"sql": "select 1", "__proto__": {"x": 1}}',
    "no JSON": b"select 1",
    "half": b'{"sql": "select 1"',
    "more": b'{"sql": "select 1"} {"sql": "select 2"}',
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep parameters": b'{"sql": "select 1", "parameters": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "many parameters": json.dumps({"sql": "select 1", "parameters": [1] * 100_000}).encode(),
    "many fields": json.dumps({f"x{i}": 1 for i in range(20_000)}).encode(),
    "an enormous number": b'{"sql": "select ?", "parameters": [' + b"9" * 100_000 + b"]}",
    "a large number": b'{"sql": "select ?", "parameters": [' + b"9" * 400 + b"]}",
    "an enormous exponent": b'{"sql": "select ?", "parameters": [1e999999999]}',
    "not a number": b'{"sql": "select ?", "parameters": [NaN]}',
    "infinity": b'{"sql": "select ?", "parameters": [-Infinity]}',
    "limit not a number": b'{"sql": "select 1", "limit": NaN}',
    "limit infinite": b'{"sql": "select 1", "limit": 1e400}',
    "limit negative": b'{"sql": "select 1", "limit": -1}',
    "limit enormous": b'{"sql": "select 1", "limit": 1e18}',
    "no UTF-8": b'{"sql": "select \xff"}',
    "a surrogate": b'{"sql": "select \'\\ud800\'"}',
    "a surrogate as parameter": b'{"sql": "select ?", "parameters": ["\\udfff"]}',
    "a surrogate as name": b'{"sql": "select 1", "\\ud800": 1}',
    "NUL": b'{"sql": "select 1\\u0000; drop table word"}',
    "UTF-16": '{"sql": "drop table word"}'.encode("utf-16"),
    "UTF-7": b'{"sql": "+AGQAcgBvAHA- table word"}',
    "twice": b'{"sql": "select 1", "sql": "drop table word"}',
    "packed": gzip.compress(SQL),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_body(fort: Fort, body: bytes) -> None:
    """What is no query in JSON is refused."""
    response = fort.request("POST", "/v1/sql", content=body, headers={"Content-Type": "application/json"})

    if response.status_code == 200:
        require_clean(response)  # a number that became infinity is a number still
        assert len(response.json()["rows"]) == 1
    else:
        require_problem(response, 400, 422)


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/octet-stream",
        "text/html",
        "x" * 1000,
    ],
)
def test_other_media_types(fort: Fort, kind: str) -> None:
    """A form of another site can only send these; they are no queries."""
    response = fort.client.post("/v1/sql", content=SQL, headers={"Content-Type": kind})

    require_problem(response, 400, 415, 422)


def test_xml_is_not_read(fort: Fort) -> None:
    """The server parses no XML, so that no entity is expanded."""
    bomb = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
    response = fort.client.post("/v1/sql", content=bomb, headers={"Content-Type": "application/xml"})

    require_problem(response, 400, 415, 422)


@pytest.mark.parametrize(
    "value", ["a\r\nSet-Cookie: x=y", "a\nb", "\x1b[2J", "a\x00b", "<script>alert(1)</script>", "\u2028"]
)
def test_what_comes_back_in_a_message(fort: Fort, value: str) -> None:
    """It stays in the body, which no browser takes for a page, and on one line of the log."""
    response = fort.client.get(f"/v1/models/{quote(value, safe='')}")

    problem = require_problem(response, 400, 404, 422, *BUSY)
    assert "\x1b" not in problem["detail"]
    until(lambda: f"/v1/models/{value}" in [event["path"] for event in fort.server.events("sentgen.access")])


def test_a_hundred_connections_that_say_nothing(fort: Fort) -> None:
    """The next one is answered all the same."""
    url = fort.client.base_url
    connections = [socket.create_connection((url.host, url.port or 80)) for _ in range(100)]
    try:
        for connection in connections[::2]:
            connection.sendall(b"POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nX-")
        answer = fort.client.get("/healthz")
    finally:
        for connection in connections:
            connection.close()

    assert answer.status_code == 200


def test_requests_in_one_go(fort: Fort) -> None:
    """Pipelined requests are answered one by one, in their order."""
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = raw(
        fort,
        one * 50 + b"GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        end=False,
    )

    assert answer.count(b"HTTP/1.1 200 ") == 50
    assert answer.count(b"HTTP/1.1 404 ") == 1
