"""Connections to clients that send or read too slowly."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from sentgen.server.running import Connection, PlainConnection

#: What an answer is made of that no buffer holds.
BLOCK = b"x" * 2**26
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]]


@pytest.fixture(params=[Connection, PlainConnection])
def hasty(request: pytest.FixtureRequest) -> type[Any]:
    """Connections without patience, whose requests are read in C and in Python."""
    return type("Hasty", (request.param,), {"request_seconds": 0.2, "answer_seconds": 0.2})


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Read a body and answer much, or, below /small, little."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
    body = b"small" if scope["path"] == "/small" else BLOCK
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def talk(say: Talk, connection: type[Any]) -> Any:
    """Let a client talk to a server with such connections."""

    async def main() -> Any:
        with socket.create_server(("127.0.0.1", 0)) as sock:
            config = uvicorn.Config(app, http=connection, ws="none", lifespan="off", log_config=None)
            server = uvicorn.Server(config)
            server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
            serving = asyncio.create_task(server.serve(sockets=[sock]))
            reader, writer = await asyncio.open_connection(*sock.getsockname(), limit=2**10)
            try:
                return await asyncio.wait_for(say(reader, writer), 60)
            finally:
                writer.transport.abort()
                server.should_exit = True
                await serving

    return asyncio.run(main())


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /sm",
        b"GET /small HTTP/1.1\r\nHost: x\r\nX-A:",
        b"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab",
    ],
)
def test_a_request_that_does_not_end(begun: bytes, hasty: type[Any]) -> None:
    """The connection is closed, however often a byte more comes."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(begun)
        reading = asyncio.create_task(reader.read())
        while not reading.done():
            if begun.endswith(b"X-A:"):
                writer.write(b"x")
            await asyncio.wait([reading], timeout=0.02)
        return await reading

    try:
        answer = talk(drip, hasty)
    except ConnectionResetError:
        answer = b""

    assert b"200" not in answer


def test_an_answer_that_nobody_reads(hasty: type[Any]) -> None:
    """The connection is closed before all of it was sent."""

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while not ended():
            await asyncio.sleep(0.02)
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        with contextlib.suppress(ConnectionResetError):
            return len(await reader.read())
        return 0

    ends: list[object] = []

    def ended() -> bool:
        return bool(ends)

    with pytest.MonkeyPatch.context() as patch:
        lost = hasty.connection_lost
        patch.setattr(hasty, "connection_lost", lambda self, error: (lost(self, error), ends.append(self))[0])
        received = talk(wait, hasty)

    assert received < len(BLOCK)


def test_answers_do_not_wait_for_the_client_to_acknowledge(hasty: type[Any]) -> None:
    """Head and body leave at once: Nagle's algorithm is off."""
    switched: list[int] = []

    class Watched(hasty):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            sock = transport.get_extra_info("socket")
            switched.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
        return await reader.readuntil(b"small")

    talk(ask, Watched)

    assert switched == [1]


def test_a_client_that_takes_its_time_between_requests(hasty: type[Any]) -> None:
    """Each request has its own time; one connection may have many."""

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        answers = []
        for _ in range(4):
            writer.write(b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            answers.append(head.split(b" ")[1] + await reader.readexactly(5))
        return answers

    assert talk(ask, hasty) == [b"200small"] * 4


@pytest.mark.parametrize(
    "line", [b"GET /small?", b"GET /small HTTP/1.1\r\nHost: x\r\nX-A: ", b"GET /small HTTP/1.1\r\n"]
)
def test_a_head_that_is_too_long(line: bytes, hasty: type[Any]) -> None:
    """The connection is closed before the memory is full of it; a body is for the application to limit."""

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        block = b"X-B: x\r\n" * 8192 if line.endswith(b"\n") else b"x" * 2**16
        writer.write(line)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 2**26 and not reader.at_eof():
                writer.write(block)
                sent += len(block)
                await writer.drain()
                await asyncio.sleep(0)
        return sent

    assert talk(flood, hasty) < 2**24


def test_a_long_body(hasty: type[Any]) -> None:
    """Megabytes arrive; the next request on the same connection has a head of its own."""

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        answers = []
        for _ in range(2):
            head = b"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % 2**21
            writer.write(head + b"x" * 2**21)
            answer = await reader.readuntil(b"\r\n\r\n")
            answers.append(answer.split(b" ")[1] + await reader.readexactly(5))
        return answers

    assert talk(ask, hasty) == [b"200small"] * 2
