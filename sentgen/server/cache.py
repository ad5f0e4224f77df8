"""A cache of answers: the same request to the same snapshot is answered again without a worker.

A snapshot never changes, and operations are functions of it and of the request. Exceptions are SQL, which can
ask for the time, and whose statements are all logged; and line sets and their labels, which change. So an
answer has an ETag of the snapshot and the request, a client that has it gets status 304, and the front keeps
the most recently requested answers.
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
#: An answer that takes more than this share of the cache is not kept.
_LARGEST = 8
#: Bytes of an answer without its body: headers, keys, objects.
_BESIDE = 2_000


@dataclass(slots=True)
class LruCache:
    """The most recently requested answers up to a number of bytes; keys include the snapshot."""

    size: int
    used: int = 0
    hits: int = 0
    misses: int = 0
    _entries: OrderedDict[Hashable, tuple[object, int]] = field(default_factory=OrderedDict)

    def find(self, key: Hashable, kind: type[Answer]) -> Answer | None:
        """Return an answer of a kind, and mark it as recently used; None if it is not in the cache."""
        answer, _ = self._entries.get(key, (None, 0))
        if not isinstance(answer, kind):
            self.misses += 1
            return None
        self._entries.move_to_end(key)
        self.hits += 1
        return answer

    def put(self, key: Hashable, answer: object, body: int) -> None:
        """Keep an answer with so many bytes in its body; the least recently used ones are dropped."""
        entry = body + _BESIDE
        # One large answer would displace many that are requested.
        if entry * _LARGEST > self.size:
            return
        self.used += entry - self._entries.pop(key, (None, 0))[1]
        self._entries[key] = (answer, entry)
        while self.used > self.size:
            self.used -= self._entries.popitem(last=False)[1][1]


#: Paths that are not operations, and operations whose answers may change.
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
#: Key of the scope that an application sets if its answer may change.
CHANGES = "sentgen.changes"
#: A client may keep the answer, but must ask each time whether the snapshot is still the same.
_CACHE_CONTROL = b"private, no-cache"


@dataclass(frozen=True, slots=True)
class _CachedResponse:
    """A response with status 200 as it was sent, and the route that made it."""

    headers: list[tuple[bytes, bytes]]
    body: bytes
    route: object


class CacheMiddleware:
    """An ASGI middleware that answers repeated requests from the cache."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app, self._service = app, service
        self._cache = service.cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from the cache, or by the application, whose answer is then kept."""
        if scope["type"] != "http" or not _is_function(scope):
            await self._app(scope, receive, send)
            return
        snapshot = self._service.snapshot.name
        headers, body, posted = Headers(scope=scope), b"", scope["method"] == "POST"
        if posted:
            body = await _whole(receive)
            receive = _again(body, receive)
        key = _key(snapshot, scope, headers, body)
        # A weak tag: the answer is the same, but perhaps not its bytes. HTTP has no conditional POST.
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
        """Send the application's answer, and keep it if the snapshot did not change meanwhile."""
        parts: list[bytes] = []
        headers: list[tuple[bytes, bytes]] | None = None

        async def sending(message: Message) -> None:
            nonlocal headers
            if message["type"] == "http.response.start":
                # Else the answer of a newer snapshot would be kept under the key of the old one.
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
    """Return whether the answer depends only on the snapshot and the request."""
    path, method = scope["path"], scope["method"]
    return not path.startswith(_NEVER) and (
        method in ("GET", "HEAD") or (method == "POST" and path.startswith("/v1/"))
    )


def _key(snapshot: str, scope: Scope, headers: Headers, body: bytes) -> bytes:
    """Return a hash of the snapshot and of all parts of a request that the answer depends on."""
    # The answer is kept as GZipMiddleware sends it, compressed or not.
    encoding = "gzip" if "gzip" in headers.get("accept-encoding", "") else ""
    digest = hashlib.sha256()
    # The address of the server is in citations, so that it is a part of the key.
    request_values = (scope.get("scheme", ""), headers.get("host", ""), headers.get("accept", ""), encoding)
    for part in _parts(snapshot, scope, *request_values):
        digest.update(len(part).to_bytes(8, "little") + part)  # with lengths: parts cannot run together
    digest.update(body)
    return digest.digest()


def _parts(snapshot: str, scope: Scope, *texts: str) -> Iterator[bytes]:
    yield from (text.encode("utf-8", "replace") for text in (__version__, snapshot, scope["method"], *texts))
    # The raw path: %2F and / are different for the application, but equal in `path`.
    yield scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    yield scope["query_string"]


async def _whole(receive: Receive) -> bytes:
    body, more = bytearray(), True
    while more:
        message = await receive()
        # An incomplete body is no request; the application notices the disconnection itself.
        if message["type"] == "http.disconnect":
            break
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a channel that yields the body, which was read already, and then further messages."""
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
