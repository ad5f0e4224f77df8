"""Cached answers: found by their request and snapshot, and by nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.types import Message, Receive, Scope, Send

from sentgen.server.cache import CHANGES, CacheMiddleware, LruCache
from sentgen.server.service import Service


@dataclass
class Served:
    """A keeper in front of an application that answers how often it was asked, and by whom."""

    room: int = 2**20
    status: int = 200
    asked: int = 0
    switches: bool = False
    changes: bool = False
    service: Any = None
    _keeper: CacheMiddleware = field(init=False)

    def __post_init__(self) -> None:
        self.service = SimpleNamespace(snapshot=SimpleNamespace(name="first"), cache=LruCache(self.room))
        self._keeper = CacheMiddleware(self._app, service=cast(Service, self.service))

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"] if scope["method"] == "POST" else b""
        self.asked += 1
        answer = b"%s %d %s" % (self.service.snapshot.name.encode(), self.asked, body)
        if self.changes:
            scope[CHANGES] = True
        if self.switches:
            self.service.snapshot = SimpleNamespace(name="second")
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": answer})

    def ask(
        self,
        path: str = "/v1/ngrams",
        query: str = "",
        *,
        method: str = "GET",
        body: bytes = b"",
        **headers: str,
    ) -> tuple[int, dict[bytes, bytes], bytes]:
        """Return status, headers and body."""
        scope: Scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        asyncio.run(self._keeper(scope, receive, send))
        return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


@pytest.mark.parametrize("host", ["127.0.0.1:6666", "localhost"])
def test_what_was_asked_elsewhere_is_another_answer(host: str) -> None:
    """A page cites its address: nobody else is to read which one somebody made up."""
    served = Served()

    assert served.ask(host=host)[2] != served.ask(host="127.0.0.1:8000")[2]


def test_same_question() -> None:
    """The same request is answered once by the application."""
    served = Served()

    assert served.ask()[2] == served.ask()[2] == b"first 1 "
    assert (served.service.cache.hits, served.service.cache.misses) == (1, 1)


@pytest.mark.parametrize(
    "other",
    [
        {"query": "pattern=x"},
        {"path": "/v1/kwic"},
        {"accept": "text/csv"},
        {"accept_encoding": "gzip"},
        {"method": "HEAD"},
        {"method": "POST", "body": b"x"},
    ],
    ids=str,
)
def test_other_question(other: dict[str, Any]) -> None:
    """Any difference that may change the answer makes another request."""
    served = Served()
    served.ask()

    served.ask(**other)

    assert served.asked == 2


def test_bodies_are_part_of_the_question() -> None:
    """The application gets the body that was read for the key."""
    served = Served()
    answers = [served.ask("/v1/score", method="POST", body=body)[2] for body in (b"a", b"b", b"a")]

    assert answers == [b"first 1 a", b"first 2 b", b"first 1 a"]


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/sql", "/v1/sql", "/static/x.css"])
def test_what_is_never_kept(path: str) -> None:
    """SQL may ask for the time, and every statement is written down; the others tell how things are now."""
    served = Served()
    served.ask(path)

    assert b"etag" not in served.ask(path)[1]
    assert served.asked == 2


def test_other_methods_and_failures_are_not_kept() -> None:
    """Only successful answers are cached."""
    served = Served(status=404)
    served.ask()
    assert served.ask()[1] == {}
    served.ask(method="DELETE")
    assert served.asked == 3


def test_never_crosses_snapshots() -> None:
    """For a newer snapshot, the application is asked again, and the tag differs."""
    served = Served()
    _, headers, _ = served.ask()
    served.service.snapshot = SimpleNamespace(name="second")

    status, newer, body = served.ask(if_none_match=headers[b"etag"].decode())

    assert (status, body) == (200, b"second 2 ")
    assert newer[b"etag"] != headers[b"etag"]


def test_snapshot_that_changes_meanwhile() -> None:
    """Nobody knows which one was asked: the answer has no tag, and is not kept."""
    served = Served(switches=True)
    _, headers, _ = served.ask()
    served.switches = False

    assert b"etag" not in headers
    assert served.ask()[2] == b"second 2 "


def test_what_changes_while_the_snapshot_does_not() -> None:
    """It has no tag either, with which a client would never see another answer."""
    served = Served(changes=True)

    (_, headers, first), (_, _, second) = served.ask(), served.ask()
    assert (first, second) == (b"first 1 ", b"first 2 ")
    assert b"etag" not in headers


def test_not_modified() -> None:
    """A client that has the answer is told so, even if it is no longer kept; nobody works."""
    served = Served(room=0)
    _, headers, _ = served.ask()
    tag = headers[b"etag"].decode()

    status, again, body = served.ask(if_none_match=f'"x", {tag}')

    assert (status, again[b"etag"].decode(), body, served.asked) == (304, tag, b"", 1)
    assert headers[b"cache-control"] == again[b"cache-control"] == b"private, no-cache"


def test_shelf_stays_within_its_room() -> None:
    """What was asked for least recently goes first; what takes too much is not kept."""
    cache = LruCache(32_000)
    for number in range(8):
        cache.put(number, f"answer {number}", 2_000)
    assert cache.find(0, str) == "answer 0"

    cache.put(8, "one more", 2_000)
    cache.put(9, "huge", 4_000)

    assert cache.find(1, str) is None
    assert cache.find(9, str) is None
    assert (cache.find(0, str), cache.find(8, str)) == ("answer 0", "one more")
    assert cache.used == 32_000
    cache.put(8, "again", 1_000)
    assert cache.used == 31_000
