"""Answers that are kept: the same question to the same snapshot is answered again without any work.

A snapshot never changes, and operations are functions of it and of what was asked. SQL is not, as it can ask
for the time, and every statement is written down; and line sets change, and what was asked of their labels.
So an answer carries an ETag made of the snapshot and the question, a client that has it is told 304, and the
front keeps the answers that were asked for last.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sentgen import __version__

if TYPE_CHECKING:
    from sentgen.server.service import Service

Answer = TypeVar("Answer")
#: An answer with more than this share of the bytes is not kept.
_LARGEST = 8
#: Bytes that an answer takes beside its body: headers, keys, objects.
_BESIDE = 2_000


@dataclass(slots=True)
class LruCache:
    """The answers that were asked for last, within so many bytes; a key names the snapshot, too."""

    size: int
    used: int = 0
    hits: int = 0
    misses: int = 0
    _entries: OrderedDict[Hashable, tuple[object, int]] = field(default_factory=OrderedDict)

    def find(self, key: Hashable, kind: type[Answer]) -> Answer | None:
        """Return an answer of a kind, which is then the last that is thrown away; none if it is not there."""
        answer, _ = self._entries.get(key, (None, 0))
        if not isinstance(answer, kind):
            self.misses += 1
            return None
        self._entries.move_to_end(key)
        self.hits += 1
        return answer

    def put(self, key: Hashable, answer: object, body: int) -> None:
        """Keep an answer with so many bytes in its body; those that nobody asked for make room."""
        entry = body + _BESIDE
        # One large answer would push out all that are asked for.
        if entry * _LARGEST > self.size:
            return
        self.used += entry - self._entries.pop(key, (None, 0))[1]
        self._entries[key] = (answer, entry)
        while self.used > self.size:
            self.used -= self._entries.popitem(last=False)[1][1]


#: What is no answer of an operation, and what need not be the same the next time.
_NEVER = (
    "/healthz",
    "/metrics",
    "/static/",
    "/answer",
    "/sql",
    "/v1/sql",
    "/lines",
    "/v1/lines",
    "/join",
    "/class",
)
#: What an application puts into the scope whose answer may be another one the next time.
CHANGES = "sentgen.changes"
#: A client may keep the answer, but asks each time whether the snapshot is still the same.
_CACHE_CONTROL = b"private, no-cache"


@dataclass(frozen=True, slots=True)
class _CachedResponse:
    """A response with status 200 as it was sent, and the route that made it."""

    headers: list[tuple[bytes, bytes]]
    body: bytes
    route: object


class CacheMiddleware:
    """An ASGI application in front of another one that answers what was asked before."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app, self._service = app, service
        self._cache = service.cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from the cache, or ask, and keep what comes."""
        if scope["type"] != "http" or not _is_function(scope):
            await self._app(scope, receive, send)
            return
        snapshot = self._service.snapshot.name
        headers, body, posted = Headers(scope=scope), b"", scope["method"] == "POST"
        if posted:
            body = await _whole(receive)
            receive = _again(body, receive)
        key = _key(snapshot, scope, headers, body)
        # Weak: it says that the answer is the same, not its bytes. HTTP has no such requests with POST.
        tag = "" if posted else f'W/"{key.hex()[:32]}"'
        if tag and tag in headers.get("if-none-match", "").replace(" ", "").split(","):
            await _send(send, 304, [(b"etag", tag.encode()), (b"cache-control", _CACHE_CONTROL)], b"")
        elif (response := self._cache.find(key, _CachedResponse)) is not None:
            scope["route"] = response.route  # for the metrics
            await _send(send, 200, list(response.headers), response.body)
        else:
            await self._ask(scope, receive, send, snapshot, key, tag)

    async def _ask(
        self, scope: Scope, receive: Receive, send: Send, snapshot: str, key: bytes, tag: str
    ) -> None:
        """Have the application answer, and keep it if the snapshot is the same then as it was before."""
        parts: list[bytes] = []
        headers: list[tuple[bytes, bytes]] | None = None

        async def sending(message: Message) -> None:
            nonlocal headers
            if message["type"] == "http.response.start":
                # A snapshot that came in between would stand under the name of the old one.
                same = self._service.snapshot.name == snapshot and CHANGES not in scope
                if message["status"] == 200 and same:
                    added = MutableHeaders(raw=message["headers"])
                    added["cache-control"] = _CACHE_CONTROL.decode()
                    if tag:
                        added["etag"] = tag
                    headers = list(message["headers"])
            elif headers is not None:
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    body = b"".join(parts)
                    self._cache.put(key, _CachedResponse(headers, body, scope.get("route")), len(body))
            await send(message)

        await self._app(scope, receive, sending)


def _is_function(scope: Scope) -> bool:
    """Say whether the answer depends on the snapshot and the question alone."""
    path, method = scope["path"], scope["method"]
    return not path.startswith(_NEVER) and (
        method in ("GET", "HEAD") or (method == "POST" and path.startswith("/v1/"))
    )


def _key(snapshot: str, scope: Scope, headers: Headers, body: bytes) -> bytes:
    """Return what tells a question from all others."""
    # The answer is kept as GZipMiddleware has left it.
    encoding = "gzip" if "gzip" in headers.get("accept-encoding", "") else ""
    digest = hashlib.sha256()
    # Where it was asked stands in what is cited; a port may be any.
    request_values = (scope.get("scheme", ""), headers.get("host", ""), headers.get("accept", ""), encoding)
    for part in _parts(snapshot, scope, *request_values):
        digest.update(len(part).to_bytes(8, "little") + part)  # so that no two rows of parts run together
    digest.update(body)
    return digest.digest()


def _parts(snapshot: str, scope: Scope, *texts: str) -> Iterator[bytes]:
    yield from (text.encode("utf-8", "replace") for text in (__version__, snapshot, scope["method"], *texts))
    # As it was sent: %2F and / are two paths for the application, and one in `path`.
    yield scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    yield scope["query_string"]


async def _whole(receive: Receive) -> bytes:
    """Return the body of a request."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        # Half a body is no question; the application sees the disconnection by itself.
        if message["type"] == "http.disconnect":
            break
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a channel that gives the body, which has been read, and then what comes after it."""
    given = False

    async def receiving() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
