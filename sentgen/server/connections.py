"""Connections: one that sends its request too slowly, or does not take its answer, is closed."""

from __future__ import annotations

import asyncio
import socket

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    from uvicorn.protocols.http import httptools_impl
except ImportError:  # httptools is not everywhere; h11 is, and slower
    httptools_impl = None  # type: ignore[assignment]

#: Bytes of a request before its body.
# Forms of the pages are GET: a text that was pasted stands in the head.
HEADER_BYTES = 128 * 2**10


class Patience(asyncio.Protocol):
    """Ends the patience of uvicorn's protocols, of which this is mixed into one.

    Their own timeout is for connections that are idle between two requests. A client that sends a byte now
    and then (slow loris), or reads none, would keep its connection, and the memory of its answer, for ever.

    Attributes:
        request_seconds: that a whole request may take to arrive.
        answer_seconds: that a client may leave its answer lying.
    """

    request_seconds = 20.0
    answer_seconds = 120.0

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _arriving: asyncio.TimerHandle | None = None
    _leaving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        # asyncio does so only for sockets that name their protocol; without, bodies wait 40 ms for an ACK.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._arriving, self._leaving = _cancelled(self._arriving), _cancelled(self._leaving)

    def pause_writing(self) -> None:
        """Begin to wait for a client that is slower than we."""
        super().pause_writing()
        # Not anew each time: a client that takes a byte now and then would never be late.
        self._leaving = self._leaving or self.loop.call_later(self.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it took what there was."""
        super().resume_writing()
        self._leaving = _cancelled(self._leaving)

    def _wait_for_request(self) -> None:
        """Give the request so many seconds from now on; more bytes of it give it no more time."""
        if self._arriving is None and not self.transport.is_closing():
            self._arriving = self.loop.call_later(self.request_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        self._arriving = _cancelled(self._arriving)


class PlainConnection(Patience, H11Protocol):
    """A connection whose requests h11 reads, in Python."""

    def handle_events(self) -> None:
        """Handle what arrived."""
        super().handle_events()
        # h11 is in SEND_BODY while a body arrives, and in IDLE until the next head is whole.
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait_for_request()
        else:
            self._stop_waiting()


Connection: type[asyncio.Protocol] = PlainConnection

if httptools_impl is not None:

    class FastConnection(Patience, httptools_impl.HttpToolsProtocol):
        """A connection whose requests httptools reads, in C, without a limit to their length of its own."""

        _head = 0

        def data_received(self, data: bytes) -> None:
            """Read; a head that does not end is refused."""
            self._head += len(data)
            super().data_received(data)
            if self._head > HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

        def on_headers_complete(self) -> None:
            """Begin with the body, of which the application has a limit.

            Raises:
                ValueError: not what h11 takes; httptools makes an error of its own of it, and uvicorn a 400.
            """
            # A length that a proxy and this server read differently smuggles a request past the proxy.
            encodings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
            if encodings not in ([], [b"chunked"]) or self.parser.get_http_version() not in ("1.0", "1.1"):
                raise ValueError("an encoding or a version that is not understood")
            super().on_headers_complete()
            # Far below the limit: what comes until the end of the message is body.
            self._head = -(1 << 62)

        def on_message_complete(self) -> None:
            """Stop the clock: what follows takes our time."""
            super().on_message_complete()
            self._head = 0
            self._stop_waiting()

        def on_response_complete(self) -> None:
            """Wait for the next request."""
            super().on_response_complete()
            # A pipelined request may be at work already; it has arrived, and is not waited for.
            if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
                self._wait_for_request()

    Connection = FastConnection


def _cancelled(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, if there is one; return what takes its place: none."""
    if timer is not None:
        timer.cancel()
    return None
