"""Run the server until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Iterator
from importlib import import_module

import uvicorn

from sentgen.desk.desk import Desk, told_of_new
from sentgen.errors import InputError
from sentgen.server.connections import HEADER_BYTES, Connection
from sentgen.server.gate import is_loopback
from sentgen.server.logs import to_standard_error
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings
from sentgen.system import processes

logger = logging.getLogger(__name__)

#: More of them at a time are told 503.
_CONNECTIONS = 500
#: Seconds that requests have to end after a signal, beyond the longest deadline.
_GRACE = 5


class _Server(uvicorn.Server):
    """Uvicorn, without its own signal handlers, which end the process by the signal."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to `_serve`."""
        yield


def serve(settings: ServerSettings, *, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT; requests that are being answered are finished.

    Args:
        settings: what to serve, and how.
        ready: told the address, once requests are answered.

    Raises:
        InputError: the address cannot be used, or is open to others without a token.
        SentgenError: there is no snapshot, or it cannot be opened; or the file of line sets is another's.
    """
    # Refused, not warned of: a warning scrolls by, and the store is open.
    if not is_loopback(settings.host) and not settings.tokens:
        raise InputError(f"{settings.host} is open to others; give --token-file, or listen on 127.0.0.1")
    to_standard_error()
    if settings.desk:
        if not settings.desk.exists():
            logger.warning(told_of_new(settings.desk))
        Desk(settings.desk, create=True)
    if said := processes.unconfined():
        logger.warning(said)
    with _listening(settings) as sock, asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, sock, ready))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's, which is faster, where it is installed; else none for that of asyncio."""
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return None
    return uvloop.new_event_loop


async def _serve(settings: ServerSettings, sock: socket.socket, ready: Callable[[str], None] | None) -> None:
    """Start the service, answer until a signal comes, and stop the service."""
    ended = asyncio.Event()
    processes.when_told_to_end(asyncio.get_running_loop(), ended.set)
    service = Service(settings)
    try:
        await _unless(ended, _start(service))
        if not ended.is_set():
            await _answer(service, sock, ended, ready)
    finally:
        await service.stop()


async def _start(service: Service) -> None:
    """Start the workers, and import the application, which takes a second, while they start."""
    await asyncio.gather(service.start(), asyncio.to_thread(import_module, "sentgen.server.app"))


async def _answer(
    service: Service, sock: socket.socket, ended: asyncio.Event, ready: Callable[[str], None] | None
) -> None:
    """Answer requests; after the signal, finish those that have begun."""
    from sentgen.server.app import create_app

    config = uvicorn.Config(
        create_app(service),
        http=Connection,
        ws="none",
        lifespan="off",
        # Our own logs stay as they are; uvicorn would set up others, and a second line for each request.
        log_config=None,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=HEADER_BYTES,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=int(max(service.settings.limits.seconds.values())) + _GRACE,
    )
    server = _Server(config)
    # From here on the kernel takes connections: the address may be told before uvicorn has begun.
    sock.listen(config.backlog)
    if ready:
        host, port = sock.getsockname()[:2]
        ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    # Shielded: after the signal it is not cut off, but told to finish.
    await _unless(ended, asyncio.shield(serving))
    server.should_exit = True
    await serving


async def _unless(ended: asyncio.Event, work: Awaitable[None]) -> None:
    """Do something, but no longer than until the event."""
    task, ending = asyncio.ensure_future(work), asyncio.ensure_future(ended.wait())
    await asyncio.wait([task, ending], return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
    # Raises what went wrong in it.
    if not task.cancelled():
        task.result()


@contextlib.contextmanager
def _listening(settings: ServerSettings) -> Iterator[socket.socket]:
    """Open the socket."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A restart need not wait until old connections are forgotten.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((settings.host, settings.port))
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                f"{settings.host}:{settings.port} cannot be used ({reason}); choose another --port"
            ) from error
        yield sock
    finally:
        sock.close()
