"""Run the server until a signal ends it; a connection that is too slow is closed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterator
from importlib import import_module
from operator import attrgetter

import h11
import uvicorn

from sentgen.desk.desk import Desk, note_of_new_desk
from sentgen.errors import InputError, spell
from sentgen.extras import insides_of
from sentgen.server.addresses import in_url, is_loopback, listen
from sentgen.server.audiences import Audiences
from sentgen.server.monitoring import to_standard_error
from sentgen.server.pool import unless
from sentgen.server.settings import ServerSettings
from sentgen.system import processes

with insides_of("uvicorn"):
    from uvicorn.protocols.http.h11_impl import H11Protocol

    attrgetter("handle_events", "pause_writing", "resume_writing")(H11Protocol)
    attrgetter("capture_signals")(uvicorn.Server)
try:
    from uvicorn.protocols.http import httptools_impl
except ImportError:  # httptools is not available everywhere; h11 is, but slower
    httptools_impl = None  # type: ignore[assignment]

#: Bytes of a request before its body.
# Forms of the pages use GET, so that a pasted text is in the head.
_HEADER_BYTES = 128 * 2**10


class _Impatient(asyncio.Protocol):
    """A mixin for uvicorn's protocols that closes connections which are too slow.

    Uvicorn's timeout is only for connections that are idle between two requests. A client that sends a byte
    now and then (slow loris), or does not read, would keep its connection, and the memory of its answer,
    forever.

    Attributes:
        request_seconds: seconds in which a whole request must arrive.
        answer_seconds: seconds in which a client must read its answer.
    """

    request_seconds = 20.0
    answer_seconds = 120.0

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _arriving: asyncio.TimerHandle | None = None
    _leaving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        # asyncio sets TCP_NODELAY only for sockets that name their protocol; else bodies wait 40 ms for an
        # ACK.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._arriving, self._leaving = _cancel(self._arriving), _cancel(self._leaving)

    def pause_writing(self) -> None:
        """Start the timer for a client that reads slowly."""
        super().pause_writing()
        # Not anew each time: a client that takes a byte now and then would never be late.
        self._leaving = self._leaving or self.loop.call_later(self.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client has read the pending data."""
        super().resume_writing()
        self._leaving = _cancel(self._leaving)

    def _wait_for_request(self) -> None:
        """Start the timer of the request; further bytes do not extend it."""
        if self._arriving is None and not self.transport.is_closing():
            self._arriving = self.loop.call_later(self.request_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        self._arriving = _cancel(self._arriving)


class PlainConnection(_Impatient, H11Protocol):
    """A connection whose requests h11 reads, in Python."""

    def handle_events(self) -> None:
        """Handle what arrived."""
        super().handle_events()
        # The client's state in h11 is SEND_BODY during a body, and IDLE until the next head is complete.
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait_for_request()
        else:
            self._stop_waiting()


Connection: type[asyncio.Protocol] = PlainConnection

if httptools_impl is not None:
    with insides_of("uvicorn"):
        attrgetter("send_400_response", "on_headers_complete", "on_message_complete", "on_response_complete")(
            httptools_impl.HttpToolsProtocol
        )

    class FastConnection(_Impatient, httptools_impl.HttpToolsProtocol):
        """A connection whose requests httptools reads, in C; the length of a head is limited here."""

        _head = 0

        def data_received(self, data: bytes) -> None:
            """Read data; a head that is too long is refused."""
            self._head += len(data)
            super().data_received(data)
            if self._head > _HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

        def on_headers_complete(self) -> None:
            """Begin the body, whose size the application limits.

            Raises:
                ValueError: h11 would refuse the transfer encoding or HTTP version; uvicorn answers with 400.
            """
            # A length that a proxy and this server read differently could smuggle a request past the proxy.
            encodings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
            if encodings not in ([], [b"chunked"]) or self.parser.get_http_version() not in ("1.0", "1.1"):
                raise ValueError("an encoding or a version that is not understood")
            super().on_headers_complete()
            # Far below the limit, so that the body is not counted as a head.
            self._head = -(1 << 62)

        def on_message_complete(self) -> None:
            """Stop the timer: from now on the server works."""
            super().on_message_complete()
            self._head = 0
            self._stop_waiting()

        def on_response_complete(self) -> None:
            """Wait for the next request."""
            super().on_response_complete()
            # A pipelined request may be in progress already; it has arrived, and has no timer.
            if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
                self._wait_for_request()

    Connection = FastConnection


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, if there is one; return None, its new value."""
    if timer is not None:
        timer.cancel()
    return None


logger = logging.getLogger(__name__)

#: Maximal number of concurrent connections; more get status 503.
_CONNECTIONS = 500
#: Seconds beyond the longest deadline in which requests must end after a signal.
_GRACE = 5


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handlers, which would end the process by the signal."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to `_serve`."""
        yield


def serve(settings: ServerSettings, *, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT; requests that are being answered are finished.

    ``ready`` is called with the address, once requests are answered.

    Raises:
        InputError: the address cannot be used, or is open to others without a token.
        SentgenError: there is no snapshot, or it cannot be opened; or the file of line sets is no desk.
    """
    # Refused, not warned of: a warning scrolls by, and the store is open.
    if not is_loopback(settings.host) and not (settings.tokens or settings.users or settings.classroom):
        raise InputError(
            f"{settings.host} is open to others; give {spell('token_file')}, {spell('users')} or"
            f" {spell('class')}, or listen on 127.0.0.1"
        )
    to_standard_error()
    if settings.desk:
        if not settings.desk.exists():
            logger.warning(note_of_new_desk(settings.desk))
        Desk.begin(settings.desk)
    if warning := processes.limits_missing():
        logger.warning(warning)
    with _listen(settings) as opened, asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, opened, ready))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's, which is faster, where it is installed; else none for that of asyncio."""
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return None
    return uvloop.new_event_loop


async def _serve(
    settings: ServerSettings, opened: list[socket.socket], ready: Callable[[str], None] | None
) -> None:
    """Start the service, answer until a signal comes, and stop the service."""
    ended = asyncio.Event()
    processes.on_request_to_end(asyncio.get_running_loop(), ended.set)
    audiences = Audiences(settings)
    try:
        await unless(ended, _start(audiences))
        if not ended.is_set():
            await _answer(audiences, opened, ended, ready)
    finally:
        await audiences.stop()


async def _start(audiences: Audiences) -> None:
    """Start the workers, and import the application, which takes a second, while they start."""
    await asyncio.gather(audiences.start(), asyncio.to_thread(import_module, "sentgen.server.app"))


async def _answer(
    audiences: Audiences,
    opened: list[socket.socket],
    ended: asyncio.Event,
    ready: Callable[[str], None] | None,
) -> None:
    """Answer requests; after the signal, finish those that have begun."""
    from sentgen.server.app import create_app

    config = uvicorn.Config(
        create_app(audiences),
        http=Connection,
        ws="none",
        lifespan="on",
        # Our own logs stay as they are; uvicorn would set up others, and a second line for each request.
        log_config=None,
        access_log=False,
        # What anybody may write into a header, nobody but a proxy that was named is believed.
        proxy_headers=bool(audiences.settings.proxies),
        forwarded_allow_ips=list(audiences.settings.proxies),
        server_header=False,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=int(max(audiences.settings.limits.seconds.values())) + _GRACE,
    )
    server = _Server(config)
    # From here on the kernel takes connections: the address may be told before uvicorn has begun.
    for sock in opened:
        sock.listen(config.backlog)
    if ready:
        host, port = opened[0].getsockname()[:2]
        ready(f"http://{in_url(host)}:{port}")
    serving = asyncio.create_task(server.serve(sockets=opened))
    # Shielded: after the signal it is not cut off, but told to finish.
    await unless(ended, asyncio.shield(serving))
    server.should_exit = True
    await serving


@contextlib.contextmanager
def _listen(settings: ServerSettings) -> Iterator[list[socket.socket]]:
    try:
        opened = listen(settings.host, settings.port)
    except OSError as error:
        raise InputError(
            f"{in_url(settings.host)}:{settings.port} cannot be used ({error.strerror or error});"
            f" choose another {spell('port')}"
        ) from error
    try:
        yield opened
    finally:
        for sock in opened:
            sock.close()
