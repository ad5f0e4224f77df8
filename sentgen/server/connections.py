"""Connections: one that sends its request too slowly, or does not take its answer, is closed."""

from __future__ import annotations

import asyncio
import socket

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """Uvicorn's protocol with an end to its patience.

    Its own timeout is for connections that are idle between two requests. A client that sends a byte now and
    then (slow loris), or reads none, would keep its connection, and the memory of its answer, for ever.

    Attributes:
        request_seconds: that a whole request may take to arrive.
        answer_seconds: that a client may leave its answer lying.
    """

    request_seconds = 20.0
    answer_seconds = 120.0

    _arriving: asyncio.TimerHandle | None = None
    _leaving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        # asyncio does so only for sockets that name their protocol; without, bodies wait 40 ms for an ACK.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._arriving, self._leaving = _cancelled(self._arriving), _cancelled(self._leaving)

    def handle_events(self) -> None:
        """Handle what arrived; more bytes of the same request give it no more time."""
        super().handle_events()
        self._wait_for_request()

    def pause_writing(self) -> None:
        """Begin to wait for a client that is slower than we."""
        super().pause_writing()
        self._leaving = self._leaving or self.loop.call_later(self.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it took what there was."""
        super().resume_writing()
        self._leaving = _cancelled(self._leaving)

    def _wait_for_request(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._arriving = _cancelled(self._arriving)
        elif self._arriving is None and not self.transport.is_closing():
            self._arriving = self.loop.call_later(self.request_seconds, self.transport.abort)


def _cancelled(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, if there is one; return what takes its place: none."""
    if timer is not None:
        timer.cancel()
    return None
